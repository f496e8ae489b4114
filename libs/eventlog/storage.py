"""Where the local log keeps its entries: a small port, and the adapter that forgets at the end."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from libs.eventlog.ports import Delivery, Entry
from libs.eventlog.topics import partition_of


class Place(NamedTuple):
    """A partition of a topic."""

    topic: str
    partition: int


class LogStorage(Protocol):
    """Keeps entries by place and offset, and the positions of groups.

    Offsets begin at 0 and have no gap; who sees one sees all before it. Every method may raise
    `LogUnavailableError`.
    """

    async def append(self, entries: Sequence[Entry], *, at_ms: int) -> Mapping[Place, int]:
        """Write *entries*, all or none and durably; returns the next offset of each place written.

        Within a place they keep the order given.
        """
        ...

    async def ends(self, topics: Sequence[str]) -> Mapping[Place, int]:
        """Return the next offset of every place of *topics* that has an entry."""
        ...

    async def read(self, positions: Mapping[Place, int], *, limit: int) -> Sequence[Delivery]:
        """Return entries from these offsets on, in order by place, about *limit* of them at most.

        Every place that has some gets its share, at least one, so that none starves.
        """
        ...

    async def commit(self, group: str, positions: Mapping[Place, int]) -> None:
        """Keep these as the offsets that the group reads next; one that is behind changes nothing.

        It need not outlive a crash.
        """
        ...

    async def committed(self, group: str, topics: Sequence[str]) -> Mapping[Place, int]:
        """Return the positions of the group in *topics*; a place without one is at 0."""
        ...


class MemoryLogStorage:
    """A `LogStorage` that lasts as long as the object. For tests and simulations."""

    def __init__(self) -> None:
        self._kept: defaultdict[Place, list[Delivery]] = defaultdict(list)
        self._committed: defaultdict[str, dict[Place, int]] = defaultdict(dict)

    async def append(self, entries: Sequence[Entry], *, at_ms: int) -> Mapping[Place, int]:
        """See `LogStorage.append`."""
        ends = {}
        for entry in entries:
            place = Place(entry.topic, partition_of(entry.key))
            kept = self._kept[place]
            kept.append(
                Delivery(entry=entry, partition=place.partition, offset=len(kept), at_ms=at_ms)
            )
            ends[place] = len(kept)
        return ends

    async def ends(self, topics: Sequence[str]) -> Mapping[Place, int]:
        """See `LogStorage.ends`."""
        return {place: len(kept) for place, kept in self._kept.items() if place.topic in topics}

    async def read(self, positions: Mapping[Place, int], *, limit: int) -> Sequence[Delivery]:
        """See `LogStorage.read`."""
        share = share_of(limit, len(positions))
        return [
            delivery
            for place, offset in positions.items()
            for delivery in self._kept[place][offset : offset + share]
        ]

    async def commit(self, group: str, positions: Mapping[Place, int]) -> None:
        """See `LogStorage.commit`."""
        committed = self._committed[group]
        for place, offset in positions.items():
            committed[place] = max(offset, committed.get(place, 0))

    async def committed(self, group: str, topics: Sequence[str]) -> Mapping[Place, int]:
        """See `LogStorage.committed`."""
        return {
            place: offset
            for place, offset in self._committed[group].items()
            if place.topic in topics
        }


def share_of(limit: int, places: int) -> int:
    """Return how many entries one of so many places may give of *limit* in all; never none."""
    return max(1, limit // max(1, places))
