"""What the match engine asks of its store, whatever keeps it (write protocol, "Port" and "Data").

The store decides what happened in a match: whoever was told `Ok` has a durable record, and no two
records ever share a sequence. Each method is one atomic step, and each is safe to send again.
Sequences count a match's events from 1, times are integer milliseconds.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple, Protocol

from libs.kernel.ids import CommandId, MatchId
from libs.store.access import Access, Label
from libs.wire.heads import SignedHead
from libs.wire.record import StoredRecord

FIRST_FENCE: Final = 1
"""The fence of whoever creates a match: it may append at once, without loading."""

RECORDS_MAX: Final = 1000
"""How many records one read returns at most."""


class Status(StrEnum):
    """What a match's head says of it, so that nobody needs to replay it to know."""

    LIVE = "live"
    FROZEN = "frozen"
    ENDED = "ended"
    ABORTED = "aborted"

    @property
    def is_over(self) -> bool:
        """Whether nothing can happen to the match any more."""
        return self in (Status.ENDED, Status.ABORTED)


@dataclass(frozen=True, slots=True)
class Ok:
    """It is committed, and stays so whatever breaks next."""


@dataclass(frozen=True, slots=True)
class Dup:
    """The match's stream holds this command already; nothing was written.

    *last_seq* and *hash* are the reply that its sender was given, or is owed. Another
    *request_hash* than one's own means that the id was used for something else.
    """

    last_seq: int
    hash: bytes
    request_hash: bytes


@dataclass(frozen=True, slots=True)
class Conflict:
    """The head is not where it was expected, or there is none; nothing was written."""


@dataclass(frozen=True, slots=True)
class Fenced:
    """Somebody has loaded the match since, and writes it now; nothing was written."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """No answer came: it may be committed, may still be, or never was.

    Call `fence_and_load`, and look the command up, before anything is answered or done again (W6).
    """


Appended = Ok | Dup | Conflict | Fenced | Unknown
Created = Ok | Dup | Conflict | Unknown
Looked = Ok | Conflict | Fenced | Unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRecord:
    """A record to be appended, with what the store must know of it without reading its bytes."""

    stored: StoredRecord
    command_id: CommandId
    request_hash: bytes
    at_ms: int


class SealedSeed(NamedTuple):
    """A match's secret seed, encrypted under the key of that name."""

    key_id: str
    sealed: bytes


class Snapshot(NamedTuple):
    """A match's state after *seq*. A cache (W9): it may vanish, and its reader checks the hash."""

    seq: int
    rule_set: str
    schema_version: int
    state: bytes
    state_hash: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """How far a match has come, and how far it is published.

    *signed* is there when the match is over. *published_seq* is 0 before the first.
    """

    match_id: MatchId
    seq: int
    hash: bytes
    fence: int
    status: Status
    signed: SignedHead | None
    published_seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A match as its new writer finds it.

    *records* follow *snapshot*, or are all there are; the last ends at `head.seq`. *wake_at_ms* is
    None when nothing is to fall due. *quarantined* says why nobody may write the match, if so.
    *access* says who may see it.
    """

    head: Head
    snapshot: Snapshot | None
    records: Sequence[StoredRecord]
    wake_at_ms: int | None
    quarantined: str | None
    access: Access


class Wake(NamedTuple):
    """A match that must be looked at by *wake_at_ms*: no deadline of its lies before that."""

    match_id: MatchId
    wake_at_ms: int


class Published(NamedTuple):
    """How far a match is published; *complete* when its signed head is too, and nothing is left."""

    match_id: MatchId
    seq: int
    complete: bool


class MatchStore(Protocol):
    """Keeps the streams of all matches, each with one writer at a time.

    Every method but those that answer `Unknown` themselves raises `StoreUnavailableError` if there
    is no answer in time; those raise it only if nothing can have been written. Cancelling one that
    writes leaves its outcome unknown too: shield it (W5).
    """

    async def create(
        self,
        match_id: MatchId,
        record: NewRecord,
        seed: SealedSeed,
        wake_at_ms: int | None,
        label: Label | None,
    ) -> Created:
        """Begin a match: its head, first record, secret, wake-up and label, all or nothing.

        The first record carries `FIRST_FENCE`. `Conflict`: another command created the match.
        Without a *label* it waits for one; see `Directory.unlabelled`.
        """
        ...

    async def append(  # noqa: PLR0913 - the port of the write protocol
        self,
        match_id: MatchId,
        fence: int,
        expected_seq: int,
        record: NewRecord,
        wake_at_ms: int | None,
        *,
        status: Status = Status.LIVE,
        signed: SignedHead | None = None,
    ) -> Appended:
        """Append a record if *expected_seq* and *fence* are the head's, all or nothing (W5).

        In the same step the head takes on *status* and the signature of an ended match, and the
        match's wake-up bound follows *wake_at_ms*, its earliest deadline after this record: None
        removes it; an earlier one lowers it; a later one raises it only when the bound has passed
        by the record's time, since waking early costs a look and no more.
        """
        ...

    async def fence_and_load(self, match_id: MatchId, *, schema_version: int) -> Loaded | None:
        """Become the match's writer, and read it; None if there is no such match.

        Once it returns, no append under an older fence can commit, not even one that was sent
        before. The fence is raised by one each time, and may be raised without an answer. Of the
        snapshots only those of *schema_version* count.
        """
        ...

    async def look(
        self, match_id: MatchId, fence: int, expected_seq: int, wake_at_ms: int | None
    ) -> Looked:
        """Set the wake-up bound after a look that found nothing due, if the writer still is one.

        The head is compared and held in the same step: a writer that was paused since its look, or
        whose append overtook it, never raises the bound over a deadline that it did not see.
        """
        ...

    async def find_command(self, match_id: MatchId, command_id: CommandId) -> Dup | None:
        """Return the reply of a command that was accepted, however long ago (W3)."""
        ...

    async def head(self, match_id: MatchId) -> Head | None:
        """Return the head of a match, if there is one."""
        ...

    async def open_heads(self, shards: Collection[int]) -> list[Head]:
        """Return these shards' matches that go on or are not wholly published, by id (W8).

        Its cost does not depend on how many matches ever were.
        """
        ...

    async def match_ids(self, after: MatchId | None = None, limit: int = 1000) -> list[MatchId]:
        """Return the ids of all matches in order, from behind *after*, *limit* at a time."""
        ...

    async def records(
        self, match_id: MatchId, after_seq: int, limit: int = RECORDS_MAX
    ) -> list[StoredRecord]:
        """Return whole records that hold events after *after_seq*, in order, *limit* at most."""
        ...

    async def snapshot(
        self, match_id: MatchId, seq: int, *, schema_version: int
    ) -> Snapshot | None:
        """Return the newest snapshot of this schema at or before *seq*, if there is one."""
        ...

    async def put_snapshot(self, match_id: MatchId, snapshot: Snapshot) -> None:
        """Keep a snapshot; the one at the same sequence gives way."""
        ...

    async def seed(self, match_id: MatchId) -> SealedSeed | None:
        """Return a match's sealed seed."""
        ...

    async def wakes_due(self, shards: Collection[int], by_ms: int, limit: int) -> list[Wake]:
        """Return the matches of these shards to be looked at by *by_ms*, the earliest first."""
        ...

    async def set_published(self, positions: Sequence[Published]) -> None:
        """Move published positions on, all or nothing, and none of them ever back (W8)."""
        ...

    async def admit(self, match_id: MatchId, fence: int, player_id: str) -> Ok | Fenced:
        """Add a guest to those who may see a match, if the writer still is one; once is enough.

        Whoever loads the match later finds the guest.
        """
        ...

    async def quarantine(self, match_id: MatchId, reason: str) -> None:
        """Mark a match that does not check out; the first reason stays (W2)."""
        ...

    async def release(self, match_id: MatchId) -> None:
        """Take a match out of quarantine, if it is in."""
        ...

    async def now_ms(self) -> int:
        """Return the time by the store's clock, which all engines share (T7)."""
        ...


class StoreUnavailableError(Exception):
    """The store did not answer. What was asked can be asked again, with backoff."""


class UnsafeStoreError(Exception):
    """The store is set so that it may lose what it has confirmed; refused at start."""
