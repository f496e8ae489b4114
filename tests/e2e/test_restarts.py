"""A restart in the middle of anything loses nothing, and charges nobody for it.

Cited: W6, T8; I1, I3; CLOCK-1.
"""

import asyncio
from typing import Any, Final, NamedTuple

import grpc
import pytest
from grpc import StatusCode
from grpc_health.v1 import health_pb2, health_pb2_grpc

from libs.rules import events as e
from libs.rules import phases
from libs.rules.clocks import open_deadlines
from libs.rules.match import Match
from libs.wire.chain import follow, rebuild
from libs.wire.record import SYSTEM, StoredRecord
from tests.chassis.answers import failure
from tests.e2e.rig import Stage, Table, refusal_of
from tests.support.calling import next_of, rest_of

pytestmark = [pytest.mark.slow, pytest.mark.postgres]

SPARE_MS: Final = 5_000
"""How much an outage may differ from the time between an end and a start: it lasts from the last
renewal of a lease to the next one, and all that serves players comes up after that."""

GRACE_S: Final = 10.0
"""How long a stop may take in all."""


class Left(NamedTuple):
    """A match as it was before the restart."""

    table: Table
    records: list[StoredRecord]

    @property
    def match(self) -> Match:
        return rebuild(self.records)


@pytest.mark.parametrize("is_killed", [False, True], ids=["stopped", "killed"])
async def test_a_restart_loses_nothing_and_gives_the_time_back(
    mortal: Stage, *, is_killed: bool
) -> None:
    """W6, T8; I1, I3; CLOCK-1."""
    tables = [await mortal.table(3), await mortal.table(3), await mortal.table()]
    await tables[0].reach(phases.DEBT)
    await tables[1].reach(phases.AUCTION)
    tables.append(await mortal.new_table())
    left = [Left(table, await table.records()) for table in tables]
    away_ms = await restart(mortal, is_killed=is_killed)
    # The shortest clock first: what a slow machine takes to come up is not given back.
    for before in reversed(left):
        await play_on(before)

    for before in left:
        assert abs(check(before, await before.table.records()) - away_ms) < SPARE_MS


def check(before: Left, after: list[StoredRecord]) -> int:
    """See that nothing is lost, and by how many milliseconds every deadline was moved (T8)."""
    assert after[: len(before.records)] == before.records
    match = before.match
    extended, then = [r for r in follow(after) if r.first_seq > match.sequence][:2]
    dues = {deadline.deadline_id: deadline.due for deadline in open_deadlines(match)}
    moved = {
        event.deadline_id: event.due
        for event in extended.events
        if isinstance(event, e.DeadlineExtended)
    }
    by_ms = {due - dues[name] for name, due in moved.items()}

    assert (extended.actor, len(extended.events)) == (SYSTEM, len(dues))
    assert (moved.keys(), len(by_ms)) == (dues.keys(), 1)
    # And then whoever had to decide did, as if nothing had been.
    assert then.actor.startswith("seat:") or then.at_ms >= min(moved.values())
    return by_ms.pop()


async def play_on(before: Left) -> None:
    """Decide what was to be decided, if there is still time for it."""
    try:
        await before.table.play(before.match)
    except grpc.aio.AioRpcError as error:
        refusal_of(error, StatusCode.FAILED_PRECONDITION)


async def restart(stage: Stage, *, is_killed: bool) -> int:
    """End the system and start it again, and return how long it was away, in milliseconds."""
    system = stage.system
    left_ms = system.clock.now_ms()
    if is_killed:
        system.kill()
    else:
        assert await asyncio.to_thread(system.stop) == 0
    await system.start()
    return system.clock.now_ms() - left_ms


async def test_a_stop_says_so_to_everybody_and_ends_well(mortal: Stage) -> None:
    table = await mortal.table()
    head = await table.head()
    ann = table.people[0]
    streams = [await ann.play(table.match_id), mortal.person().watch(table.match_id)]
    for stream in streams:
        await next_of("snapshot", stream)
    stub: Any = health_pb2_grpc.HealthStub(mortal.channel)
    health = stub.Watch(health_pb2.HealthCheckRequest())
    assert (await health.read()).status == health_pb2.HealthCheckResponse.SERVING
    began_ms = mortal.system.clock.now_ms()
    stopping = asyncio.create_task(asyncio.to_thread(mortal.system.stop))
    for stream in streams:
        away = await next_of("go_away", stream)
        told = refusal_of(await failure(rest_of(stream)), StatusCode.UNAVAILABLE)

        assert (away.reason, away.last_sequence) == ("GOING_AWAY", head.sequence)
        assert away.HasField("reconnect_after_ms")
        assert (told.reason, told.may_retry) == ("GOING_AWAY", True)
    assert (await health.read()).status == health_pb2.HealthCheckResponse.NOT_SERVING
    assert await stopping == 0
    assert mortal.system.clock.now_ms() - began_ms < GRACE_S * 1000
    assert mortal.system.postgres() is None
    await mortal.system.start()
    assert await table.head() == head
