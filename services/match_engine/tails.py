"""What of each match is committed and not yet in the event log (write protocol, W8)."""

from collections import deque
from collections.abc import Mapping
from typing import NamedTuple

from libs.kernel.ids import MatchId
from libs.store.ports import Published
from libs.wire.record import StoredRecord


class Queued(NamedTuple):
    """A record to be published, and the trace that it was made in."""

    record: StoredRecord
    trace: Mapping[str, str]


class Tail:
    """How far one match is committed, and how far published.

    Attributes:
        match_id: the match.
        head: the last sequence that is known to be committed.
        is_over: whether nothing comes after the head but its signature.
        published: the last sequence that the log has; None as long as nobody has looked.
        is_complete: whether the log has the signed head too, and nothing is left.
        queue: records that follow on *published* without a gap; there may be more in the store.

    """

    __slots__ = ("head", "is_complete", "is_over", "match_id", "published", "queue")

    def __init__(self, match_id: MatchId, published: int | None) -> None:
        self.match_id = match_id
        self.published = published
        self.head = 0
        self.is_over = False
        self.is_complete = False
        self.queue: deque[Queued] = deque()

    @property
    def lag(self) -> int:
        """How many events are committed and not published, as far as is known."""
        return 0 if self.published is None else max(self.head - self.published, 0)

    @property
    def is_behind(self) -> bool:
        """Whether anything is left to be published."""
        return (self.published or 0) < self.head or (self.is_over and not self.is_complete)

    @property
    def position(self) -> Published:
        """How far the log is, for the store."""
        return Published(self.match_id, self.published or 0, self.is_complete)

    @property
    def end(self) -> int | None:
        """The sequence after which a record would go on without a gap; None if not known."""
        return self.queue[-1].record.last_seq if self.queue else self.published

    def saw(self, head: int, *, is_over: bool) -> None:
        """Take note of how far the match is committed."""
        self.head = max(self.head, head)
        self.is_over = self.is_over or is_over

    def advance(self, published: int) -> int:
        """Take note of how far the log is; returns how many bytes of the queue are let go of."""
        self.published = max(published, self.published or 0)
        freed = 0
        while self.queue and self.queue[0].record.last_seq <= self.published:
            freed += len(self.queue.popleft().record.data)
        return freed
