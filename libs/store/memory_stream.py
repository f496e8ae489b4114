"""One match in memory: what its rows are in PostgreSQL, and the steps that change them."""

from bisect import bisect_right

from libs.kernel.ids import CommandId, MatchId
from libs.kernel.shards import shard_of
from libs.store.access import Access, Label, Watching
from libs.store.ports import (
    FIRST_FENCE,
    Appended,
    Conflict,
    Dup,
    Fenced,
    Head,
    Loaded,
    NewRecord,
    Ok,
    Published,
    SealedSeed,
    Snapshot,
    Status,
)
from libs.wire.heads import SignedHead
from libs.wire.record import StoredRecord


class MemoryStream:
    """A match's head, records, replies, wake-up bound, snapshots and secret.

    Nothing here awaits, so every method is atomic. What they promise is said by `MatchStore`.

    Attributes:
        shard: the match's shard.
        wake_at_ms: the wake-up bound, if anything is to fall due.
        replies: by the command that was accepted.
        seed: the sealed seed.
        complete: whether nothing is left to publish.

    """

    def __init__(
        self,
        match_id: MatchId,
        record: NewRecord,
        seed: SealedSeed,
        wake_at_ms: int | None,
        label: Label | None,
    ) -> None:
        self.shard = shard_of(match_id)
        self.wake_at_ms = wake_at_ms
        self.replies: dict[CommandId, Dup] = {}
        self.seed = seed
        self.complete = False
        self._label = label
        self._guests = set(label.access.guests if label else ())
        self._match_id = match_id
        self._fence = FIRST_FENCE
        self._status = Status.LIVE
        self._signed: SignedHead | None = None
        self._records: list[StoredRecord] = []
        self._published_seq = 0
        self._snapshots: dict[int, Snapshot] = {}
        self._write(record)

    @property
    def head(self) -> Head:
        """The head as it is now."""
        last = self._records[-1]
        return Head(
            match_id=self._match_id,
            seq=last.last_seq,
            hash=last.hash,
            fence=self._fence,
            status=self._status,
            signed=self._signed,
            published_seq=self._published_seq,
        )

    @property
    def access(self) -> Access:
        """Who may see it."""
        watching = self._label.access.watching if self._label else Watching.EVERYBODY
        return Access(watching, frozenset(self._guests))

    @property
    def label(self) -> Label | None:
        """By what it is found, if it has been labelled."""
        return self._label._replace(access=self.access) if self._label else None

    def put_label(self, label: Label) -> None:
        """Label it; who was let in before stays in."""
        self._label = label
        self._guests |= label.access.guests

    def append(  # noqa: PLR0913 - as the port
        self,
        fence: int,
        expected_seq: int,
        record: NewRecord,
        wake_at_ms: int | None,
        *,
        status: Status,
        signed: SignedHead | None,
    ) -> Appended:
        """Append a record, if nothing speaks against it."""
        dup = self.replies.get(record.command_id)
        if dup is not None:
            return dup
        refused = self.guard(fence, expected_seq)
        if refused is not None:
            return refused
        self._write(record)
        self._status = status
        self._signed = signed
        bound_ms = self.wake_at_ms
        if (
            wake_at_ms is None
            or bound_ms is None
            or wake_at_ms < bound_ms
            or bound_ms <= record.at_ms
        ):
            self.wake_at_ms = wake_at_ms
        return Ok()

    def guard(self, fence: int, expected_seq: int) -> Fenced | Conflict | None:
        """Say what speaks against a writer of that fence who saw that head."""
        if fence != self._fence:
            return Fenced()
        if expected_seq != self._records[-1].last_seq:
            return Conflict()
        return None

    def fence(self, schema_version: int, quarantined: str | None) -> Loaded:
        """Raise the fence and return everything."""
        self._fence += 1
        head = self.head
        snapshot = self.snapshot(head.seq, schema_version)
        return Loaded(
            head=head,
            snapshot=snapshot,
            records=self.records(snapshot.seq if snapshot else 0, len(self._records)),
            wake_at_ms=self.wake_at_ms,
            quarantined=quarantined,
            access=self.access,
        )

    def records(self, after_seq: int, limit: int) -> list[StoredRecord]:
        """Return whole records that hold events after a sequence."""
        place = bisect_right(self._records, after_seq, key=lambda record: record.last_seq)
        return self._records[place : place + limit]

    def snapshot(self, seq: int, schema_version: int) -> Snapshot | None:
        """Return the newest snapshot of a schema at or before a sequence."""
        found = [
            snapshot
            for snapshot in self._snapshots.values()
            if snapshot.seq <= seq and snapshot.schema_version == schema_version
        ]
        return max(found, default=None)

    def put_snapshot(self, snapshot: Snapshot) -> None:
        """Keep a snapshot."""
        self._snapshots[snapshot.seq] = snapshot

    def admit(self, fence: int, player_id: str) -> Fenced | None:
        """Add a guest, if the writer of that fence still is one."""
        if fence != self._fence:
            return Fenced()
        self._guests.add(player_id)
        return None

    def publish(self, position: Published) -> None:
        """Move the published position on."""
        self._published_seq = max(self._published_seq, position.seq)
        self.complete = self.complete or position.complete

    def _write(self, record: NewRecord) -> None:
        stored = record.stored
        self._records.append(stored)
        self.replies[record.command_id] = Dup(stored.last_seq, stored.hash, record.request_hash)
