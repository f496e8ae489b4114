"""Matches by the dozen under audit; `tests.simulation.many` plays thousands."""

import pytest

from tests.simulation.many import TABLES, play_all


@pytest.mark.slow
def test_dozens_of_matches_of_every_rule_set_keep_all_laws() -> None:
    played = list(play_all(matches=40, jobs=1))

    assert [(rule_set, seats) for rule_set, seats, _ in played] == list(TABLES)
    for _, _, outcome in played:
        assert outcome.matches == 40
        assert sum(outcome.ended_by.values()) == 40
        assert outcome.ended_by["last_standing"] > 30
