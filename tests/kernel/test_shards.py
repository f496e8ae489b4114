"""Every part of the system finds the same shard for a match (write protocol, W1)."""

from hypothesis import given
from hypothesis import strategies as st

from libs.kernel.ids import MatchId
from libs.kernel.shards import SHARDS, shard_of


def test_a_shard_is_what_the_protocol_says() -> None:
    # The SHA-256 of this id begins with these bytes, by another program.
    expected = 0x2EFD95A85DE18378 % 64

    assert shard_of(MatchId("01920000-0000-7000-8000-000000000000")) == expected


@given(st.uuids())
def test_every_match_has_a_shard(match_id: object) -> None:
    assert 0 <= shard_of(MatchId(str(match_id))) < SHARDS
