"""Checks the export of a match: `python verify.py FILE [--key KEYFILE]`.

This module needs Python's standard library and nothing else, shares no code with the game that it
checks, and is meant to be read. What it proves of a file:

- It is an export in its one spelling, and of none of its bytes can it be said that another would
  have done as well: every line is matched whole, and the last is the hash of all before it.
- Its records follow each other without a gap; each holds the hash of the one before it, and what a
  record says of itself (match, sequences, fence, time) fits its place.
- The engine fixed its secret seed before the match began, and revealed that very seed at the end.
- Every draw of chance (first seat, dice, third die, jackpot die) follows from that seed and from
  the seeds that the players gave, under the label of its kind, and no draw was skipped: whoever
  draws again until the dice please leaves a gap in the counters.
- With a key: whoever holds that key signed this very end of this very match. Without one, a file
  that somebody wrote from beginning to end looks like any other.

Whether the moves were legal is not its business: that takes the rules of the game, and whoever
knows those can play the match again with what was drawn.

It exits with 0 if all is well, 6 on any mismatch, 3 without such a file, 2 for a key file that is
none.
"""

import argparse
import hashlib
import hmac
import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

OK: Final = 0
NO_KEYS: Final = 2
NO_FILE: Final = 3
MISMATCH: Final = 6


@dataclass(frozen=True)
class Report:
    """What came out: an exit code, and lines for people, the first of which says it all."""

    code: int
    lines: tuple[str, ...]


def main(arguments: Sequence[str] | None = None) -> int:
    """Check the file that the command line names, print the report, return the exit code."""
    parser = argparse.ArgumentParser(prog="verify", description="Check the export of a match.")
    parser.add_argument("file", help="an export")
    parser.add_argument("--key", help="a file of public keys, to authenticate the signed head")
    options = parser.parse_args(arguments)
    report = verify(options.file, options.key)
    for line in report.lines:
        print(line.encode("ascii", "backslashreplace").decode("ascii"))  # noqa: T201
    return report.code


def verify(path: str | Path, key_path: str | Path | None = None) -> Report:
    """Check the export in the file *path*, its head against the keys in the file *key_path*."""
    keys = None
    if key_path is not None:
        try:
            keys = _read_keys(Path(key_path).read_bytes())
        except OSError:
            return Report(NO_FILE, (f"no such key file: {key_path}",))
        except (ValueError, RecursionError):
            return Report(NO_KEYS, (f"not a key file: {key_path}",))
    try:
        # Pipes and devices could go on for ever, or never begin.
        if not Path(path).is_file():
            return Report(NO_FILE, (f"no such file: {path}",))
        with Path(path).open("rb") as file:
            return _verify(_Lines(file), keys)
    except OSError:
        return Report(NO_FILE, (f"no such file: {path}",))
    except _MismatchError as mismatch:
        where = f", record {mismatch.line - 1}" if mismatch.in_record else ""
        return Report(MISMATCH, (f"mismatch in line {mismatch.line}{where}: {mismatch.what}",))


class _MismatchError(Exception):
    """The first thing that is wrong, and the line it is in; line 2 is that of record 1."""

    def __init__(self, line: int, what: str, *, in_record: bool = False) -> None:
        super().__init__(what)
        self.line = line
        self.what = what
        self.in_record = in_record


# The file: four kinds of lines, each in one spelling.

_NUMBER: Final = "(0|[1-9][0-9]{0,18})"
_HEADER: Final = re.compile(
    r'\{"format":"opolyx/export/1",'
    r'"match_id":"([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})",'
    rf'"records":{_NUMBER}\}}'
)
_RECORD: Final = re.compile(rf"{_NUMBER} {_NUMBER} ([0-9a-f]{{64}}) ((?:[0-9a-f]{{2}})+)")
_TRAILER: Final = re.compile(
    rf'\{{"last_seq":{_NUMBER},"hash":"([0-9a-f]{{64}})","ended":(true|false),'
    r'"key_id":"([a-z0-9-]{1,64})","signature":"([0-9a-f]{128})"\}'
)
_RECORD_SIZE_MAX: Final = 256 * 1024
_LINE_SIZE_MAX: Final = 2 * _RECORD_SIZE_MAX + 200
_INT64_END: Final = 1 << 63


class _Lines:
    """The lines of a file, counted from 1, and the hash of all bytes read so far."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.number = 0
        self.records = 0
        self.hash = hashlib.sha256()

    def next(self, pattern: re.Pattern[str], kind: str) -> re.Match[str]:
        """Return the next line, which must match whole."""
        read = self._file.readline(_LINE_SIZE_MAX)
        self.number += 1
        if not read.endswith(b"\n"):
            if len(read) == _LINE_SIZE_MAX:
                raise _MismatchError(self.number, "the line is longer than any can be")
            ends = "is empty" if self.number == 1 and not read else "ends in its first line"
            if self.number > 1:
                ends = f"ends after record {self.records}"
            raise _MismatchError(self.number, f"the file {ends}")
        self.hash.update(read)
        matched = pattern.fullmatch(read[:-1].decode("ascii", errors="replace"))
        if matched is None:
            raise _MismatchError(self.number, f"this is not {kind} in its one spelling")
        return matched

    def expect_end(self) -> None:
        """Make sure that nothing follows."""
        if self._file.read(1):
            raise _MismatchError(self.number + 1, "something follows after the end")


def _verify(lines: _Lines, keys: dict[str, bytes] | None) -> Report:
    match_id, count = lines.next(_HEADER, "the first line of an export").groups()
    if int(count) == 0:
        raise _MismatchError(1, "a match has at least one record")
    story = _Story(match_id)
    for number in range(1, int(count) + 1):
        first, last, stored, data = lines.next(_RECORD, "a record").groups()
        try:
            story.tell(int(first), int(last), bytes.fromhex(stored), bytes.fromhex(data))
        except ValueError as error:
            raise _MismatchError(lines.number, str(error), in_record=True) from None
        lines.records = number
    if story.seed:
        _redraw(story)
    key_id = _check_end(lines, story, keys)
    what = f"match {match_id}: {count} records, {story.last_seq} events, {len(story.draws)} draws"
    first_line = f"ok: {what}" if story.seed else f"unfinished, and well so far: {what}"
    head = f"the head is signed by {key_id}" if keys is not None else _NOT_AUTHENTICATED
    return Report(OK, (first_line, head))


_NOT_AUTHENTICATED: Final = "the head is not authenticated: give --key"


def _check_end(lines: _Lines, story: "_Story", keys: dict[str, bytes] | None) -> str:
    """Check the signed head and the last line; return the name of the key."""
    last_seq, stored, ended, key_id, signature = lines.next(_TRAILER, "the head").groups()

    def demand(holds: bool, what: str) -> None:  # noqa: FBT001
        if not holds:
            raise _MismatchError(lines.number, what)

    demand(int(last_seq) == story.last_seq, f"the last event is {story.last_seq}")
    demand(stored == story.last_hash.hex(), "the hash is not that of the last record")
    is_over = "true" if story.seed else "false"
    demand(ended == is_over, f"whether the match has ended is {is_over}")
    if keys is not None:
        demand(key_id in keys, f"the key {key_id} is not in the key file")
        message = b"opolyx/head/1" + story.match_id.encode() + story.last_seq.to_bytes(8, "big")
        message += story.last_hash + bytes([ended == "true"])
        is_signed = is_signature(keys[key_id], message, bytes.fromhex(signature))
        demand(is_signed, f"the key {key_id} did not sign this head")
    expected = lines.hash.hexdigest()
    (written,) = lines.next(re.compile("([0-9a-f]{64})"), "the hash of the file").groups()
    demand(written == expected, "this is not the hash of the lines before it")
    lines.expect_end()
    return key_id


def _read_keys(text: bytes) -> dict[str, bytes]:
    """Read a key file; anything that is none is a ValueError."""
    try:
        listed = json.loads(text)["keys"]
        keys = {str(key["key_id"]): bytes.fromhex(key["public_key"]) for key in listed}
    except (LookupError, TypeError, AttributeError) as error:
        raise ValueError("not a key file") from error
    if len(keys) != len(listed) or any(len(key) != _KEY_SIZE for key in keys.values()):
        raise ValueError("not a key file")
    return keys


# What a match's records tell. Whatever is wrong is a ValueError that says so.

_COMMAND_ID: Final = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_ACTOR: Final = re.compile("seat:[0-9]{1,3}|system|operator:[0-9a-f-]{36}")

# Numbers in opolyx/record/v1: of the fields of Record, then of the events that are looked into.
_VERSION, _MATCH_ID, _FIRST_SEQ, _LAST_SEQ, _FENCE, _COMMAND, _ACTOR_OF, _AT_MS = range(1, 9)
_EVENTS, _PREV_HASH = 9, 10
MATCH_CREATED: Final = 16
SEED_CONTRIBUTED: Final = 17
MATCH_STARTED: Final = 18
DICE_ROLLED: Final = 24
JACKPOT_ROLLED: Final = 60
MATCH_ENDED: Final = 70
SEED_REVEALED: Final = 71
MATCH_ABORTED: Final = 72


class _Draw(NamedTuple):
    """A draw as it was recorded: *values* are a seat of *seats*, or dice."""

    record: int
    label: str
    counter: int
    blocks: int
    values: tuple[int, ...]


@dataclass
class _Story:
    """What the records told so far."""

    match_id: str
    records: int = 0
    last_seq: int = 0
    last_hash: bytes = bytes(32)
    fence: int = 0
    at_ms: int = 0
    commands: dict[str, int] = field(default_factory=dict)
    seats: int = 0
    commitment: bytes = b""
    client_seeds: dict[int, bytes] = field(default_factory=dict)
    is_over: bool = False
    seed: bytes = b""
    draws: list[_Draw] = field(default_factory=list)
    next_block: int = 0

    def tell(self, first: int, last: int, stored: bytes, data: bytes) -> None:
        """Take the next record in, or say what is wrong with it."""
        self.records += 1
        _demand(len(data) <= _RECORD_SIZE_MAX, "the record is over 256 KiB")
        _demand(first == self.last_seq + 1, f"it begins at {first} and not {self.last_seq + 1}")
        chained = hashlib.sha256(b"opolyx/record/1" + self.last_hash + data).digest()
        _demand(stored == chained, "the hash is not that of these bytes and those before them")
        record = _Message(data)
        _demand(record.number(_VERSION) == 1, "the version of the record is not 1")
        _demand(record.text(_MATCH_ID) == self.match_id, "the record is of another match")
        fits = record.number(_FIRST_SEQ) == first and record.number(_LAST_SEQ) == last
        _demand(fits, "the record has other sequences than its line")
        _demand(record.raw(_PREV_HASH) == self.last_hash, "another record went before it")
        _demand(record.number(_FENCE) >= self.fence, "the fence fell")
        _demand(record.number(_AT_MS) >= self.at_ms, "time fell")
        command_id = record.text(_COMMAND)
        _demand(_COMMAND_ID.fullmatch(command_id) is not None, "the command's id is no UUID")
        before = self.commands.setdefault(command_id, self.records)
        _demand(before == self.records, f"the command's id is that of record {before} too")
        _demand(_ACTOR.fullmatch(record.text(_ACTOR_OF)) is not None, "the actor is nobody")
        events = record.all(_EVENTS)
        _demand(len(events) == last - first + 1 > 0, f"it has {len(events)} events")
        for event in events:
            self._happen(*_Message(event).only())
        _demand(self.is_over == bool(self.seed), "the match is over, but its seed is not revealed")
        self.fence, self.at_ms = record.number(_FENCE), record.number(_AT_MS)
        self.last_seq, self.last_hash = last, chained

    def _happen(self, kind: int, event: "_Message") -> None:
        _demand(bool(self.seats) or kind == MATCH_CREATED, "the match was not created first")
        _demand(not self.seed, "something happens after the seed was revealed")
        _demand(not self.is_over or kind == SEED_REVEALED, "something happens after the end")
        if kind in _TELLERS:
            _TELLERS[kind](self, event)

    def created(self, event: "_Message") -> None:
        """Take the commitment, before anything else can happen."""
        _demand(not self.seats, "the match is created twice")
        _demand(event.text(1) == self.match_id, "another match is created")
        self.seats, self.commitment = len(event.all(4)), event.raw(5)
        _demand(2 <= self.seats <= 255, f"a match for {self.seats}")  # noqa: PLR2004
        _demand(len(self.commitment) == 32, "the commitment is none")  # noqa: PLR2004

    def contributed(self, event: "_Message") -> None:
        """Take a client seed: once for each seat, before the first draw."""
        seat, given = event.number(1), event.raw(2)
        _demand(seat < self.seats, f"there is no seat {seat}")
        _demand(seat not in self.client_seeds, f"seat {seat} gives a second seed")
        _demand(not self.draws, f"seat {seat} gives a seed after the first draw")
        _demand(not given or 16 <= len(given) <= 32, "a client seed has 16 to 32 bytes")  # noqa: PLR2004
        self.client_seeds[seat] = given

    def started(self, event: "_Message") -> None:
        """Take the draw of the first seat."""
        _demand(not self.draws, "the match starts twice")
        self._drew("first", event.message(2), event.number(1))

    def rolled(self, event: "_Message") -> None:
        """Take a roll of two dice or three."""
        dice = [event.number(2), event.number(3)]
        third = event.number(4)
        self._drew("roll", event.message(5), *dice, *([third] if third else []))

    def jackpot(self, event: "_Message") -> None:
        """Take a roll of the jackpot die."""
        self._drew("jackpot", event.message(4), event.number(2))

    def _drew(self, label: str, draw: "_Message", *values: int) -> None:
        told, counter, blocks = draw.text(1), draw.number(2), draw.number(3)
        _demand(told == label, f"the draw is labelled {told} and not {label}")
        _demand(bool(self.draws) or label == "first", "dice fall before the match has started")
        _demand(counter == self.next_block, f"it draws block {counter} and not {self.next_block}")
        # The number of blocks is written only where it is more than one.
        _demand(blocks != 1, "the number of blocks is not in its one spelling")
        self.draws.append(_Draw(self.records, label, counter, blocks or 1, values))
        self.next_block = counter + (blocks or 1)

    def ended(self, _: "_Message") -> None:
        """Take the end, after which only the seed may come."""
        self.is_over = True

    def revealed(self, event: "_Message") -> None:
        """Take the seed, and hold it to the commitment."""
        _demand(self.is_over, "the seed is revealed before the end")
        self.seed = event.raw(1)
        _demand(len(self.seed) == 32, "the seed has not 32 bytes")  # noqa: PLR2004
        text = b"opolyx/fair/1/commit" + self.match_id.encode() + self.seed
        is_committed = hashlib.sha256(text).digest() == self.commitment
        _demand(is_committed, "the seed is not the one that was committed to")


_TELLERS: Final[dict[int, Callable[[_Story, "_Message"], None]]] = {
    MATCH_CREATED: _Story.created,
    SEED_CONTRIBUTED: _Story.contributed,
    MATCH_STARTED: _Story.started,
    DICE_ROLLED: _Story.rolled,
    JACKPOT_ROLLED: _Story.jackpot,
    MATCH_ENDED: _Story.ended,
    MATCH_ABORTED: _Story.ended,
    SEED_REVEALED: _Story.revealed,
}


def _demand(holds: bool, what: str) -> None:  # noqa: FBT001 - reads as a sentence
    if not holds:
        raise ValueError(what)


# Protocol buffers: a message is a row of fields, each a number, a kind and a value.


class _Message:
    """The fields of one message by number. Unknown ones are passed over, as the schema grows."""

    def __init__(self, data: bytes) -> None:
        self._fields: dict[int, list[int | bytes]] = {}
        at = 0
        while at < len(data):
            tag, at = _varint(data, at)
            number, kind = tag >> 3, tag & 7
            _demand(number > 0, "the bytes are no message")
            value: int | bytes
            if kind == 0:
                value, at = _varint(data, at)
            else:
                if kind == 2:  # noqa: PLR2004 - length-delimited
                    size, at = _varint(data, at)
                else:
                    size = {1: 8, 5: 4}.get(kind, -1)
                _demand(0 <= size <= len(data) - at, "the bytes are no message")
                value, at = data[at : at + size], at + size
            self._fields.setdefault(number, []).append(value)

    def all(self, number: int) -> list[bytes]:
        """Return every value of a repeated field of bytes or messages."""
        values = self._fields.get(number, [])
        found = [value for value in values if isinstance(value, bytes)]
        _demand(len(found) == len(values), f"field {number} is of another kind")
        return found

    def raw(self, number: int) -> bytes:
        """Return a field of bytes, empty if it is absent."""
        found = self.all(number)
        _demand(len(found) <= 1, f"field {number} is there twice")
        return found[0] if found else b""

    def text(self, number: int) -> str:
        """Return a field of text. All that is looked at here is ASCII."""
        return self.raw(number).decode("ascii", errors="replace")

    def message(self, number: int) -> "_Message":
        """Return a field that is a message itself."""
        return _Message(self.raw(number))

    def number(self, number: int) -> int:
        """Return a number, 0 if it is absent. None that is looked at here is ever negative."""
        found = self._fields.get(number, [0])
        _demand(len(found) == 1, f"field {number} is there twice")
        value = found[0]
        if not isinstance(value, int) or value >= _INT64_END:
            raise ValueError(f"field {number} is no number that fits")
        return value

    def only(self) -> tuple[int, "_Message"]:
        """Return the only field, as its number and the message that it is."""
        _demand(len(self._fields) == 1, "an event is not one thing")
        (number,) = self._fields
        return number, self.message(number)


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Read a number of seven bits a byte, the lowest first; return it and where it ends."""
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            break
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:  # noqa: PLR2004 - no further byte
            return value, at
    raise ValueError("the bytes are no message")


# Chance (FAIR-1): all values come from blocks of 32 bytes that a key, a label and a counter make.


def _redraw(story: _Story) -> None:
    """Draw everything again, in order."""
    text = b"opolyx/fair/1" + story.match_id.encode()
    for seat, given in sorted(story.client_seeds.items()):
        if given:
            text += bytes([seat, len(given)]) + given
    key = hmac.digest(story.seed, text, "sha256")
    for draw in story.draws:
        blocks = _Blocks(key, draw.label, draw.counter)
        if draw.label == "first":
            drawn = [blocks.below(story.seats)]
        else:
            drawn = [blocks.die() for _ in draw.values]
        if len(drawn) == 3:  # noqa: PLR2004 - the third die has two X: faces 5 and 6
            drawn[2] = min(drawn[2], 5)
        what = ""
        if drawn != list(draw.values):
            what = f"{draw.label} is {_said(draw.values)}, but the seed gives {_said(drawn)}"
        elif blocks.used != draw.blocks:
            what = f"{draw.label} takes {blocks.used} blocks and not {draw.blocks}"
        if what:
            raise _MismatchError(draw.record + 1, what, in_record=True)


def _said(values: Sequence[int]) -> str:
    return " ".join(map(str, values))


class _Blocks:
    """The bytes of the blocks from one counter on; *used* is how many blocks were opened."""

    def __init__(self, key: bytes, label: str, counter: int) -> None:
        self.used = 0
        self._bytes = self._open(key, label.encode() + b"\0", counter)

    def _open(self, key: bytes, label: bytes, counter: int) -> Iterator[int]:
        while True:
            number = counter + self.used
            self.used += 1
            yield from hmac.digest(key, label + number.to_bytes(8, "big"), "sha256")

    def die(self) -> int:
        """Return the next die: 252 is 42 times 6, so bytes from there on are not fair."""
        return next(byte for byte in self._bytes if byte < 252) % 6 + 1  # noqa: PLR2004

    def below(self, count: int) -> int:
        """Return the next number below *count*, out of words of 8 bytes."""
        while True:
            word = int.from_bytes(bytes(next(self._bytes) for _ in range(8)), "big")
            if word < (1 << 64) // count * count:
                return word % count


# Ed25519 (RFC 8032), checking only; slow and plain. Nothing here is secret.

_KEY_SIZE: Final = 32
_P: Final = 2**255 - 19
_ORDER: Final = 2**252 + 27742317777372353535851937790883648493
_D: Final = -121665 * pow(121666, -1, _P) % _P
_ROOT: Final = pow(2, (_P - 1) // 4, _P)
"""A square root of -1."""

_Point = tuple[int, int, int, int]
"""A point (X : Y : Z : T) with x = X/Z, y = Y/Z and x y = T/Z."""

_NEUTRAL: Final[_Point] = (0, 1, 1, 0)


def is_signature(public_key: bytes, message: bytes, signature: bytes) -> bool:
    """Tell whether the holder of a key signed a message.

    Strict: points and numbers in their one spelling, and no points of small order, with which a
    signature could fit several messages.
    """
    key, commitment = _point(public_key), _point(signature[:32])
    number = int.from_bytes(signature[32:], "little")
    if key is None or commitment is None or number >= _ORDER:
        return False
    if _is_small(key) or _is_small(commitment):
        return False
    hashed = hashlib.sha512(signature[:32] + public_key + message).digest()
    challenge = int.from_bytes(hashed, "little") % _ORDER
    # [number] B = R + [challenge] A, as R = [number] B + [challenge] (-A).
    x, y, z, t = key
    return _is_same(commitment, _combine(number, _BASE, challenge, (-x % _P, y, z, -t % _P)))


def _point(spelled: bytes) -> _Point | None:
    """Read a point: y, and in the highest bit whether x is odd. None if it is no point."""
    number = int.from_bytes(spelled, "little")
    y, odd = number & ((1 << 255) - 1), number >> 255
    if y >= _P:
        return None
    square = (y * y - 1) * pow(_D * y * y + 1, -1, _P) % _P
    x = pow(square, (_P + 3) // 8, _P)
    if x * x % _P != square:
        x = x * _ROOT % _P
    if x * x % _P != square or (x == 0 and odd):
        return None
    if x % 2 != odd:
        x = _P - x
    return x, y, 1, x * y % _P


def _add(one: _Point, other: _Point) -> _Point:
    """Add two points, which may be the same (RFC 8032, 5.1.4)."""
    x1, y1, z1, t1 = one
    x2, y2, z2, t2 = other
    a = (y1 - x1) * (y2 - x2) % _P
    b = (y1 + x1) * (y2 + x2) % _P
    c = 2 * t1 * t2 * _D % _P
    d = 2 * z1 * z2 % _P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


def _combine(number: int, point: _Point, other_number: int, other: _Point) -> _Point:
    """Return [number] point + [other_number] other, bit by bit from the top."""
    sums = (_NEUTRAL, point, other, _add(point, other))
    result = _NEUTRAL
    for bit in reversed(range(256)):
        result = _add(result, result)
        result = _add(result, sums[(number >> bit & 1) + 2 * (other_number >> bit & 1)])
    return result


def _is_same(one: _Point, other: _Point) -> bool:
    x_is = (one[0] * other[2] - other[0] * one[2]) % _P == 0
    return x_is and (one[1] * other[2] - other[1] * one[2]) % _P == 0


def _is_small(point: _Point) -> bool:
    """Tell whether eight times the point is nothing."""
    for _ in range(3):
        point = _add(point, point)
    return _is_same(point, _NEUTRAL)


_BASE_POINT: Final = _point((4 * pow(5, -1, _P) % _P).to_bytes(32, "little"))
assert _BASE_POINT is not None
_BASE: Final[_Point] = _BASE_POINT


if __name__ == "__main__":
    sys.exit(main())
