"""People who talk to a whole system through its gateway, and what they get to hear."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from itertools import count
from typing import Any, Final, NamedTuple

import grpc
from grpc import StatusCode

from libs.chassis.channels import on_behalf
from libs.chassis.issuing import DevelopmentIssuer
from libs.chassis.status import DOMAIN, answer_of
from libs.rules import commands as c
from libs.rules import phases
from libs.rules.legal import Choice, LegalCommands
from libs.rules.match import Match
from libs.wire.chain import rebuild
from libs.wire.commands import message_of
from libs.wire.record import StoredRecord
from opolyx.admin.v1 import admin_service_pb2 as admin_pb
from opolyx.bot.v1 import bot_service_pb2 as bot_pb
from opolyx.engine.v1.caller_pb2 import Caller
from opolyx.lobby.v1 import lobby_service_pb2 as lobby_pb
from opolyx.lobby.v1.room_pb2 import Room
from opolyx.match.v1 import match_pb2, refused_pb2
from opolyx.match.v1 import match_service_pb2 as pb
from opolyx.record.v1 import stored_record_pb2 as record_pb
from tests.chassis.answers import failure, infos
from tests.support.calling import Client, new_id
from tests.support.system import System
from tests.support.waiting import until

HASTY: Final[dict[str, Any]] = {
    "OPOLYX_AUTH__LEEWAY_S": "0",
    "OPOLYX_GATEWAY__HEARTBEAT_S": "0.5",
    "OPOLYX_GATEWAY__WRITE_TIMEOUT_S": "1.5",
    "OPOLYX_GATEWAY__RATE__PER_S": "100000",
    "OPOLYX_GATEWAY__RATE__BURST": "100000",
    "OPOLYX_LOBBY__HEARTBEAT_S": "0.5",
    "OPOLYX_LOBBY__QUICK_FILL_S": "2",
    "OPOLYX_GATEWAY__ROOM_RATE__PER_MINUTE": "100000",
    "OPOLYX_GATEWAY__ROOM_RATE__BURST": "100000",
}
"""Settings of a system whose clocks nobody wants to wait for, and which limits no test."""

CLASSIC: Final = "opolyx.classic@2"

_names: Final = count(1)


class Stage:
    """A system that runs, and a connection to its gateway."""

    def __init__(self, system: System, channel: grpc.aio.Channel) -> None:
        self.system = system
        self.channel = channel
        self._issuer = DevelopmentIssuer.open(system.folder, system.settings.auth, system.clock)

    def person(self, name: str = "", *roles: str, ttl_ms: int = 3_600_000) -> Client:
        """Return a person called *name*; somebody new if it is empty."""
        return self.bearer(f"Bearer {self.token(name or new_name(), *roles, ttl_ms=ttl_ms)}")

    def token(self, name: str, *roles: str, ttl_ms: int = 3_600_000) -> str:
        """Return a token of a person called *name*, good for so long."""
        return self._issuer.issue(name, roles=roles, ttl_ms=ttl_ms)

    def bearer(self, authorization: str) -> Client:
        """Return whoever says this to show who they are."""
        return Client(self.channel, (("authorization", authorization),))

    def nobody(self) -> Client:
        """Return somebody without a token."""
        return Client(self.channel, ())

    def service(self, name: str, caller: Caller | None = None) -> Client:
        """Return a service, on whose behalf it likes."""
        metadata = on_behalf(caller.SerializeToString()) if caller is not None else ()
        token = f"Bearer {self._issuer.issue_for_service(name)}"
        return Client(self.channel, (("authorization", token), *metadata))

    async def freeze(self, match_id: str) -> None:
        """Have an operator stop the clocks of a match: it stays as it is."""
        operator = self.person("operator", "operator")
        request = admin_pb.FreezeMatchRequest(
            match_id=match_id, command_id=new_id(), reason="a test looks at it"
        )
        await operator.call(operator.admin.FreezeMatch, request)

    async def table(self, seats: int = 2, *, creator: str = "") -> Table:
        """Return a match of people that has begun: it waits for the first roll."""
        table = await self.new_table(seats, creator=creator)
        for person in table.people:
            await person.submit(table.match_id, "contribute_seed")
        return table

    async def new_table(self, seats: int = 2, *, creator: str = "") -> Table:
        """Return a match of people that waits for their seeds."""
        names = [creator or new_name(), *(new_name() for _ in range(1, seats))]
        people = [self.person(name) for name in names]
        room = await create_room(people[0], seats=seats)
        for person in people[1:]:
            await change(person, "JoinRoom", room)
            await change(person, "SetReady", room, ready=True)
        return Table(await start_match(people[0], room), names, people)


def new_name() -> str:
    """Return a name that nobody has had."""
    return f"person-{next(_names)}"


@asynccontextmanager
async def on_stage(system: System) -> AsyncIterator[Stage]:
    """Connect to a system, once all of it is there: the bots come up last."""
    async with grpc.aio.insecure_channel(system.gateway) as channel:
        stage = Stage(system, channel)
        person = stage.person()

        async def has_bots() -> bool:
            with suppress(grpc.aio.AioRpcError):
                await person.call(person.bots.ListBots, bot_pb.ListBotsRequest())
                return True
            return False

        await until(has_bots)
        yield stage


async def create_room(
    person: Client, rule_set: str = CLASSIC, seats: int = 2, **fields: Any
) -> Room:
    """Have a person make a room."""
    request = lobby_pb.CreateRoomRequest(
        command_id=new_id(), rule_set=rule_set, seat_count=seats, **fields
    )
    return await room_of(person.call(person.lobby.CreateRoom, request))


async def change(person: Client, method: str, room: Room, **fields: Any) -> Room:
    """Have a person do something in a room."""
    kind = getattr(lobby_pb, f"{method}Request")
    request = kind(**{"room_id": room.room_id, "command_id": new_id(), **fields})
    return await room_of(person.call(getattr(person.lobby, method), request))


async def invited(person: Client, room: Room) -> str:
    """Have a person invite others to a room, and return the code."""
    request = lobby_pb.CreateInviteRequest(room_id=room.room_id, command_id=new_id())
    code: str = (await person.call(person.lobby.CreateInvite, request)).code
    return code


async def accept(person: Client, code: str) -> Room:
    """Have a person take an invitation."""
    request = lobby_pb.AcceptInviteRequest(code=code, command_id=new_id())
    return await room_of(person.call(person.lobby.AcceptInvite, request))


async def get_room(person: Client, room: Room) -> Room:
    """Look at a room."""
    request = lobby_pb.GetRoomRequest(room_id=room.room_id)
    return await room_of(person.call(person.lobby.GetRoom, request))


async def start_match(creator: Client, room: Room) -> str:
    """Have the match of a room made, and return its id once it is there."""
    await change(creator, "StartMatch", room)

    async def has_started() -> bool:
        return (await get_room(creator, room)).state == Room.STATE_STARTED

    await until(has_started)
    return (await get_room(creator, room)).match_id


async def room_of(call: Awaitable[Any]) -> Room:
    """Wait for a room."""
    room = await call
    assert isinstance(room, Room)
    return room


class Head(NamedTuple):
    """Where a match stands."""

    sequence: int
    chain_hash: bytes


@dataclass(frozen=True, slots=True)
class Table:
    """A match, and its people by seat: what they are called, and the people themselves."""

    match_id: str
    names: list[str]
    people: list[Client]

    async def head(self) -> Head:
        """Return where the match stands."""
        person = self.people[0]
        head = await person.call(person.match.GetHead, pb.GetHeadRequest(match_id=self.match_id))
        return Head(head.sequence, head.chain_hash)

    async def match(self, person: Client | None = None) -> match_pb2.Match:
        """Return the match as one of its people, or somebody else, sees it now."""
        looking = person or self.people[0]
        request = pb.GetMatchRequest(match_id=self.match_id)
        match = await looking.call(looking.match.GetMatch, request)
        assert isinstance(match, match_pb2.Match)
        return match

    async def records(self) -> list[StoredRecord]:
        """Return all records that there are."""
        return [stored(each) async for page in self.pages() for each in page.records]

    async def state(self) -> Match:
        """Return the match as its records make it."""
        return rebuild(await self.records())

    async def reach(self, phase: str) -> Match:
        """Play on until that decision is pending, and return the match as it is then."""
        while (match := await self.state()).phase != phase:
            if match.phase == phases.BUY and phase == phases.AUCTION:
                await self.submit(match.turn, c.Decline(match.turn))
            else:
                await self.play(match)
        return match

    async def play(self, match: Match) -> None:
        """Give a command for the first who must decide in *match*, which is how it stands."""
        seat = match.pending_seats()[0]
        await self.submit(seat, choice(match, seat))

    async def submit(self, seat: int, command: c.SeatCommand) -> pb.SubmitCommandResponse:
        """Give a command for a seat."""
        person = self.people[seat]
        request = pb.SubmitCommandRequest(
            match_id=self.match_id, command_id=new_id(), command=message_of(command)
        )
        response = await person.call(person.match.SubmitCommand, request)
        assert isinstance(response, pb.SubmitCommandResponse)
        return response

    async def pages(self, **fields: Any) -> AsyncIterator[Any]:
        """Read the records, page by page."""
        person, token = self.people[0], ""
        while True:
            request = pb.ReadEventsRequest(match_id=self.match_id, page_token=token, **fields)
            page = await person.call(person.match.ReadEvents, request)
            yield page
            token = page.next_page_token
            if not token:
                return


def stored(record: record_pb.StoredRecord) -> StoredRecord:
    """Read a record as it came."""
    return StoredRecord(record.first_seq, record.last_seq, record.hash, record.data)


def choice(match: Match, seat: int) -> c.SeatCommand:
    """Return what a seat that must decide does: what is listed first, no bids and no bets."""
    if match.phase == phases.SEEDING:
        return c.ContributeSeed(seat, b"")
    if match.phase == phases.AUCTION:
        return c.Pass(seat)
    first = LegalCommands(match, seat).answers()[0]
    return first.command if isinstance(first, Choice) else c.DeclineJackpot(seat)


class Refusal(NamedTuple):
    """How a call was refused, or a command on a stream.

    *fields* are those that are wrong, *may_retry* tells whether it says when to try again.
    """

    reason: str
    metadata: dict[str, str]
    fields: tuple[str, ...] = ()
    may_retry: bool = False


async def refusal(call: Awaitable[Any], code: StatusCode) -> Refusal:
    """Wait for a call that is refused with this code, and return how: all of it is typed."""
    return refusal_of(await failure(call), code)


def refusal_of(error: grpc.aio.AioRpcError, code: StatusCode) -> Refusal:
    """Read the status of a call that was refused with this code."""
    answer = answer_of(error)
    domains = [info.domain for info in infos(error)]
    assert domains == [DOMAIN], error
    assert answer.told is not None
    told = answer.told
    assert (answer.code, bool(told.text)) == (code, True), told
    fields = tuple(violation.field for violation in told.violations)
    return Refusal(told.reason, told.metadata, fields, answer.retry_after_ms is not None)


def refusal_in(refused: refused_pb2.Refused) -> Refusal:
    """Read what became of a command on a stream."""
    assert refused.text
    fields = tuple(violation.field for violation in refused.violations)
    metadata = dict(refused.metadata)
    return Refusal(refused.reason, metadata, fields, refused.HasField("retry_after_ms"))


async def reasons(calls: Iterable[Awaitable[Any]]) -> set[str]:
    """Wait for calls that are all refused, and return the reasons."""
    found = set()
    for call in calls:
        error = await failure(call)
        found.add(refusal_of(error, error.code()).reason)
    return found
