"""A visit to the table: into a match, through it, and what is said at the end."""

from libs.client.client import Client
from libs.client.table import Table
from libs.kernel.ids import MatchId
from libs.wire.readers import spec_of
from opolyx.match.v1 import match_service_pb2 as pb
from opolyx.progression.v1 import progression_service_pb2 as progression_pb
from services.console.narrating import placing
from services.console.seat import PlayedSeat
from services.console.terminal.again import room_to_play_again
from services.console.terminal.desk import Desk
from services.console.terminal.ending import proof, reward
from services.console.terminal.entering import enter, play_again
from services.console.terminal.inquiries import Place
from services.console.terminal.people import people_of
from services.console.terminal.sitting import Sitting
from services.console.terminal.story import Story
from services.console.terminal.wishes import Wish


class NotSeatedError(Exception):
    """The caller has no seat in the match; the text is its id."""


async def visit(client: Client, desk: Desk, wish: Wish) -> None:
    """Play the match that *wish* leads to, and others after it, until somebody leaves.

    Raises:
        NotSeatedError, RoomLostError: see there.
        RefusedError, ConnectionLostError, StreamBrokenError, BrokenChainError: of the client.
        grpc.aio.AioRpcError: nothing answers, at the very start.

    """
    # Where nothing answers it is said at once: this call alone is not made with patience.
    await client.progression.GetProfile(progression_pb.GetProfileRequest())
    match_id = wish.match or await enter(client, desk, wish)
    while match_id is not None:
        if not await _play(client, desk, wish, match_id):
            desk.show(f"The match goes on. Back to it: opolyx play --match {match_id} {wish.back}")
            return
        room_id = await room_to_play_again(client, desk, wish, match_id)
        match_id = None if room_id is None else await play_again(client, desk, wish, room_id)


async def _play(client: Client, desk: Desk, wish: Wish, match_id: MatchId) -> bool:
    """Play a match, and tell how it has ended; returns whether it is over."""
    async with client.play(match_id) as table:
        place = await _place(client, table, match_id)
        sitting = Sitting(place, desk)
        if wish.auto:
            # Its seed is never asked for: whoever sits gives one of their own before.
            sitting.leave_to(PlayedSeat(table, place.seat, 0, wish.auto))
        name = place.people.names[place.seat]
        desk.show(f"Match {match_id}: you are {name}, seat {place.seat}.")
        is_over = await sitting.play()
    desk.prompt("")
    if is_over:
        await _conclude(place, desk, match_id)
    return is_over


async def _place(client: Client, table: Table, match_id: MatchId) -> Place:
    seen = await client.call(client.match.GetMatch, pb.GetMatchRequest(match_id=match_id))
    if not seen.HasField("viewer_seat"):
        raise NotSeatedError(match_id)
    people = await people_of(client, [spec_of(seat.spec) for seat in seen.seats])
    return Place(client, table, people, seen.viewer_seat, seen.sequence, Story(people))


async def _conclude(place: Place, desk: Desk, match_id: MatchId) -> None:
    """Say how it has ended, how anybody can check it, and what it brought."""
    desk.show("")
    for line in placing(place.table.match, place.people.names):
        desk.show(line)
    for line in await proof(place.client, match_id, place.story.seed):
        desk.show(line)
    earned = await reward(place.client, match_id)
    if earned is not None:
        desk.show(earned)
