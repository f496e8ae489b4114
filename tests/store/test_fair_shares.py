"""Shards are shared out alike, and stay where they are if they can."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from libs.kernel.shards import SHARDS
from libs.store.ownership import fair_shares

ENGINES = st.sampled_from([f"engine-{n}" for n in range(9)])
SHARD = st.integers(0, SHARDS - 1)


@given(st.sets(ENGINES, min_size=1), st.dictionaries(SHARD, ENGINES))
def test_every_shard_is_given_to_one_that_lives_and_all_get_alike(
    living: set[str], holders: dict[int, str]
) -> None:
    shares = fair_shares(living, holders)

    sizes = Counter(shares.values())
    assert shares.keys() == set(range(SHARDS))
    assert sizes.keys() == living
    assert max(sizes.values()) - min(sizes.values()) <= 1


@given(st.sets(ENGINES, min_size=1), st.dictionaries(SHARD, ENGINES))
def test_no_more_shards_move_than_must(living: set[str], holders: dict[int, str]) -> None:
    shares = fair_shares(living, holders)

    kept = Counter(name for shard, name in holders.items() if shares[shard] == name)
    held = Counter(name for name in holders.values() if name in living)
    sizes = Counter(shares.values())
    assert kept == Counter({name: min(held[name], sizes[name]) for name in held})


@given(st.sets(ENGINES, min_size=1), st.dictionaries(SHARD, ENGINES))
def test_shares_that_were_given_out_stay_as_they_are(
    living: set[str], holders: dict[int, str]
) -> None:
    shares = fair_shares(living, holders)

    assert fair_shares(living, shares) == shares


def test_without_an_engine_there_are_no_shares() -> None:
    assert fair_shares((), {3: "gone"}) == {}
