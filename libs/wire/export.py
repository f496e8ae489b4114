"""A match as a text file that anyone can check (`libs.verify`), in its one canonical spelling.

A line of JSON says what it is; one line for each record holds its place, its hash and its bytes;
a line of JSON holds the signed head; the last line is the hash of all bytes before it.
"""

import re
from collections.abc import Sequence
from hashlib import sha256
from typing import Final, NamedTuple

from libs.kernel.ids import MatchId
from libs.wire.heads import SignedHead
from libs.wire.record import StoredRecord

SUFFIX: Final = ".opolyx"
"""What the name of an export ends in."""


class Export(NamedTuple):
    """What an export holds. That its records are chained, `libs.wire.chain.follow` checks."""

    match_id: MatchId
    records: list[StoredRecord]
    head: SignedHead


class ExportError(ValueError):
    """These bytes are no export, or not in its canonical spelling; *line* counts from 1."""

    def __init__(self, line: int) -> None:
        self.line = line
        super().__init__(f"line {line} is not that of an export")


def write_export(match_id: MatchId, records: Sequence[StoredRecord], head: SignedHead) -> bytes:
    """Return the export of a match. The same match gives the same bytes."""
    ended = "true" if head.ended else "false"
    trailer = (
        f'{{"last_seq":{head.last_seq},"hash":"{head.hash.hex()}","ended":{ended},'
        f'"key_id":"{head.key_id}","signature":"{head.signature.hex()}"}}'
    )
    lines = [
        f'{{"format":"opolyx/export/1","match_id":"{match_id}","records":{len(records)}}}',
        *(f"{r.first_seq} {r.last_seq} {r.hash.hex()} {r.data.hex()}" for r in records),
        trailer,
    ]
    text = "".join(f"{line}\n" for line in lines).encode("ascii")
    return text + sha256(text).hexdigest().encode("ascii") + b"\n"


def read_export(data: bytes) -> Export:
    """Read an export.

    Raises:
        ExportError: it is none; what is wrong with it in full, `opolyx verify` tells.

    """
    lines = data.decode("ascii", errors="replace").split("\n")
    header = _match(_HEADER, lines, 0)
    count = int(header["records"])
    if len(lines) != count + _LINES_AROUND:
        raise ExportError(min(count, len(lines)) + 1)
    records = [_record(lines, number) for number in range(1, count + 1)]
    trailer = _match(_TRAILER, lines, count + 1)
    head = SignedHead(
        int(trailer["last_seq"]),
        bytes.fromhex(trailer["hash"]),
        trailer["ended"] == "true",
        trailer["key_id"],
        bytes.fromhex(trailer["signature"]),
    )
    export = Export(MatchId(header["match_id"]), records, head)
    if write_export(*export) != data:
        raise ExportError(count + _LINES_AROUND - 1)
    return export


_LINES_AROUND: Final = 4
"""A header, a trailer, a hash, and what `split` finds after the last line feed."""

_NUMBER: Final = "0|[1-9][0-9]{0,18}"
_HEADER: Final = re.compile(
    r'{"format":"opolyx/export/1","match_id":"(?P<match_id>[0-9a-f-]{36})",'
    rf'"records":(?P<records>{_NUMBER})}}'
)
_RECORD: Final = re.compile(
    rf"(?P<first>{_NUMBER}) (?P<last>{_NUMBER}) (?P<hash>[0-9a-f]{{64}}) "
    r"(?P<data>(?:[0-9a-f]{2})+)"
)
_TRAILER: Final = re.compile(
    rf'{{"last_seq":(?P<last_seq>{_NUMBER}),"hash":"(?P<hash>[0-9a-f]{{64}})",'
    r'"ended":(?P<ended>true|false),"key_id":"(?P<key_id>[a-z0-9-]{1,64})",'
    r'"signature":"(?P<signature>[0-9a-f]{128})"}'
)


def _match(pattern: re.Pattern[str], lines: Sequence[str], index: int) -> re.Match[str]:
    matched = pattern.fullmatch(lines[index])
    if matched is None:
        raise ExportError(index + 1)
    return matched


def _record(lines: Sequence[str], index: int) -> StoredRecord:
    first, last, hash_, data = _match(_RECORD, lines, index).group("first", "last", "hash", "data")
    return StoredRecord(int(first), int(last), bytes.fromhex(hash_), bytes.fromhex(data))
