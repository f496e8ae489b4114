"""The state as people and files read it, where scenario files cannot look: inside a record."""

from libs.rules import commands as c
from libs.rules import events as e
from libs.rules.evolve import evolve
from libs.rules.state import describe
from tests.support.spec import given, kinds


def test_a_debt_has_no_clock_before_its_deadline_is_set() -> None:
    table = given().owned(1, 39).standing({0: 36}).dice((1, 2))
    match, now = table.match.copy(), table.now
    events = table.when(c.Roll(0))
    opened = kinds(events).index(e.DebtOpened)

    for event in events[: opened + 1]:
        evolve(match, event)

    assert describe(match, now)["debts"][0]["in_s"] is None
    evolve(match, events[opened + 1])
    assert describe(match, now)["debts"][0]["in_s"] == 75


def test_a_deadline_that_has_passed_and_not_fired_has_no_time_left() -> None:
    table = given()

    late = describe(table.match, table.now + 3_600_000)

    assert late["deadline"] == {"kind": "roll", "in_s": 0}
