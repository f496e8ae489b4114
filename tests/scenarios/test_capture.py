"""A state of a recorded match becomes a scenario that leads there."""

import json
from typing import Any, Final

import pytest

from libs.rules import events as e
from libs.rules.evolve import apply
from libs.rules.match import Match
from libs.rules.state import describe
from libs.scenarios.capture import Capture, capture
from libs.scenarios.comparing import is_same
from libs.scenarios.retelling import NotSayableError, retell
from libs.scenarios.running import Outcome, run
from libs.scenarios.scenario import read_scenario
from libs.wire.record import Record, decode
from tests.support.matches import play_match

TABLES: Final = [
    ("opolyx.classic@1", 2),
    ("opolyx.speed@1", 5),
    ("opolyx.classic@2", 4),
    ("opolyx.speed@2", 3),
    ("opolyx.teams@2", 4),
]


def records_of(rule_set: str, seats: int, records_max: int = 1_200) -> list[Record]:
    """Return the records of a match of simple hands."""
    table = play_match(rule_set, seats, records_max=records_max)
    return [decode(stored.data) for stored in table.records]


def replayed(captured: Capture) -> Outcome:
    """Run a captured scenario as a file has it."""
    return run(read_scenario(json.loads(json.dumps(captured.document))))


@pytest.mark.parametrize(("rule_set", "seats"), TABLES)
def test_any_state_of_a_match_becomes_a_scenario_that_passes(rule_set: str, seats: int) -> None:
    records = records_of(rule_set, seats)
    last = records[-1].last_seq

    for sequence in [*range(40, last, last // 25), last]:
        captured = capture(records, sequence)
        outcome = replayed(captured)

        assert outcome.ok, (sequence, outcome.failures)
        assert captured.setup_sequence <= captured.end_sequence <= sequence
        assert _money(outcome.state) == _money(_state_at(records, captured.end_sequence))


@pytest.mark.parametrize(("rule_set", "seats"), TABLES)
def test_a_captured_scenario_goes_on_as_the_match_did(rule_set: str, seats: int) -> None:
    """With the match's own next commands, and the draws that the scenario has for them."""
    records = records_of(rule_set, seats)
    last = len(records) - 1
    carried_on = 0

    for number in range(20, last, last // 9):
        captured = capture(records, records[number].last_seq)
        if not captured.opens_round:
            continue
        start = next(n for n, r in enumerate(records) if r.last_seq == captured.setup_sequence)
        for later in (min(number + 5, last), min(number + 60, last)):
            match, now = _replayed(records[: start + 1])
            steps = retell(match, now, records[start + 1 : later + 1])
            outcome = run(read_scenario(captured.document | {"steps": steps}))

            assert outcome.ok, (number, later, outcome.failures)
            assert _money(outcome.state) == _money(_state_at(records, records[later].last_seq))
            # The captured steps are those that the continued story begins with.
            told = captured.document["steps"][:-1]
            assert steps[: len(told)] == told
        carried_on += 1

    assert carried_on > 5


def test_a_set_up_stands_where_a_round_begins_unless_none_will_do() -> None:
    records = records_of("opolyx.speed@2", 4, 400)
    begun = _beginnings(records)[-2]
    later = _end_of_a_turn(records, begun)

    captured = capture(records, records[later].last_seq)
    # From the beginning of the round nothing leads past an operator; from the next turn it does.
    records[begun + 1].actor = "operator:somebody"
    within = capture(records, records[later].last_seq)

    assert captured.opens_round
    assert captured.setup_sequence == records[begun].last_seq
    assert not within.opens_round
    assert within.setup_sequence > captured.setup_sequence
    assert replayed(within).ok


def test_the_end_says_what_was_reached() -> None:
    records = records_of("opolyx.classic@2", 4)

    captured = capture(records, records[-1].last_seq)

    expected = captured.document["steps"][-1]["expect"]
    state = _state_at(records, records[-1].last_seq)
    assert is_same(expected["seats.0"], state["seats"][0])
    assert expected["phase"] == state["phase"]


def test_a_sequence_inside_a_record_means_the_record_before() -> None:
    records = records_of("opolyx.classic@2", 3, 200)
    long = next(record for record in records[9:] if len(record.events) > 2)

    captured = capture(records, long.last_seq - 1)

    assert captured.end_sequence == long.first_seq - 1


def test_the_draws_that_came_after_are_left_over() -> None:
    records = records_of("opolyx.classic@2", 3, 200)
    middle = records[len(records) // 2].last_seq

    left = replayed(capture(records, middle)).left

    rolls = [
        event
        for record in records
        if record.first_seq > middle
        for event in record.events
        if isinstance(event, e.DiceRolled)
    ]
    assert left.dice == tuple((roll.white_1, roll.white_2) for roll in rolls)


def test_what_a_set_up_cannot_say_of_those_who_are_out_is_left_open() -> None:
    """Seats that are out in a set-up went out in the order of their numbers; not so here."""
    tables = (play_match("opolyx.speed@2", 4, seed) for seed in range(1, 30))
    table = next(t for t in tables if t.match.out_order[:2] != sorted(t.match.out_order[:2]))
    records = [decode(stored.data) for stored in table.records]

    captured = capture(records, records[-1].last_seq)

    expected = captured.document["steps"][-1]["expect"]
    assert replayed(captured).ok
    assert replayed(captured).state["placing"] != list(table.match.placing)
    assert expected["winners"] == list(table.match.winners)
    assert "placing" not in expected


def test_before_the_first_roll_there_is_nothing_to_set_up() -> None:
    with pytest.raises(NotSayableError, match="no roll is pending"):
        capture(records_of("opolyx.classic@2", 2, 20), 1)


def test_what_the_rules_would_not_do_is_not_told_as_if_they_would() -> None:
    records = records_of("opolyx.classic@2", 3, 60)
    rolled = next(n for n, r in enumerate(records) if isinstance(r.events[0], e.DiceRolled))
    # A roll by a seat whose turn it is not.
    records[rolled].actor = "seat:2" if records[rolled].actor != "seat:2" else "seat:1"

    with pytest.raises(NotSayableError, match="the rules do otherwise"):
        capture(records, records[rolled].last_seq)


def test_what_an_operator_did_is_beyond_a_scenario() -> None:
    records = records_of("opolyx.classic@2", 3, 60)
    rolled = next(n for n, r in enumerate(records) if isinstance(r.events[0], e.DiceRolled))
    records[rolled].actor = "operator:somebody"

    with pytest.raises(NotSayableError, match="by operator:somebody"):
        capture(records, records[rolled].last_seq)


def _state_at(records: list[Record], sequence: int) -> dict[str, Any]:
    return describe(*_replayed([record for record in records if record.last_seq <= sequence]))


def _replayed(records: list[Record]) -> tuple[Match, int]:
    match = Match()
    for record in records:
        apply(match, record.events)
    return match, records[-1].at_ms


def _beginnings(records: list[Record]) -> list[int]:
    """Return the numbers of the records in which a round begins that a set-up can say."""
    return [
        number
        for number, record in enumerate(records)
        if any(isinstance(event, e.RoundStarted) for event in record.events)
        and not _replayed(records[: number + 1])[0].offers
    ]


def _end_of_a_turn(records: list[Record], number: int) -> int:
    """Return the number of the record after *number* in which the next turn begins."""
    return next(
        later
        for later in range(number + 1, len(records))
        if any(isinstance(event, e.TurnStarted) for event in records[later].events)
    )


def _money(state: dict[str, Any]) -> object:
    return state["seats"], state["properties"], state["phase"], state["turn"], state["round"]
