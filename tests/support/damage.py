"""Matches whose records are not what their head says, as no engine leaves them."""

from collections.abc import Sequence

from libs.store.memory_stream import MemoryStream
from libs.wire.record import StoredRecord


def leave_only(stream: MemoryStream, records: Sequence[StoredRecord]) -> None:
    """Leave a match with these records, and with the head that it has now."""
    head = stream.head

    class Damaged(MemoryStream):
        @property
        def head(self) -> object:  # type: ignore[override]
            return head

    stream.__class__ = Damaged
    stream._records[:] = records
