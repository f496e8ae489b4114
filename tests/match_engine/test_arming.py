"""The timer service is told of deadlines right after their commit, and never holds play up (T2)."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from libs.chassis.foundation import Foundation, NodeSettings
from libs.chassis.roles import AllowList, service
from libs.chassis.sections import ServerSettings
from libs.chassis.server import GrpcServer
from libs.kernel.ids import MatchId
from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.rules import phases
from libs.rules.clocks import fires_at, open_deadlines
from libs.rules.match import Match
from libs.wire.chain import Chain
from opolyx.timer.v1 import timer_service_pb2 as pb
from opolyx.timer.v1 import timer_service_pb2_grpc as pb_grpc
from services.match_engine.arming import MATCHES_MAX, UNANSWERED_MAX, Arming
from services.match_engine.live import LiveMatch
from tests.match_engine.rig import Rig, Table
from tests.support.waiting import until

OPERATOR = "operator:0190a000-0000-7000-8000-0000000000aa"


_Unimplemented: Any = pb_grpc.TimerServiceServicer


class Timer(_Unimplemented):  # type: ignore[misc] # its stubs know of generators alone
    """Takes what it is told.

    Attributes:
        batches: of each stream, the batches.
        holds: while it is set, nothing is answered.

    """

    def __init__(self) -> None:
        self.batches: list[list[pb.ArmRequest]] = []
        self.holds = False
        self._released = asyncio.Event()

    @property
    def told(self) -> list[pb.ArmRequest.ArmedMatch]:
        """All matches of all batches, in order."""
        return [m for stream in self.batches for batch in stream for m in batch.matches]

    def last(self, match_id: MatchId) -> pb.ArmRequest.ArmedMatch | None:
        """Return what was told of a match last."""
        return next((m for m in reversed(self.told) if m.match_id == match_id), None)

    def release(self) -> None:
        self.holds = False
        self._released.set()

    async def Arm(  # noqa: N802
        self, request_iterator: AsyncIterator[pb.ArmRequest], context: Any
    ) -> None:
        stream: list[pb.ArmRequest] = []
        self.batches.append(stream)
        answering: list[asyncio.Task[None]] = []
        async for request in request_iterator:
            stream.append(request)
            if not self.holds:
                await context.write(pb.ArmResponse(batch=request.batch))
            elif not answering:
                answering.append(asyncio.create_task(self._answer_later(stream, context)))

    async def _answer_later(self, stream: list[pb.ArmRequest], context: Any) -> None:
        await self._released.wait()
        await context.write(pb.ArmResponse(batch=stream[-1].batch))


@pytest.fixture
def rig() -> Rig:
    return Rig()


@pytest.fixture
def foundation(tmp_path: Path, rig: Rig) -> Foundation:
    return Foundation(NodeSettings(data_folder=tmp_path), rig.clock)


@asynccontextmanager
async def serving(foundation: Foundation, timer: Timer, port: int = 0) -> AsyncIterator[str]:
    allowed = AllowList({"opolyx.timer.v1.TimerService/Arm": [service("match_engine")]})
    settings = ServerSettings(port=port, stream_grace_s=0, request_bytes_max=1024 * 1024)
    server = GrpcServer(foundation.terms("timer", settings, allowed))
    descriptor = pb.DESCRIPTOR.services_by_name["TimerService"]
    server.add(pb_grpc.add_TimerServiceServicer_to_server, timer, descriptor)
    async with server:
        yield server.address


@asynccontextmanager
async def arming(
    foundation: Foundation,
    address: str,
    rig: Rig,
    *,
    others: Iterable[LiveMatch] = (),
    patience_s: float = 30,
) -> AsyncIterator[Arming]:
    """Run a listener of the rig that arms at *address*; *others* are loaded too."""
    async with foundation.channel("match_engine", address, retries=False) as channel:
        listener = Arming(channel, lambda: [*rig.matches.loaded(), *others], patience_s=patience_s)
        rig.matches.listen(listener)
        task = asyncio.create_task(listener.run())
        try:
            yield listener
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


def deadlines(told: pb.ArmRequest.ArmedMatch | None) -> list[tuple[str, int]]:
    assert told is not None
    return [(deadline.deadline_id, deadline.fire_ms) for deadline in told.deadlines]


def open_in(match: Match) -> list[tuple[str, int]]:
    return [(deadline.deadline_id, fires_at(deadline)) for deadline in open_deadlines(match)]


async def told_up_to(timer: Timer, table: Table) -> None:
    """Wait until the timer knows of the match what is so now."""
    match = await table.match()
    await until(
        lambda: (m := timer.last(table.match_id)) is not None and deadlines(m) == open_in(match)
    )


async def test_whatever_is_loaded_is_told_first(rig: Rig, foundation: Foundation) -> None:
    tables = [await rig.table() for _ in range(3)]
    timer = Timer()
    async with serving(foundation, timer) as address, arming(foundation, address, rig):
        await until(lambda: len(timer.told) == 3)

    assert {m.match_id for m in timer.told} == {table.match_id for table in tables}
    for table in tables:
        live = await table.live()
        told = timer.last(table.match_id)
        assert told is not None
        assert told.sequence == live.chain.last_seq
        assert deadlines(told) == open_in(live.match) != []


async def test_each_commit_that_changes_deadlines_is_told(rig: Rig, foundation: Foundation) -> None:
    table = await rig.table()
    timer = Timer()
    async with serving(foundation, timer) as address, arming(foundation, address, rig):
        await told_up_to(timer, table)
        for _ in range(60):
            rig.clock.advance(500)
            await table.act()
            await told_up_to(timer, table)
    sets = [deadlines(m) for m in timer.told]

    assert len(sets) > 20
    assert all(one != two for one, two in pairwise(sets))
    assert [m.sequence for m in timer.told] == sorted({m.sequence for m in timer.told})
    assert [batch.batch for batch in timer.batches[0]] == list(range(1, len(timer.batches[0]) + 1))


async def test_a_commit_that_changes_no_deadline_is_not_told(
    rig: Rig, foundation: Foundation
) -> None:
    table = await rig.table()
    timer = Timer()
    async with serving(foundation, timer) as address, arming(foundation, address, rig):
        while (match := await table.match()).phase != phases.ROLL or not match.owned[match.turn]:
            await table.act()
        await told_up_to(timer, table)
        told = len(timer.told)
        await table.submit(c.Mortgage(match.turn, match.owned[match.turn][0]))
        other = await rig.table()
        await told_up_to(timer, other)

    assert [m.match_id for m in timer.told[told:]] == [other.match_id]


async def test_grace_is_in_it_but_for_a_bid(rig: Rig, foundation: Foundation) -> None:
    """T5."""
    table = await rig.table()
    timer = Timer()
    async with serving(foundation, timer) as address, arming(foundation, address, rig):
        roll = await table.deadline()
        await told_up_to(timer, table)
        graced = deadlines(timer.last(table.match_id))
        await table.play_until(phases.AUCTION)
        bid = await table.deadline()
        await told_up_to(timer, table)

    assert graced[0] == (roll.deadline_id, roll.due + 250)
    assert deadlines(timer.last(table.match_id))[0] == (bid.deadline_id, bid.due)


async def test_a_frozen_match_has_none_and_a_resumed_one_has_later_ones(
    rig: Rig, foundation: Foundation
) -> None:
    """T8."""
    table = await rig.table()
    timer = Timer()
    async with serving(foundation, timer) as address, arming(foundation, address, rig):
        await told_up_to(timer, table)
        before = deadlines(timer.last(table.match_id))
        await table.submit(c.Freeze("a look", OPERATOR))
        await until(lambda: deadlines(timer.last(table.match_id)) == [])
        rig.clock.advance(60_000)
        await table.submit(c.Resume("seen", OPERATOR))
        await told_up_to(timer, table)

    assert deadlines(timer.last(table.match_id)) == [(d, ms + 60_000) for d, ms in before]


async def test_a_match_that_is_over_has_none(rig: Rig, foundation: Foundation) -> None:
    table = await rig.table()
    timer = Timer()
    async with serving(foundation, timer) as address, arming(foundation, address, rig):
        await told_up_to(timer, table)
        await table.submit(c.Abort("enough", OPERATOR))
        await until(lambda: deadlines(timer.last(table.match_id)) == [])


async def test_a_slow_timer_holds_nothing_up_and_is_told_the_latest_alone(
    rig: Rig, foundation: Foundation
) -> None:
    tables = [await rig.table() for _ in range(2)]
    timer = Timer()
    async with serving(foundation, timer) as address, arming(foundation, address, rig) as listener:
        for table in tables:
            await told_up_to(timer, table)
        timer.holds = True
        sent = len(timer.batches[0])
        while len(timer.batches[0]) < sent + UNANSWERED_MAX:
            rig.clock.advance(500)
            await tables[0].act()
            await asyncio.sleep(0.01)
        for _ in range(30):
            for table in tables:
                await table.act()
        waiting = len(listener._waiting)
        held = len(timer.batches[0])
        timer.release()
        for table in tables:
            await told_up_to(timer, table)

    assert held == sent + UNANSWERED_MAX
    assert waiting == 2
    assert len(timer.batches[0]) <= held + 2


async def test_a_timer_that_is_away_holds_nothing_up_and_is_told_all_when_it_comes(
    rig: Rig, foundation: Foundation
) -> None:
    table = await rig.table()
    timer = Timer()
    async with serving(foundation, Timer()) as address:
        pass
    async with arming(foundation, address, rig) as listener:
        for _ in range(20):
            await table.act()
        waiting = len(listener._waiting)
        async with serving(foundation, timer, int(address.rpartition(":")[2])):
            await told_up_to(timer, table)

    assert waiting == 0
    assert len(timer.told) == 1


async def test_a_timer_that_was_restarted_is_told_all_again(
    rig: Rig, foundation: Foundation
) -> None:
    tables = [await rig.table() for _ in range(2)]
    before, after = Timer(), Timer()
    async with serving(foundation, before) as address:
        runs = arming(foundation, address, rig)
        await runs.__aenter__()
        await until(lambda: len(before.told) == 2)
    async with serving(foundation, after, int(address.rpartition(":")[2])):
        for table in tables:
            await told_up_to(after, table)
        await runs.__aexit__(None, None, None)

    assert len(after.told) == 2


async def test_a_timer_that_says_nothing_is_told_all_again_on_another_stream(
    rig: Rig, foundation: Foundation
) -> None:
    table = await rig.table()
    timer = Timer()
    async with (
        serving(foundation, timer) as address,
        arming(foundation, address, rig, patience_s=0.3),
    ):
        await told_up_to(timer, table)
        timer.holds = True
        await table.act()
        await until(lambda: len(timer.batches) == 2)
        timer.holds = False
        await until(lambda: len(timer.batches) > 2)
        await told_up_to(timer, table)


async def test_silence_while_nothing_is_to_be_told_ends_no_stream(
    rig: Rig, foundation: Foundation
) -> None:
    table = await rig.table()
    timer = Timer()
    async with (
        serving(foundation, timer) as address,
        arming(foundation, address, rig, patience_s=0.1),
    ):
        await told_up_to(timer, table)
        await asyncio.sleep(0.3)
        await table.act()
        await told_up_to(timer, table)

    assert len(timer.batches) == 1


async def test_what_is_told_as_it_is_is_not_told_again(rig: Rig, foundation: Foundation) -> None:
    table, other = await rig.table(), await rig.table()
    timer = Timer()
    async with serving(foundation, timer) as address, arming(foundation, address, rig) as listener:
        await told_up_to(timer, other)
        await told_up_to(timer, table)
        for _ in range(5):
            listener.tell(await table.live())
        await other.act()
        await told_up_to(timer, other)

    assert [m.match_id for m in timer.told].count(table.match_id) == 1


async def test_a_match_that_comes_back_into_memory_is_told_again(
    rig: Rig, foundation: Foundation
) -> None:
    table = await rig.table()
    timer = Timer()
    async with serving(foundation, timer) as address, arming(foundation, address, rig) as listener:
        await told_up_to(timer, table)
        rig.matches.drop(table.match_id, Reason.NOT_OWNER_OF_SHARD)
        listener.tell(await table.live())
        await until(lambda: len(timer.told) == 2)

    assert deadlines(timer.told[0]) == deadlines(timer.told[1])


async def test_a_batch_holds_no_more_than_a_thousand_matches(
    rig: Rig, foundation: Foundation
) -> None:
    live = await (await rig.table()).live()
    others = [
        LiveMatch(live.match, Chain(MatchId(f"0190a000-0000-7000-8000-{n:012}")), live.draws)
        for n in range(2 * MATCHES_MAX + 1)
    ]
    for other in others:
        other.chain.last_seq = 1
    timer = Timer()
    async with (
        serving(foundation, timer) as address,
        arming(foundation, address, rig, others=others),
    ):
        await until(lambda: len(timer.told) == len(others) + 1)

    assert max(len(batch.matches) for batch in timer.batches[0]) == MATCHES_MAX
    assert len({m.match_id for m in timer.told}) == len(others) + 1
