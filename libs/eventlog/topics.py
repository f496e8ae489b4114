"""The topics that there are, and which partition a key belongs to. Names are kept for ever."""

from dataclasses import dataclass
from hashlib import sha256
from typing import Final

PARTITIONS: Final = 64
"""Of every topic. Kept for ever: another number would tear the order of every key apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """A topic: who writes it, what its keys are, and what one of its values is."""

    name: str
    key: str
    value: str
    writer: str


MATCH_RECORDS: Final = Topic(
    name="opolyx.match-records.v1",
    key="match id",
    value="opolyx.record.v1.Record, the bytes that were hashed",
    writer="match_engine",
)
MATCH_HEADS: Final = Topic(
    name="opolyx.match-heads.v1",
    key="match id",
    value="opolyx.match.v1.SignedHead, of a match that is over",
    writer="match_engine",
)
LOBBY_EVENTS: Final = Topic(
    name="opolyx.lobby-events.v1",
    key="room id",
    value="opolyx.lobby.v1.RoomRecord, one accepted command",
    writer="lobby",
)
PROGRESSION_EVENTS: Final = Topic(
    name="opolyx.progression-events.v1",
    key="player id",
    value="opolyx.progression.v1.ProgressionEvent",
    writer="progression",
)

TOPICS: Final = (MATCH_RECORDS, MATCH_HEADS, LOBBY_EVENTS, PROGRESSION_EVENTS)

DEAD_SUFFIX: Final = ".dead"


def dead(topic: str) -> str:
    """Return the topic where what can never be handled goes; a dead topic has none of its own."""
    assert not topic.endswith(DEAD_SUFFIX), topic
    return topic + DEAD_SUFFIX


def partition_of(key: str) -> int:
    """Return the partition of a key: the first 8 bytes of its SHA-256, modulo 64.

    Explicit, since client libraries disagree about their default. A match's shard is the same (W1).
    """
    return int.from_bytes(sha256(key.encode()).digest()[:8], "big") % PARTITIONS


# Headers: whoever reads by a tool sees what an entry is without opening its bytes.
TYPE: Final = "type"
"""The full name of the value's message."""

SCHEMA: Final = "schema"
"""The version of that message, a decimal number."""

SEQUENCE: Final = "sequence"
"""The value's place in the stream of its key, a decimal number: of a record, its first event's."""
