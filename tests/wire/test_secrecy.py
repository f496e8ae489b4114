"""What an onlooker with the whole log can know before a match is over."""

import pytest

from libs.kernel.chance import derive_key
from libs.rules import events as e
from libs.rules.match import Match
from libs.rules.rule_sets import RULE_SETS
from libs.wire.chain import follow, rebuild
from tests.support.matches import play_match, play_to_an_end


@pytest.mark.parametrize("rule_set", RULE_SETS)
def test_no_record_before_the_last_holds_what_predicts_a_draw(rule_set: str) -> None:
    """FAIR-2: neither the seed nor the key that follows from it, in any spelling."""
    table = play_to_an_end(rule_set, seed=3)
    client_seeds = table.match.client_seeds
    key = derive_key(table.chain.match_id, table.seed, client_seeds)

    for record in table.records[:-1]:
        for secret in (table.seed, key):
            assert secret not in record.data
            assert secret.hex().encode() not in record.data.lower()
    assert table.seed in table.records[-1].data


def test_the_seed_is_in_the_last_event_alone() -> None:
    """FAIR-2: it comes when there is nothing left to draw."""
    table = play_to_an_end(seed=3)
    events = [event for record in follow(table.records) for event in record.events]

    assert [type(event) for event in events].count(e.SeedRevealed) == 1
    assert events[-1] == e.SeedRevealed(table.seed)


def test_a_rebuilt_match_knows_no_seed() -> None:
    """FAIR-2: what is read from the log, by whomever, is not enough to draw."""
    rebuilt = rebuild(play_match(records_max=200, seed=3).records)
    secret = play_match(records_max=1, seed=3).seed

    assert isinstance(rebuilt, Match)
    for name in Match.__slots__:
        assert secret not in _bytes_in(getattr(rebuilt, name)), name


def _bytes_in(value: object) -> list[object]:
    if isinstance(value, list | tuple):
        return [part for item in value for part in _bytes_in(item)]
    return [value]
