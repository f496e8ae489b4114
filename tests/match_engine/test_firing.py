"""Deadlines act once, in time and in order, and cut no move short (T3-T5, T9)."""

import asyncio

import pytest

from libs.kernel.command_ids import fire_id
from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules import phases
from libs.rules.clocks import GRACE_MS
from libs.rules.match import Match
from libs.rules.snapshot import state_hash
from libs.store.memory import Fault
from libs.wire.record import SYSTEM, decode
from services.match_engine.deciding import Fired, Outcome
from tests.match_engine.rig import START_MS, Rig, Table, a_command_id, a_table, refused_as

OPERATOR = "operator:0190a000-0000-7000-8000-0000000000aa"


async def pass_time(table: Table, *, after_due_ms: int) -> e.DeadlineSet:
    """Let time pass until so long after the next deadline, and return that."""
    deadline = await table.deadline()
    table.rig.clock.advance(deadline.due + after_due_ms - table.rig.clock.now_ms())
    return deadline


async def last_events(table: Table) -> list[e.Event]:
    return decode((await table.records())[-1].data).events


class TestFiring:
    async def test_a_deadline_that_has_passed_acts(self) -> None:
        table = await a_table()
        deadline = await pass_time(table, after_due_ms=GRACE_MS)
        fired = await table.fire(deadline.deadline_id)
        record = decode((await table.records())[-1].data)

        assert fired.outcome is Outcome.DONE
        assert fired.accepted is not None
        assert record.command_id == fire_id(table.match_id, deadline.deadline_id)
        assert record.actor == SYSTEM
        assert record.events[0] == e.DecisionTimedOut(deadline.seat, phases.ROLL, GRACE_MS)

    async def test_how_late_it_was_stands_in_its_event(self) -> None:
        table = await a_table()
        deadline = await pass_time(table, after_due_ms=7_654)
        await table.fire(deadline.deadline_id)

        assert (await last_events(table))[0] == e.DecisionTimedOut(deadline.seat, "roll", 7_654)

    @pytest.mark.parametrize("after_due_ms", [-60_000, 0, GRACE_MS - 1])
    async def test_before_its_grace_is_over_it_does_not_act(self, after_due_ms: int) -> None:
        table = await a_table()
        deadline = await pass_time(table, after_due_ms=after_due_ms)

        assert await table.fire(deadline.deadline_id) == Fired(
            Outcome.NOT_DUE, due_ms=deadline.due + GRACE_MS
        )
        assert len(await table.records()) == 1

    async def test_a_bid_has_no_grace(self) -> None:
        table = await a_table()
        await table.play_until(phases.AUCTION)
        deadline = await pass_time(table, after_due_ms=-1)

        assert await table.fire(deadline.deadline_id) == Fired(Outcome.NOT_DUE, due_ms=deadline.due)

        table.rig.clock.advance(1)

        assert (await table.fire(deadline.deadline_id)).outcome is Outcome.DONE

    async def test_it_acts_once_however_often_it_is_fired(self) -> None:
        table = await a_table()
        deadline = await pass_time(table, after_due_ms=GRACE_MS)
        first, *others = await asyncio.gather(*[table.fire(deadline.deadline_id) for _ in range(5)])

        assert first.outcome is Outcome.DONE
        assert others == [first] * 4
        assert len(await table.records()) == 2

    @pytest.mark.parametrize("others", [0, 100], ids=["just now", "long ago"])
    async def test_it_is_done_for_whoever_fires_it_elsewhere(self, others: int) -> None:
        table = await a_table()
        deadline = await pass_time(table, after_due_ms=GRACE_MS)
        first = await table.fire(deadline.deadline_id)
        for _ in range(others):
            await table.act()

        assert await table.fire(deadline.deadline_id) == first
        assert await table.at(table.rig.other()).fire(deadline.deadline_id) == first

    async def test_a_decision_that_was_made_makes_it_stale(self) -> None:
        table = await a_table()
        deadline = await table.deadline()
        await table.submit(c.Roll(deadline.seat))

        assert await table.fire(deadline.deadline_id) == Fired(Outcome.STALE)

    async def test_a_deadline_that_never_was_is_stale(self) -> None:
        table = await a_table()

        assert await table.fire("roll:0:999") == Fired(Outcome.STALE)
        assert await table.fire("nonsense") == Fired(Outcome.STALE)

    async def test_one_of_a_match_that_is_over_is_stale(self) -> None:
        table = await a_table()
        deadline = await table.deadline()
        await table.submit(c.Abort("enough", OPERATOR))

        assert await table.fire(deadline.deadline_id) == Fired(Outcome.STALE)

    async def test_an_old_memory_does_not_make_it_stale(self) -> None:
        """A deadline that another engine has set is not known here yet: that must be looked up."""
        table = await a_table()
        await table.live()
        elsewhere = table.at(table.rig.other())
        await elsewhere.submit(c.Roll((await table.match()).turn))
        deadline = await pass_time(elsewhere, after_due_ms=GRACE_MS)

        assert (await table.fire(deadline.deadline_id)).outcome is Outcome.DONE

    @pytest.mark.parametrize("after_ms", [0, 600_000], ids=["not due", "long due"])
    async def test_while_the_match_is_frozen_it_is_refused(self, after_ms: int) -> None:
        table = await a_table()
        deadline = await table.deadline()
        await table.submit(c.Freeze("a look", OPERATOR))
        table.rig.clock.advance(after_ms)
        with refused_as(Reason.MATCH_FROZEN):
            await table.fire(deadline.deadline_id)

        assert len(await table.records()) == 2

    async def test_after_a_freeze_it_is_due_later_by_the_pause(self) -> None:
        table = await a_table()
        deadline = await table.deadline()
        await table.submit(c.Freeze("a look", OPERATOR))
        table.rig.clock.advance(600_000)
        await table.submit(c.Resume("all well", OPERATOR))

        assert await table.fire(deadline.deadline_id) == Fired(
            Outcome.NOT_DUE, due_ms=deadline.due + 600_000 + GRACE_MS
        )

    @pytest.mark.parametrize("fault", [Fault.LOST_REPLY, Fault.LOST_REQUEST, Fault.CONFLICT])
    async def test_it_acts_once_whatever_becomes_of_its_append(self, fault: Fault) -> None:
        table = await a_table()
        deadline = await pass_time(table, after_due_ms=GRACE_MS)
        table.rig.faults.plan("append", fault)
        fired = await table.fire(deadline.deadline_id)
        records = await table.records()

        assert fired.accepted is not None
        assert [record.last_seq for record in records[1:]] == [fired.accepted.sequence]
        assert table.rig.heard.records == records[1:]


class TestLateMoves:
    """T5."""

    @pytest.mark.parametrize("after_due_ms", [0, 1, GRACE_MS])
    async def test_a_move_within_the_grace_counts(self, after_due_ms: int) -> None:
        table = await a_table()
        deadline = await pass_time(table, after_due_ms=after_due_ms)
        await table.submit(c.Roll(deadline.seat))

        assert not any(isinstance(event, e.DecisionTimedOut) for event in await table.events())

    async def test_a_move_beyond_it_finds_the_time_out_decided(self) -> None:
        table = await a_table()
        deadline = await pass_time(table, after_due_ms=GRACE_MS + 1)
        with refused_as(Reason.NOT_YOUR_TURN):
            await table.submit(c.Roll(deadline.seat))
        late = e.DecisionTimedOut(deadline.seat, "roll", GRACE_MS + 1)

        assert (await last_events(table))[0] == late
        assert (await table.match()).turn != deadline.seat

    async def test_somebody_elses_late_move_comes_after_the_time_out_too(self) -> None:
        table = await a_table()
        deadline = await pass_time(table, after_due_ms=GRACE_MS + 1)
        await table.submit(c.Roll(1 - deadline.seat))
        records = [decode(record.data) for record in await table.records()]

        assert [record.actor for record in records[1:]] == [SYSTEM, f"seat:{1 - deadline.seat}"]
        assert records[1].command_id == fire_id(table.match_id, deadline.deadline_id)

    @pytest.mark.parametrize(("after_due_ms", "counts"), [(0, True), (1, False)])
    async def test_a_bid_has_no_grace(self, after_due_ms: int, *, counts: bool) -> None:
        table = await a_table()
        await table.play_until(phases.AUCTION)
        deadline = await pass_time(table, after_due_ms=after_due_ms)
        if counts:
            await table.submit(c.Bid(deadline.seat))
        else:
            with refused_as(Reason.NOT_YOUR_BID):
                await table.submit(c.Bid(deadline.seat))

    @pytest.mark.parametrize(("waited_ms", "is_offer_first"), [(0, True), (30_000, False)])
    async def test_every_deadline_that_passed_is_decided_the_first_one_first(
        self, waited_ms: int, *, is_offer_first: bool
    ) -> None:
        table = await a_table()
        match = await offer_a_trade(table, waited_ms=waited_ms)
        offer, roll = match.offers[0], match.deadline
        assert roll is not None
        table.rig.clock.advance(200_000)
        with refused_as(Reason.OFFER_NOT_FOUND):
            await table.submit(c.AcceptTrade(offer.receiver, offer.offer))
        fired = [decode(record.data).command_id for record in (await table.records())[-2:]]
        names = [f"offer:{offer.offer}:{offer.number}", roll.deadline_id]

        assert (offer.due < roll.due) is is_offer_first
        assert fired == [
            fire_id(table.match_id, name) for name in (names if is_offer_first else names[::-1])
        ]

    async def test_a_repeat_that_is_late_gets_its_reply_all_the_same(self) -> None:
        table = await a_table()
        roll, command_id = c.Roll((await table.match()).turn), a_command_id()
        first = await table.submit(roll, command_id=command_id)
        table.rig.clock.advance(500_000)

        assert await table.submit(roll, command_id=command_id) == first
        assert len(await table.records()) == 2

    async def test_a_move_that_waited_long_in_the_queue_counts_from_when_it_came(self) -> None:
        table = await a_table()
        deadline = await pass_time(table, after_due_ms=0)
        moving = asyncio.create_task(table.submit(c.Roll(deadline.seat)))
        firing = asyncio.create_task(table.fire(deadline.deadline_id))
        await asyncio.sleep(0)
        table.rig.clock.advance(10_000)

        assert (await moving).at_ms == deadline.due
        assert (await firing) == Fired(Outcome.STALE)

    async def test_what_was_expected_is_held_against_the_match_after_the_time_out(self) -> None:
        table = await a_table()
        live = await table.live()
        head = live.chain.last_seq
        deadline = await pass_time(table, after_due_ms=GRACE_MS + 1)
        with refused_as(Reason.STALE_SEQUENCE):
            await table.submit(c.Roll(1 - deadline.seat), expected_sequence=head)

        assert live.chain.last_seq > head

    async def test_an_operator_need_not_wait_for_time_outs(self) -> None:
        table = await a_table()
        await pass_time(table, after_due_ms=10_000)
        await table.submit(c.Freeze("a look", OPERATOR))

        assert [type(event) for event in await last_events(table)] == [e.MatchFrozen]
        assert len(await table.records()) == 2


async def offer_a_trade(table: Table, *, waited_ms: int) -> Match:
    """Play until the turn's seat owns something, and offer it so long after its turn's begin."""
    while not (match := await table.match()).properties_of(match.turn) or match.phase != "roll":
        await table.act()
    table.rig.clock.advance(waited_ms)
    square = match.properties_of(match.turn)[0]
    give, take = e.Side(0, (square,)), e.Side(match.board.price[square], ())
    await table.submit(c.OfferTrade(match.turn, 1 - match.turn, give, take))
    return await table.match()


@pytest.mark.parametrize("phase", [phases.ROLL, phases.BUY, phases.AUCTION, phases.DEBT])
async def test_a_restart_loses_nothing_and_no_clock(phase: str) -> None:
    """In the middle of a turn, of a decision, of an auction and of a payment pause."""
    table = await Rig().table(bots=4)
    await table.play_until(phases.BUY)
    match = await table.play_until(phase)
    restarted = table.at(table.rig.other())
    deadline = await table.deadline()

    assert state_hash(await restarted.match()) == state_hash(match)
    assert await restarted.deadline() == deadline
    assert (await restarted.time_out()).outcome is Outcome.DONE


async def test_the_bound_follows_the_deadlines() -> None:
    """T2: waking early costs a look, waking late a player's time."""
    table = await a_table()
    shards = range(64)
    for _ in range(60):
        await table.act()
        (wake,) = await table.rig.store.wakes_due(shards, 1 << 60, 10)

        assert wake.wake_at_ms <= (await table.deadline()).due

    assert (await table.rig.store.wakes_due(shards, START_MS, 10)) == []
    await table.submit(c.Freeze("a look", OPERATOR))
    assert (await table.rig.store.wakes_due(shards, 1 << 60, 10)) == []
    await table.submit(c.Resume("all well", OPERATOR))
    assert len(await table.rig.store.wakes_due(shards, 1 << 60, 10)) == 1
    await table.submit(c.Abort("enough", OPERATOR))
    assert (await table.rig.store.wakes_due(shards, 1 << 60, 10)) == []
