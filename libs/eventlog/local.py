"""The log of a deployment without Kafka: entries in a storage, readers woken in the process.

One object serves all services of a process. Several processes may share a storage: they find each
other's entries by looking, some times a second, and a group has its members within one process
only, so that two processes of the same service both read everything. Readers drop doubles anyway.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import replace
from typing import Final

from libs.eventlog.ports import Delivery, Entry, Subscription
from libs.eventlog.recent import Recent
from libs.eventlog.storage import LogStorage, Place, share_of
from libs.eventlog.topics import PARTITIONS
from libs.kernel.clock import Clock
from libs.telemetry import metrics, names, traces

POLL_S: Final = 0.5
"""How long another process's entries may go unnoticed (start)."""

FETCH_LIMIT: Final = 256
"""About how many deliveries one fetch returns at most (start)."""

_APPEND: Final = metrics.histogram(names.LOG_APPEND)


class LocalEventLog:
    """An `EventLog` over a `LogStorage`. Close it when nobody uses it any more."""

    def __init__(self, storage: LogStorage, clock: Clock, *, poll_s: float = POLL_S) -> None:
        self._storage = storage
        self._clock = clock
        self._poll_s = poll_s
        # By topic, when to look next for what other processes have written; by the loop's clock.
        self._look_at: dict[str, float] = {}
        self._ends: dict[Place, int] = {}
        self._groups: defaultdict[str, list[_Member]] = defaultdict(list)
        self._writes: set[asyncio.Task[None]] = set()
        self._bell = asyncio.Event()
        self.recent: Final = Recent()

    async def append(self, entries: Sequence[Entry]) -> None:
        """See `EventLog.append`. A cancelled append is written all the same."""
        if not entries:
            return
        with traces.appending(entry.topic for entry in entries):
            carrier = traces.carrier()
            if carrier:
                entries = [replace(e, headers={**carrier, **e.headers}) for e in entries]
            # Whoever waits may be cancelled, a write on its way may not: nobody would know whether
            # it is there.
            write = asyncio.create_task(self._write(entries))
            self._writes.add(write)
            write.add_done_callback(self._written)
            with _APPEND.labels(entries[0].topic).time():
                await asyncio.shield(write)

    def subscribe(
        self, topics: Sequence[str], *, group: str
    ) -> AbstractAsyncContextManager[Subscription]:
        """See `EventLog.subscribe`."""
        return self._subscribed(tuple(topics), group)

    async def close(self) -> None:
        """Wait for the appends that are on their way."""
        if self._writes:
            await asyncio.wait(self._writes)

    @asynccontextmanager
    async def _subscribed(self, topics: Sequence[str], group: str) -> AsyncIterator[Subscription]:
        members = self._groups[group]
        member = _Member(self, self._storage, members, topics, group)
        members.append(member)
        self._rebalance(members)
        try:
            yield member
        finally:
            members.remove(member)
            self._rebalance(members)

    async def _write(self, entries: Sequence[Entry]) -> None:
        at_ms = self._clock.now_ms()
        ends = await self._storage.append(entries, at_ms=at_ms)
        self.recent.add(entries, ends, at_ms)
        self._learn(ends)

    def _written(self, write: asyncio.Task[None]) -> None:
        self._writes.discard(write)
        if not write.cancelled():
            # Whoever was cancelled while waiting doesn't ask; that is no lost exception.
            write.exception()

    def _rebalance(self, members: Sequence["_Member"]) -> None:
        for member in members:
            member.is_rebalanced = False
        self._ring()

    # What members share.

    @property
    def bell(self) -> asyncio.Event:
        """What rings once, when there is something new. Take it first, then look, then wait."""
        return self._bell

    @property
    def ends(self) -> Mapping[Place, int]:
        """The next offset of each place that has entries, as far as this process knows."""
        return self._ends

    async def look(self, topics: Sequence[str]) -> float:
        """Find what other processes have written, for all members at once, if it is time.

        Returns when it is time again, by the loop's clock.
        """
        now_s = asyncio.get_running_loop().time()
        due = [topic for topic in topics if self._look_at.get(topic, 0.0) <= now_s]
        if due:
            for topic in due:
                self._look_at[topic] = now_s + self._poll_s
            try:
                self._learn(await self._storage.ends(due))
            except BaseException:
                for topic in due:
                    del self._look_at[topic]
                raise
        return min((self._look_at[topic] for topic in topics), default=now_s + self._poll_s)

    def _learn(self, ends: Mapping[Place, int]) -> None:
        """Take note of how far places reach, and wake the readers if that is further."""
        further = {place: end for place, end in ends.items() if end > self._ends.get(place, 0)}
        if further:
            self._ends.update(further)
            for members in self._groups.values():
                for member in members:
                    member.behind |= dict.fromkeys(further)
            self._ring()

    def _ring(self) -> None:
        rung, self._bell = self._bell, asyncio.Event()
        rung.set()


class _Member:
    """A member of a group; see `Subscription`."""

    def __init__(
        self,
        log: LocalEventLog,
        storage: LogStorage,
        members: Sequence["_Member"],
        topics: Sequence[str],
        group: str,
    ) -> None:
        self._log = log
        self._storage = storage
        self._members = members
        self._topics = topics
        self._group = group
        self._positions: dict[Place, int] = {}
        # The places where there may be more than was fetched.
        self.behind: dict[Place, None] = {}
        self.is_rebalanced = False

    async def fetch(self, *, wait_s: float) -> Sequence[Delivery]:
        """See `Subscription.fetch`."""
        loop = asyncio.get_running_loop()
        give_up_at = loop.time() + wait_s
        while True:
            bell = self._log.bell
            if not self.is_rebalanced:
                await self._rebalance()
            look_at = await self._log.look(self._topics)
            news = self._news()
            if news:
                return await self._read(news)
            if loop.time() >= give_up_at:
                return ()
            with suppress(TimeoutError):
                async with asyncio.timeout_at(min(give_up_at, look_at)):
                    await bell.wait()

    def _news(self) -> Mapping[Place, int]:
        """Return the places that hold more than was fetched, and from where on."""
        ends, positions = self._log.ends, self._positions
        news = {
            place: position
            for place in self.behind
            if (position := positions.get(place)) is not None and position < ends.get(place, 0)
        }
        self.behind = dict.fromkeys(news)
        return news

    async def commit(self, deliveries: Sequence[Delivery]) -> None:
        """See `Subscription.commit`."""
        positions: dict[Place, int] = {}
        for delivery in deliveries:
            place = Place(delivery.entry.topic, delivery.partition)
            positions[place] = max(delivery.offset + 1, positions.get(place, 0))
        if positions:
            await self._storage.commit(self._group, positions)

    def lag(self) -> int:
        """See `Subscription.lag`."""
        ends = self._log.ends
        return sum(ends.get(place, offset) - offset for place, offset in self._positions.items())

    def reads(self, topic: str) -> bool:
        """Tell whether this member takes part in reading *topic*."""
        return topic in self._topics

    async def _rebalance(self) -> None:
        # Before the questions: another rebalance in the meantime makes it ask again.
        self.is_rebalanced = True
        try:
            committed = await self._storage.committed(self._group, self._topics)
        except BaseException:
            self.is_rebalanced = False
            raise
        # What it keeps goes on where it is, so that nothing in hand comes twice.
        kept = self._positions
        self._positions = {
            place: kept.get(place, committed.get(place, 0))
            for topic in self._topics
            for place in self._share(topic)
        }
        self.behind |= dict.fromkeys(self._positions)

    def _share(self, topic: str) -> list[Place]:
        readers = [member for member in self._members if member.reads(topic)]
        first, step = readers.index(self), len(readers)
        return [Place(topic, partition) for partition in range(first, PARTITIONS, step)]

    async def _read(self, news: Mapping[Place, int]) -> Sequence[Delivery]:
        share = share_of(FETCH_LIMIT, len(news))
        deliveries: list[Delivery] = []
        stored: dict[Place, int] = {}
        for place, offset in news.items():
            recent = self._log.recent.read(place, offset, share)
            if recent:
                deliveries += recent
            else:
                stored[place] = offset
        if stored:
            deliveries += await self._storage.read(stored, limit=FETCH_LIMIT)
        for delivery in deliveries:
            place = Place(delivery.entry.topic, delivery.partition)
            self._positions[place] = delivery.offset + 1
        return deliveries
