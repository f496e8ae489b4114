"""Every kind of match is played to its end, and every law of the game holds on the way."""

from collections.abc import Sequence

import pytest

from libs.bots.strengths import STRENGTHS
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules import phases
from libs.rules.match import Match
from libs.rules.rule_sets import RULE_SETS
from libs.simulation.invariants import Auditor
from libs.simulation.playing import (
    COMMANDS_MOST,
    THINKING_MS,
    BrokenPlayError,
    Setup,
    run_match,
    set_up,
)

TABLES = [(rule_set_id, seats) for rule_set_id, rules in RULE_SETS.items() for seats in rules.seats]


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(("rule_set", "seats"), TABLES)
def test_every_table_plays_to_an_end_by_the_laws(rule_set: str, seats: int, seed: int) -> None:
    setup = set_up(rule_set, seats, seed, 0, tuple(STRENGTHS))
    played = run_match(setup, Auditor())
    match = played.match

    assert match.phase == phases.ENDED
    assert match.winners
    assert played.ended_by in {"last_standing", "round_cap"}
    assert match.round <= match.rules.round_cap
    assert seats <= played.dice_moves < played.commands < COMMANDS_MOST
    assert played.ended_ms >= setup.start_ms + THINKING_MS * (played.commands - 1)


def test_most_matches_end_by_bankruptcy_long_before_the_cap() -> None:
    played = [run_match(set_up("opolyx.classic@2", 4, 1, number)) for number in range(40)]

    assert [match.ended_by for match in played].count("last_standing") >= 36
    assert sum(match.match.round for match in played) < 40 * 100


def test_the_same_setup_gives_the_same_match() -> None:
    def record(setup: Setup) -> list[tuple[c.Command, int, list[e.Event]]]:
        seen: list[tuple[c.Command, int, list[e.Event]]] = []

        def watch(_: Match, command: c.Command, at_ms: int, events: Sequence[e.Event]) -> None:
            seen.append((command, at_ms, list(events)))

        run_match(setup, watch)
        return seen

    first = record(set_up("opolyx.speed@2", 3, 9, 4, ("shark", "steady")))

    assert first == record(set_up("opolyx.speed@2", 3, 9, 4, ("shark", "steady")))
    assert first != record(set_up("opolyx.speed@2", 3, 9, 5, ("shark", "steady")))
    assert first != record(set_up("opolyx.speed@2", 3, 8, 4, ("shark", "steady")))


def test_the_strengths_go_round_the_table() -> None:
    first = set_up("opolyx.classic@2", 4, 1, 0, ("novice", "shark", "steady"))
    second = set_up("opolyx.classic@2", 4, 1, 1, ("novice", "shark", "steady"))

    assert first.strengths == ("novice", "shark", "steady", "novice")
    assert second.strengths == ("shark", "steady", "novice", "shark")
    assert first.match_id != second.match_id
    assert first.start_ms < second.start_ms


def test_a_match_that_cannot_be_made_says_all_that_repeats_it() -> None:
    setup = set_up("opolyx.teams@2", 5, 1, 0)

    with pytest.raises(BrokenPlayError, match=r"opolyx\.teams@2.*SETUP-1"):
        run_match(setup)


def test_records_follow_each_other_in_time() -> None:
    times: list[int] = []

    def watch(_: Match, command: c.Command, at_ms: int, events: Sequence[e.Event]) -> None:
        assert isinstance(command, c.CreateMatch) == (not times)
        assert events
        times.append(at_ms)

    run_match(set_up("opolyx.classic@1", 2, 1, 0), watch)

    assert times == sorted(times)
    assert len(set(times)) == len(times)
