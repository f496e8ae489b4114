"""Bots as a whole: pure, never refused, at home with every command, and stronger as they say."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, get_args

import pytest

from libs.bots.strengths import STRENGTHS
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules.legal import legal_commands
from libs.rules.match import Match
from libs.rules.views import view
from libs.simulation.playing import run_match, set_up
from tests.support.builders import RULE_SETS, TEAMS_2, everything

SEEDS: Final = range(3)
TABLES: Final = [(rule_set, 4) for rule_set in RULE_SETS] + [(TEAMS_2, 6)]


class Questions:
    """Asks every bot at every moment of a match, twice, whoever has to decide."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, match: Match, _: c.Command, at_ms: int, events: Sequence[e.Event]) -> None:
        before = everything(match)
        for seat in range(len(match.out)):
            for choose in STRENGTHS.values():
                legal = legal_commands(match, seat)
                command = choose(view(match, seat), legal)
                self.asked += 1

                assert command == choose(view(match, seat), legal)
                assert command is None or legal.allows(command), (command, at_ms, events)
        assert everything(match) == before


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("rule_set", "seats"), TABLES)
def test_whoever_is_asked_answers_alike_and_within_the_rules(
    rule_set: str, seats: int, seed: int
) -> None:
    questions = Questions()
    run_match(set_up(rule_set, seats, seed, 0, tuple(STRENGTHS)), Sampled(questions, 7))

    assert questions.asked


class Sampled:
    """Passes one command in so many on to another watch."""

    def __init__(self, watch: Questions, every: int) -> None:
        self._watch = watch
        self._every = every
        self._seen = 0

    def __call__(
        self, match: Match, command: c.Command, at_ms: int, events: Sequence[e.Event]
    ) -> None:
        self._seen += 1
        if self._seen % self._every == 0:
            self._watch(match, command, at_ms, events)


def test_every_command_that_a_bot_can_give_is_given_somewhere() -> None:
    given: Counter[type] = Counter()

    def count(_: Match, command: c.Command, at_ms: int, events: Sequence[e.Event]) -> None:
        assert at_ms
        assert events
        given[command.__class__] += 1

    for rule_set, seats in TABLES:
        for number in range(12):
            run_match(set_up(rule_set, seats, 3, number, tuple(STRENGTHS)), count)
    never = {
        c.ContributeSeed: "bots have no seed to give",
        c.Surrender: "a bot plays to the end",
        c.WithdrawTrade: "an own offer seldom goes bad before it is answered",
    }
    missing = [kind for kind in get_args(c.SeatCommand) if not given[kind] and kind not in never]

    assert not missing


def wins(stronger: str, weaker: str, rule_set: str, matches: int) -> float:
    """Return the share that the stronger one wins, with as many seats as the weaker."""
    seats = 0
    won = 0
    for number in range(matches):
        setup = set_up(rule_set, 4, 5, number, (stronger, weaker))
        for winner in run_match(setup).match.winners:
            seats += 1
            won += setup.strengths[winner] == stronger
    return won / seats


@pytest.mark.parametrize("rule_set", ["opolyx.classic@2", "opolyx.speed@1"])
@pytest.mark.parametrize(("weaker", "stronger"), list(pairwise(STRENGTHS)))
def test_the_stronger_win_more(weaker: str, stronger: str, rule_set: str) -> None:
    assert wins(stronger, weaker, rule_set, matches=60) > 0.52


@pytest.mark.slow
@pytest.mark.parametrize("rule_set", RULE_SETS)
@pytest.mark.parametrize(("weaker", "stronger"), list(pairwise(STRENGTHS)))
def test_the_stronger_win_clearly_more_often(weaker: str, stronger: str, rule_set: str) -> None:
    assert wins(stronger, weaker, rule_set, matches=200) > 0.54
