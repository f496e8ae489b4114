"""Operators and outages: freeze, resume, abort, extend (CLOCK-1; write protocol, T8 and W10)."""

import pytest

from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules import phases
from libs.rules.clocks import next_deadline, open_deadlines
from libs.rules.match import Match
from tests.support.builders import (
    CLASSIC_2,
    MATCH_ID,
    SEED,
    ScriptedDraws,
    bots,
    created,
    people,
)
from tests.support.spec import Table, given, kinds

OPERATOR = "operator:01920000-0000-7000-8000-0000000000ff"


def busy() -> Table:
    """Return a table with a pending roll and an open offer."""
    table = given().owned(0, 5).owned(1, 12)
    table.when(c.OfferTrade(0, 1, e.Side(0, (5,)), e.Side(0, (12,))))
    return table


def dues(table: Table) -> list[int]:
    return [deadline.due for deadline in open_deadlines(table.match)]


def test_an_outage_moves_every_open_deadline() -> None:
    """CLOCK-1."""
    table = busy()
    before = dues(table)

    events = table.when(c.ExtendDeadlines(7_000, 1))

    assert events == [
        e.DeadlineExtended(phases.ROLL, 0, 1, before[0] + 7_000, "outage"),
        e.DeadlineExtended(phases.OFFER, 1, 2, before[1] + 7_000, "outage"),
    ]
    assert dues(table) == [due + 7_000 for due in before]


def test_an_outage_moves_the_deadlines_of_several_debts_in_their_order() -> None:
    """CLOCK-1, DEBT-3."""
    table = given().standing({0: 4}).card(6).dice((1, 2)).cash({1: 0, 2: 0})
    table.when(c.Roll(0))

    events = table.when(c.ExtendDeadlines(500, 1))

    assert [event.scope for event in events if isinstance(event, e.DeadlineExtended)] == [1, 2]
    assert dues(table) == [table.now + 75_500] * 2


def test_an_outage_while_seeds_are_awaited_moves_their_deadline() -> None:
    """CLOCK-1, FAIR-1."""
    draws = ScriptedDraws()
    table = Table(created(CLASSIC_2, people(2), draws), draws)
    table.when(c.ExtendDeadlines(1_000, 1))
    table.now += 5_999

    assert table.refused(c.FireDeadline("seeding:-1:1")).reason is Reason.DEADLINE_NOT_DUE


def test_an_extended_deadline_keeps_its_name() -> None:
    """CLOCK-1."""
    table = busy()
    names = [deadline.deadline_id for deadline in open_deadlines(table.match)]

    table.when(c.ExtendDeadlines(1, 1))

    assert [deadline.deadline_id for deadline in open_deadlines(table.match)] == names


def test_an_outage_may_have_been_over_before_it_was_noticed() -> None:
    """CLOCK-1."""
    table = busy()
    before = dues(table)

    table.when(c.ExtendDeadlines(0, 1))

    assert dues(table) == before


def test_time_is_never_taken_away() -> None:
    """CLOCK-1."""
    assert given().refused(c.ExtendDeadlines(-1, 1)).reason is Reason.INVALID_REQUEST


def test_a_frozen_match_takes_no_commands_but_resume_and_abort() -> None:
    """CLOCK-1."""
    table = busy()
    table.now += 1_000

    events = table.when(c.Freeze("a report", OPERATOR))

    assert events == [e.MatchFrozen("a report", OPERATOR, table.now)]
    for command in (
        c.Roll(0),
        c.AcceptTrade(1, 1),
        c.Surrender(2),
        c.ContributeSeed(0, b""),
        c.FireDeadline("roll:0:1"),
        c.ExtendDeadlines(1, 1),
        c.Freeze("again", OPERATOR),
    ):
        refused = table.refused(command)

        assert (refused.reason, refused.facts) == (Reason.MATCH_FROZEN, {"frozen_at": table.now})


def test_no_deadline_is_due_while_the_match_is_frozen() -> None:
    """CLOCK-1."""
    table = busy()
    table.when(c.Freeze("a report", OPERATOR))

    assert next_deadline(table.match) is None
    assert table.wait(1_000) == []


def test_a_match_may_be_frozen_at_the_first_moment_of_time() -> None:
    """CLOCK-1: 0 ms is a time like any other."""
    table = busy()
    table.now = 0
    table.when(c.Freeze("a report", OPERATOR))

    assert next_deadline(table.match) is None
    for command in (c.Roll(0), c.FireDeadline("roll:0:1"), c.Freeze("again", OPERATOR)):
        assert table.refused(command).reason is Reason.MATCH_FROZEN
    assert table.state()["deadline"] == {"kind": "roll", "in_s": 1_075}
    assert kinds(table.when(c.Resume("all well", OPERATOR)))[0] is e.MatchResumed


def test_resuming_moves_every_deadline_by_the_pause() -> None:
    """CLOCK-1."""
    table = busy()
    before = dues(table)
    table.when(c.Freeze("a report", OPERATOR))
    table.now += 90_000

    events = table.when(c.Resume("all well", OPERATOR))

    assert events == [
        e.MatchResumed("all well", OPERATOR),
        e.DeadlineExtended(phases.ROLL, 0, 1, before[0] + 90_000, "frozen"),
        e.DeadlineExtended(phases.OFFER, 1, 2, before[1] + 90_000, "frozen"),
    ]
    assert table.match.frozen_at == -1


def test_a_resumed_match_goes_on_as_it_was() -> None:
    """CLOCK-1."""
    table = busy()
    before = table.state()
    table.when(c.Freeze("a report", OPERATOR))
    table.now += 90_000

    table.when(c.Resume("all well", OPERATOR))

    assert table.state() == before


def test_a_frozen_match_is_described_with_its_clocks_standing() -> None:
    """CLOCK-1."""
    table = busy()
    before = table.state()
    table.when(c.Freeze("a report", OPERATOR))
    table.now += 90_000

    assert table.state() == before


def test_only_a_frozen_match_is_resumed() -> None:
    """CLOCK-1."""
    assert given().refused(c.Resume("why", OPERATOR)).reason is Reason.MATCH_NOT_FROZEN


def test_a_match_that_waits_for_seeds_can_be_frozen_and_resumed() -> None:
    """CLOCK-1, FAIR-1."""
    draws = ScriptedDraws()
    table = Table(created(CLASSIC_2, people(2), draws), draws)
    table.when(c.Freeze("a report", OPERATOR))
    assert table.refused(c.ContributeSeed(0, b"")).reason is Reason.MATCH_FROZEN
    table.now += 1_000

    table.when(c.Resume("all well", OPERATOR), c.ContributeSeed(0, b""))

    assert kinds(table.when(c.ContributeSeed(1, b"")))[1] is e.MatchStarted


def test_an_aborted_match_has_no_winner_and_reveals_its_seed() -> None:
    """FAIR-1."""
    table = busy()

    events = table.when(c.Abort("broken", OPERATOR))

    assert events == [e.MatchAborted("broken", OPERATOR), e.SeedRevealed(SEED)]
    assert table.match.phase == phases.ENDED
    assert (table.match.winners, table.match.placing) == ((), ())
    assert open_deadlines(table.match) == []


def test_a_frozen_match_can_be_aborted() -> None:
    """CLOCK-1."""
    table = busy()
    table.when(c.Freeze("a report", OPERATOR))

    table.when(c.Abort("broken", OPERATOR))

    assert table.match.frozen_at == -1
    assert table.refused(c.Roll(0)).reason is Reason.MATCH_ENDED


@pytest.mark.parametrize(
    "command",
    [
        c.Roll(0),
        c.FireDeadline("roll:0:1"),
        c.ExtendDeadlines(1, 1),
        c.Freeze("x", OPERATOR),
        c.Resume("x", OPERATOR),
        c.Abort("x", OPERATOR),
    ],
    ids=lambda command: type(command).__name__,
)
def test_a_match_that_was_not_made_is_not_found(command: c.Command) -> None:
    """SETUP-1."""
    table = Table(Match(), ScriptedDraws())

    assert table.refused(command).reason is Reason.MATCH_NOT_FOUND


def test_a_frozen_match_is_not_made_again() -> None:
    """SETUP-1."""
    table = busy()
    table.when(c.Freeze("a report", OPERATOR))

    refused = table.refused(c.CreateMatch(MATCH_ID, CLASSIC_2, bots(2), bytes(32)))

    assert refused.reason is Reason.MATCH_EXISTS
