"""The laws of `test_properties`, held against whole matches and against much more nonsense."""

import pytest

from libs.rules.decide import decide
from libs.rules.evolve import replay
from libs.rules.legal import Choice, legal_commands
from libs.rules.refusals import Refusal
from libs.rules.rule_sets import rule_set
from libs.rules.snapshot import state_hash
from tests.support.builders import RULE_SETS, everything
from tests.support.invariants import assert_sound
from tests.support.nonsense import anything
from tests.support.walks import Dice, Walk

PATIENT = 10**9
"""Nobody ever surrenders, or lets a clock run out."""

ROUNDS = (1, 6, 40, 99, 150, 295)


def test_a_whole_match_ends_within_its_round_cap() -> None:
    """END-2."""
    walk = Walk("opolyx.speed@2", 2, 7).go(100_000)

    assert walk.is_over
    assert walk.match.round <= walk.match.rules.round_cap
    assert state_hash(replay(walk.events)) == state_hash(walk.match)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("rules", RULE_SETS)
def test_matches_of_the_patient_end_within_their_round_cap(rules: str, seed: int) -> None:
    """END-2: soundly, and in the state that their events make."""
    allowed = rule_set(rules).seats
    walk = Walk(rules, allowed[seed % len(allowed)], seed, surrenders=PATIENT, time_outs=PATIENT)
    while not walk.is_over:
        walk.go(50)
        assert_sound(walk.match)

    assert walk.match.round <= walk.match.rules.round_cap
    assert everything(replay(walk.events)) == everything(walk.match)


@pytest.mark.slow
@pytest.mark.parametrize("in_round", ROUNDS)
@pytest.mark.parametrize("rules", RULE_SETS)
def test_nonsense_is_accepted_if_and_only_if_it_is_listed(rules: str, in_round: int) -> None:
    """Some 10,000 commands at several hundred moments of each match."""
    dice = Dice(in_round)
    for seed in range(4):
        walk = Walk(rules, 4, 1_000 * in_round + seed).deal(in_round)
        for _ in range(300):
            if walk.is_over:
                break
            walk.step()
            for _ in range(8):
                command = anything(walk.match, dice)
                decision = decide(walk.match, command, walk.draws, walk.now)

                is_listed = legal_commands(walk.match, command.seat).allows(command)
                assert is_listed == (not isinstance(decision, Refusal)), (command, decision)


@pytest.mark.slow
@pytest.mark.parametrize("in_round", ROUNDS)
@pytest.mark.parametrize("rules", RULE_SETS)
def test_every_listed_choice_is_accepted_at_every_moment(rules: str, in_round: int) -> None:
    walk = Walk(rules, 4, in_round).deal(in_round)
    for _ in range(300):
        if walk.is_over:
            break
        walk.step()
        for seat in range(4):
            for entry in legal_commands(walk.match, seat):
                if isinstance(entry, Choice):
                    decision = decide(walk.match, entry.command, walk.draws, walk.now)

                    assert not isinstance(decision, Refusal), (entry, decision)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("rules", RULE_SETS)
def test_a_match_played_by_nonsense_stays_sound(rules: str, seed: int) -> None:
    dice = Dice(seed)
    walk = Walk(rules, 4, seed).deal((1, 50, 120, 295)[seed])
    for _ in range(4_000):
        if walk.is_over:
            break
        if dice.below(60) == 0:
            walk.step()
        walk.pass_time(dice.below(200))
        before = everything(walk.match)
        if isinstance(walk.send(anything(walk.match, dice)), Refusal):
            assert everything(walk.match) == before
        else:
            assert_sound(walk.match)
