"""Records to store. The store never looks into their bytes, so these have none worth a look."""

import itertools
from hashlib import sha256
from typing import Final

from libs.kernel.ids import CommandId, MatchId, fresh_id
from libs.store.ports import NewRecord, SealedSeed
from libs.wire.record import StoredRecord

AT_MS: Final = 1_000_000
REQUEST: Final = sha256(b"a request").digest()
OTHER_REQUEST: Final = sha256(b"another request").digest()
SEED: Final = SealedSeed("a-key", b"sealed")

_numbers: Final = itertools.count()


def a_match_id() -> MatchId:
    return MatchId(fresh_id(AT_MS))


def a_command_id() -> CommandId:
    return CommandId(fresh_id(AT_MS))


def a_record(
    first_seq: int,
    events: int = 1,
    *,
    command_id: CommandId | None = None,
    request_hash: bytes = REQUEST,
    at_ms: int = AT_MS,
) -> NewRecord:
    """Make a record of that many events, unlike any other."""
    data = b"record %d" % next(_numbers)
    stored = StoredRecord(first_seq, first_seq + events - 1, sha256(data).digest(), data)
    return NewRecord(
        stored=stored,
        command_id=command_id or a_command_id(),
        request_hash=request_hash,
        at_ms=at_ms,
    )
