"""A record as bytes: what one accepted command did, written once and the same everywhere.

Readers open stored bytes and never write them anew: the hash is over the bytes.
"""

from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final, NamedTuple

from google.protobuf.message import DecodeError

from libs.kernel.ids import CommandId, MatchId
from libs.rules import events as e
from libs.wire.events import NewerSchemaError, UnreadableError, read_events, write_event
from libs.wire.shallow import shallow
from opolyx.record.v1 import record_pb2 as pb

VERSION: Final = 1
SIZE_MAX: Final = 256 * 1024
HASH_SIZE: Final = 32
GENESIS: Final = bytes(HASH_SIZE)
"""What the first record of a match chains on to."""

SYSTEM: Final = "system"
"""The actor of what a service sends by itself."""

_OPENED: Final = shallow(pb.Record)


@dataclass(slots=True)
class Record:
    """One accepted command and all its events. Never changed once it is made.

    *at_ms* and *fence* never fall within a match. *actor* is `seat:N`, `system`, or `operator:` and
    a player id.
    """

    match_id: MatchId
    first_seq: int
    fence: int
    command_id: CommandId
    actor: str
    at_ms: int
    events: list[e.Event]
    prev_hash: bytes

    @property
    def last_seq(self) -> int:
        """The sequence of its last event."""
        return self.first_seq + len(self.events) - 1


class StoredRecord(NamedTuple):
    """A record as it is stored, published and exported: its bytes and their place in the chain."""

    first_seq: int
    last_seq: int
    hash: bytes
    data: bytes


class RecordTooLargeError(ValueError):
    """A record is over 256 KiB: a bug, found before anything is committed."""


def chain_hash(prev_hash: bytes, data: bytes) -> bytes:
    """Return the hash of a record's bytes, which holds all records before it too."""
    return sha256(b"opolyx/record/1" + prev_hash + data).digest()


def encode(record: Record) -> bytes:
    """Return a record's bytes. Equal records give equal bytes.

    Raises:
        RecordTooLargeError: they are more than a record may have.

    """
    data: bytes = _OPENED(
        version=VERSION,
        match_id=record.match_id,
        first_seq=record.first_seq,
        last_seq=record.last_seq,
        fence=record.fence,
        command_id=record.command_id,
        actor=record.actor,
        at_ms=record.at_ms,
        events=[write_event(event) for event in record.events],
        prev_hash=record.prev_hash,
    ).SerializeToString(deterministic=True)
    if len(data) > SIZE_MAX:
        raise RecordTooLargeError(f"a record of {len(data)} bytes")
    return data


def decode(data: bytes) -> Record:
    """Read a record of any version up to this one.

    Raises:
        UnreadableError: these bytes are no record.
        NewerSchemaError: they were written by a newer opolyx.

    """
    envelope = open_envelope(data)
    # A slice is a plain list, made at once: several times as fast as to iterate over the field.
    events = read_events(envelope.events[:])
    if envelope.last_seq - envelope.first_seq + 1 != len(events):
        raise UnreadableError(f"the number of events is not {len(events)}")
    if len(envelope.prev_hash) != HASH_SIZE:
        raise UnreadableError("the hash of the record before is none")
    return record_of(envelope, events)


def open_envelope(data: bytes) -> Any:
    """Return a `pb.Record` whose events are still bytes. Raises what `decode` does."""
    try:
        envelope = _OPENED.FromString(data)
    except DecodeError as error:
        raise UnreadableError("these bytes are no record") from error
    if envelope.version != VERSION:
        if envelope.version > VERSION:
            raise NewerSchemaError(f"a record of version {envelope.version}")
        raise UnreadableError("a record without a version")
    return envelope


def record_of(envelope: Any, events: list[e.Event]) -> Record:
    """Return the record of an opened envelope, its events read."""
    return Record(
        MatchId(envelope.match_id),
        envelope.first_seq,
        envelope.fence,
        CommandId(envelope.command_id),
        envelope.actor,
        envelope.at_ms,
        events,
        envelope.prev_hash,
    )
