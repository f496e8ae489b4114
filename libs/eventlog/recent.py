"""What this process appended last, kept in memory: readers that keep up need not ask the storage.

Every group of a service reads the same entries, most of them moments after they were written.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Final

from libs.eventlog.ports import Delivery, Entry
from libs.eventlog.storage import Place
from libs.eventlog.topics import partition_of

BYTES_MAX: Final = 8 << 20
"""How much is kept, by the size of the values (start)."""


class Recent:
    """The last entries of each place, without a gap, as far as there is room."""

    def __init__(self, bytes_max: int = BYTES_MAX) -> None:
        self._bytes_max = bytes_max
        self._bytes = 0
        self._places: dict[Place, deque[Delivery]] = {}
        # In the order in which they came, whichever their place.
        self._oldest: deque[Delivery] = deque()

    def add(self, entries: Sequence[Entry], ends: Mapping[Place, int], at_ms: int) -> None:
        """Keep entries that the storage has taken, whose places now end as it said."""
        by_place: dict[Place, list[Entry]] = {}
        for entry in entries:
            by_place.setdefault(Place(entry.topic, partition_of(entry.key)), []).append(entry)
        for place, written in by_place.items():
            first = ends[place] - len(written)
            for offset, entry in enumerate(written, start=first):
                self._add(
                    place,
                    Delivery(entry=entry, partition=place.partition, offset=offset, at_ms=at_ms),
                )
        while self._bytes > self._bytes_max:
            self._drop_oldest()

    def read(self, place: Place, offset: int, limit: int) -> Sequence[Delivery]:
        """Return entries from an offset on, at most so many; none if they are not all here."""
        kept = self._places.get(place)
        if not kept or offset < kept[0].offset:
            return ()
        start = offset - kept[0].offset
        return list(islice(kept, start, start + limit))

    def _add(self, place: Place, delivery: Delivery) -> None:
        kept = self._places.setdefault(place, deque())
        if kept and kept[-1].offset != delivery.offset - 1:
            # Another process, or another append of ours, has written in between. What is here is
            # read from the storage then, and what is left in the queue of all is passed over.
            kept.clear()
        kept.append(delivery)
        self._oldest.append(delivery)
        self._bytes += len(delivery.entry.value)

    def _drop_oldest(self) -> None:
        oldest = self._oldest.popleft()
        self._bytes -= len(oldest.entry.value)
        kept = self._places[Place(oldest.entry.topic, oldest.partition)]
        if kept and kept[0] is oldest:
            kept.popleft()
