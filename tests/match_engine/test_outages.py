"""Nobody is charged for a time in which no engine served (write protocol, T8)."""

import pytest

from libs.kernel.command_ids import extend_id
from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules.clocks import GRACE_MS
from libs.rules.operating import OUTAGE_MS_MOST
from libs.store.memory import Fault
from libs.store.ownership import Outage
from libs.wire.record import SYSTEM, decode
from services.match_engine.deciding import Fired, Outcome
from tests.match_engine.rig import START_MS, Rig, Table, a_table, refused_as

OPERATOR = "operator:0190a000-0000-7000-8000-0000000000aa"
DOWN_MS = 600_000


async def after_an_outage(table: Table, *, by_ms: int = DOWN_MS) -> Table:
    """Return the match at the engine that comes after an outage."""
    rig = table.rig.other()
    before = list(table.rig.shards.outages)
    from_ms = rig.clock.now_ms()
    rig.clock.advance(by_ms)
    rig.shards.outages = [*before, Outage(len(before) + 1, from_ms, rig.clock.now_ms())]
    return table.at(rig)


async def extensions(table: Table) -> list[e.DeadlineExtended]:
    return [event for event in await table.events() if isinstance(event, e.DeadlineExtended)]


async def test_deadlines_move_by_the_outage_before_anything_is_decided() -> None:
    table = await a_table()
    deadline = await table.deadline()
    table = await after_an_outage(table)
    await table.submit(c.Roll(deadline.seat))
    extension, move = [decode(record.data) for record in (await table.records())[1:]]

    assert (extension.command_id, extension.actor) == (extend_id(table.match_id, 1), SYSTEM)
    assert extension.events == [
        e.DeadlineExtended("roll", deadline.seat, 1, deadline.due + DOWN_MS, "outage")
    ]
    assert move.actor == f"seat:{deadline.seat}"
    assert not any(isinstance(event, e.DecisionTimedOut) for event in await table.events())


async def test_a_deadline_that_is_fired_is_due_later_by_the_outage() -> None:
    table = await a_table()
    deadline = await table.deadline()
    table = await after_an_outage(table)

    assert await table.fire(deadline.deadline_id) == Fired(
        Outcome.NOT_DUE, due_ms=deadline.due + DOWN_MS + GRACE_MS
    )


async def test_an_outage_is_paid_back_once() -> None:
    table = await after_an_outage(await a_table())
    for _ in range(5):
        await table.act()
    again = table.rig.other()
    again.shards.outages = table.rig.shards.outages
    for _ in range(5):
        await table.at(again).act()

    assert len(await extensions(table)) == 1


async def test_each_outage_is_paid_back() -> None:
    table = await a_table()
    deadline = await table.deadline()
    table = await after_an_outage(await after_an_outage(table, by_ms=10_000), by_ms=20_000)
    await table.act()

    assert [x.due - deadline.due for x in await extensions(table)] == [10_000, 30_000]


async def test_an_engine_that_dies_between_two_extensions_makes_room_for_the_second() -> None:
    table = await after_an_outage(await after_an_outage(await a_table()), by_ms=20_000)
    table.rig.faults.plan("append", None, *[Fault.LOST_REQUEST] * 10)
    with refused_as(Reason.STORE_UNAVAILABLE):
        await table.act()

    assert len(await extensions(table)) == 1

    restarted = table.rig.other()
    restarted.shards.outages = table.rig.shards.outages
    await table.at(restarted).act()

    assert len(await extensions(table)) == 2


@pytest.mark.parametrize("fault", [Fault.LOST_REPLY, Fault.LOST_REQUEST, Fault.CONFLICT])
async def test_it_is_paid_back_once_whatever_becomes_of_the_append(fault: Fault) -> None:
    table = await after_an_outage(await a_table())
    table.rig.faults.plan("append", fault)
    await table.act()

    assert len(await extensions(table)) == 1
    assert len(await table.records()) == 3


async def test_an_outage_from_before_the_match_is_none_of_its_business() -> None:
    rig = Rig()
    rig.shards.outages = [Outage(1, START_MS - 60_000, START_MS)]
    table = await rig.table()
    await table.act()
    await table.at(rig.other()).act()

    assert await extensions(table) == []


async def test_what_the_lost_engine_has_decided_in_its_last_second_changes_nothing() -> None:
    table = await a_table()
    table.rig.clock.advance(1_000)
    await table.act()
    rig = table.rig.other()
    rig.clock.advance(9_000)
    rig.shards.outages = [Outage(1, START_MS, START_MS + 10_000)]
    await table.at(rig).act()

    assert len(await extensions(table)) == 1


async def test_offers_move_too() -> None:
    table = await a_table()
    while not (match := await table.match()).properties_of(match.turn) or match.phase != "roll":
        await table.act()
    mine = match.properties_of(match.turn)[0]
    price = match.board.price[mine]
    await table.submit(
        c.OfferTrade(match.turn, 1 - match.turn, e.Side(0, (mine,)), e.Side(price, ()))
    )
    due = (await table.match()).offers[0].due
    table = await after_an_outage(table)
    await table.submit(c.WithdrawTrade(match.turn, 1))

    assert {x.kind for x in await extensions(table)} == {"roll", "offer"}
    assert due + DOWN_MS in [x.due for x in await extensions(table)]


async def test_while_a_match_is_frozen_its_clocks_stand_anyway() -> None:
    table = await a_table()
    deadline = await table.deadline()
    await table.submit(c.Freeze("a look", OPERATOR))
    table = await after_an_outage(table)
    with refused_as(Reason.MATCH_FROZEN):
        await table.submit(c.Roll(deadline.seat))
    await table.submit(c.Resume("all well", OPERATOR))
    await table.submit(c.Roll(deadline.seat))

    assert [(x.due - deadline.due, x.reason) for x in await extensions(table)] == [
        (DOWN_MS, "frozen")
    ]


async def test_an_outage_within_a_freeze_is_not_paid_back_by_the_next_engine_either() -> None:
    table = await a_table()
    await table.submit(c.Freeze("a look", OPERATOR))
    table = await after_an_outage(table)
    await table.submit(c.Resume("all well", OPERATOR))
    restarted = table.rig.other()
    restarted.shards.outages = table.rig.shards.outages
    await table.at(restarted).act()

    assert [x.reason for x in await extensions(table)] == ["frozen"]


async def test_a_match_that_is_over_has_no_deadlines_to_move() -> None:
    table = await a_table()
    await table.submit(c.Abort("enough", OPERATOR))
    table = await after_an_outage(table)
    with refused_as(Reason.MATCH_ENDED):
        await table.submit(c.Roll(0))

    assert await table.fire("roll:0:1") == Fired(Outcome.STALE)
    assert await extensions(table) == []


async def test_an_outage_of_years_moves_deadlines_by_one() -> None:
    table = await a_table()
    deadline = await table.deadline()
    table = await after_an_outage(table, by_ms=3 * OUTAGE_MS_MOST)
    await table.fire(deadline.deadline_id)

    assert [x.due - deadline.due for x in await extensions(table)] == [OUTAGE_MS_MOST]


async def test_reading_a_match_decides_nothing() -> None:
    table = await after_an_outage(await a_table())
    await table.live()

    assert await extensions(table) == []
