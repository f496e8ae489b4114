"""Who is there: told to the engine by each gateway, and to clients by the engine."""

from typing import Any

from tests.gateway.rig import Rig
from tests.support.calling import next_of
from tests.support.waiting import until


async def there(call: Any, seats: list[int], spectators: int) -> None:
    """Read until so many are there; a stream that never says so runs into its deadline."""
    while True:
        presence = await next_of("presence", call)
        if (list(presence.connected_seats), presence.spectators) == (seats, spectators):
            return


async def test_who_watches_is_told_after_the_snapshot_and_whenever_it_changes(rig: Rig) -> None:
    ann = rig.client("ann").watch(rig.live.match_id)
    await ann.read()
    await there(ann, [0], 0)

    bob = await rig.client("bob").play(rig.live.match_id)
    await there(ann, [0, 2], 0)
    await there(bob, [0, 2], 0)
    cem = rig.client("cem").watch(rig.live.match_id)
    await there(ann, [0, 2], 1)

    bob.cancel()
    await there(ann, [0], 1)
    cem.cancel()
    await there(ann, [0], 0)


async def test_whoever_comes_is_there_from_the_first_word_on(rig: Rig) -> None:
    ann = rig.client("ann").watch(rig.live.match_id)
    await there(ann, [0], 0)

    for client, seats, spectators in [
        (rig.client("bob"), [0, 2], 0),
        (rig.client("cem"), [0, 2], 1),
    ]:
        first = await next_of("presence", client.watch(rig.live.match_id))

        assert (list(first.connected_seats), first.spectators) == (seats, spectators)
        await there(ann, seats, spectators)


async def test_the_same_is_not_said_twice_in_a_row(rig: Rig) -> None:
    ann = rig.client("ann").watch(rig.live.match_id)
    await until(lambda: rig.live.match_id in rig.engine.attendance)
    bob = rig.client("bob").watch(rig.live.match_id)
    told = [await next_of("presence", ann), await next_of("presence", ann)]
    bob.cancel()
    told.append(await next_of("presence", ann))

    assert [list(each.connected_seats) for each in told] == [[0], [0, 2], [0]]


async def test_a_person_with_two_streams_is_one_and_leaves_with_the_second(rig: Rig) -> None:
    watch = rig.client("bob").watch(rig.live.match_id)
    await there(watch, [2], 0)
    streams = [rig.client("ann").watch(rig.live.match_id) for _ in range(2)]
    for stream in streams:
        await stream.read()
    await there(watch, [0, 2], 0)

    streams[0].cancel()
    cem = rig.client("cem").watch(rig.live.match_id)
    await there(watch, [0, 2], 1)
    streams[1].cancel()

    await there(watch, [2], 1)
    cem.cancel()


async def test_bots_are_not_counted_and_spectators_are_nobody(rig: Rig) -> None:
    watch = rig.client("ann").watch(rig.live.match_id)
    await there(watch, [0], 0)

    bot = await rig.bot(1).play(rig.live.match_id)
    await bot.read()
    spectator = rig.client("bob", roles=["spectator"]).watch(rig.live.match_id)
    snapshot = (await spectator.read()).snapshot

    await there(watch, [0], 1)
    assert not snapshot.match.HasField("viewer_seat")


async def test_a_new_owner_learns_who_is_there(rig: Rig) -> None:
    watch = rig.client("ann").watch(rig.live.match_id)
    await there(watch, [0], 0)

    rig.world.move(rig.other)

    await until(lambda: rig.live.match_id in rig.other.attendance)
    assert list(rig.other.attendance[rig.live.match_id].seats) == [0]
