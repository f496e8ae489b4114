"""What a service may ask of the event log, whatever stores it.

What Kafka calls a record is an *entry* here, since a record is a match's.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What is written: *key* chooses the partition, and within a partition order is kept."""

    topic: str
    key: str
    value: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """An entry as it is read. Offsets rise within a partition; at_ms is when it was appended."""

    entry: Entry
    partition: int
    offset: int
    at_ms: int


class LogUnavailableError(Exception):
    """The log did not answer. Try again later; what was being appended may be there or not."""


class Subscription(Protocol):
    """A member's share of a group's reading: some partitions, and how far each has been fetched."""

    async def fetch(self, *, wait_s: float) -> Sequence[Delivery]:
        """Return the next deliveries, at most some hundreds; none if none came within *wait_s*.

        Those of a partition are in order and follow on the ones fetched before. After a rebalance
        it begins again at what the group had committed, so some may come twice.

        Raises:
            LogUnavailableError: nothing was fetched, and may be tried again.

        """
        ...

    async def commit(self, deliveries: Sequence[Delivery]) -> None:
        """Tell that the group is done with these and with all before them in their partitions.

        Never takes a position back, so that a member that lost a partition does no harm. A commit
        may be lost in a crash, which costs only doubles.

        Raises:
            LogUnavailableError: it may or may not be kept.

        """
        ...

    def lag(self) -> int:
        """Return how many entries of its partitions are not fetched, as far as it knows by now."""
        ...


class EventLog(Protocol):
    """An append-only log of topics in partitions, kept for ever.

    Delivery is at least once: after a crash a group sees again whatever it had not committed, and
    an append that was tried twice may be there twice. So a reader keeps its position in its own
    transaction (R2) and drops doubles (R1); what is committed here is a hint.
    """

    async def append(self, entries: Sequence[Entry]) -> None:
        """Write *entries* in order and return once they are durable. All or none.

        The order of two appends is kept only if the second waits for the first.

        Raises:
            LogUnavailableError: they may or may not be there; appending again may double them.

        """
        ...

    def subscribe(
        self, topics: Sequence[str], *, group: str
    ) -> AbstractAsyncContextManager[Subscription]:
        """Read *topics* from the group's commits on, sharing partitions with its other members.

        A group that never committed begins at the first entry.
        """
        ...
