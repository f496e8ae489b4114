"""Which shard a match belongs to: the unit in which engines share the matches out (W1)."""

from functools import lru_cache
from hashlib import sha256
from typing import Final

from libs.kernel.ids import MatchId

SHARDS: Final = 64


@lru_cache(maxsize=1 << 15)  # asked several times for each command
def shard_of(match_id: MatchId) -> int:
    """Return a match's shard, from 0: the first 8 bytes of SHA-256(match_id) mod 64."""
    return int.from_bytes(sha256(match_id.encode("ascii")).digest()[:8], "big") % SHARDS
