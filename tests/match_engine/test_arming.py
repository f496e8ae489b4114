"""The timer service is told of deadlines right after their commit, and never holds play up (T2)."""

import asyncio
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest

from libs.chassis.foundation import Foundation, NodeSettings
from libs.kernel.ids import MatchId
from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.rules import phases
from libs.wire.chain import Chain
from services.match_engine.arming import MATCHES_MAX, UNANSWERED_MAX
from services.match_engine.live import LiveMatch
from tests.match_engine.arming_rig import (
    Timer,
    arming,
    deadlines,
    open_in,
    serving,
    told_up_to,
)
from tests.match_engine.rig import Rig
from tests.support.waiting import until

OPERATOR = "operator:0190a000-0000-7000-8000-0000000000aa"


@pytest.fixture
def rig() -> Rig:
    return Rig()


@pytest.fixture
def foundation(tmp_path: Path, rig: Rig) -> Foundation:
    return Foundation(NodeSettings(data_folder=tmp_path), rig.clock)


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


def has_batches(timer: Timer, count: int) -> bool:
    return len(timer.batches[0]) == count


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
        for number in range(1, UNANSWERED_MAX + 1):
            # One change for each batch: as many as the pace allows would play the match to its end.
            while not listener._waiting:
                rig.clock.advance(500)
                await tables[0].act()
            await until(partial(has_batches, timer, sent + number))
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
        # How often it is given up meanwhile, the machine decides.
        await until(lambda: len(timer.batches) > 1)
        timer.holds = False
        streams = len(timer.batches)
        await until(lambda: len(timer.batches) > streams)
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
