"""Dead letters: what can never be handled, moved out of the way, in order and with a limit (R3)."""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from libs.eventlog.ports import Delivery, Entry, EventLog
from libs.eventlog.topics import dead
from libs.telemetry import logs, metrics, names

DEAD_REASON: Final = "dead_reason"
DEAD_GROUP: Final = "dead_group"
DEAD_PARTITION: Final = "dead_partition"
DEAD_OFFSET: Final = "dead_offset"
"""Headers of a dead letter: why, by whom, and where it was."""

_log: Final = logs.get()
_COUNT: Final = metrics.counter(names.DEAD_LETTERS)


class PoisonError(Exception):
    """An entry can never be handled, however often it is tried: no message, or of no known type.

    Its text is kept with the dead letter. What a newer opolyx wrote is no poison: that will be
    readable after the deploy.
    """


class TooManyDeadLettersError(Exception):
    """So many entries were poison that the reader itself must be at fault. It stops."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetterLimit:
    """At most *count* dead letters within *within_s* seconds (start)."""

    count: int = 20
    within_s: float = 60.0


class DeadLetters:
    """Writes the dead letters of one group, and knows whose entries must follow.

    After a dead letter the later entries of its key follow it, whatever they are, so that nothing
    of a match is handled past a hole. That is known as long as the object lives; afterwards the
    reader's own position shows the hole (R1).
    """

    def __init__(
        self,
        log: EventLog,
        group: str,
        limit: DeadLetterLimit | None = None,
        *,
        monotonic_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._entries = log
        self._group = group
        self._limit = limit or DeadLetterLimit()
        self._monotonic_s = monotonic_s
        self._recent: deque[float] = deque()
        self._parked: set[tuple[str, str]] = set()

    def must_follow(self, delivery: Delivery) -> bool:
        """Tell whether an earlier entry of the same key is a dead letter."""
        return (delivery.entry.topic, delivery.entry.key) in self._parked

    async def bury(self, delivery: Delivery, reason: str) -> None:
        """Write *delivery* to its dead topic; durable when this returns.

        Raises:
            TooManyDeadLettersError: the limit is reached, and nothing was written. Those that only
                follow do not count.
            LogUnavailableError: it may or may not be written.

        """
        entry = delivery.entry
        if not self.must_follow(delivery):
            self._count(entry)
        headers = {
            **entry.headers,
            DEAD_REASON: reason,
            DEAD_GROUP: self._group,
            DEAD_PARTITION: str(delivery.partition),
            DEAD_OFFSET: str(delivery.offset),
        }
        letter = Entry(topic=dead(entry.topic), key=entry.key, value=entry.value, headers=headers)
        await self._entries.append([letter])
        self._parked.add((entry.topic, entry.key))
        _COUNT.labels(self._group, entry.topic).inc()
        _log.warning(
            "delivery_dead_lettered",
            topic=entry.topic,
            group=self._group,
            partition=delivery.partition,
            offset=delivery.offset,
            key=entry.key,
            reason=reason,
        )

    def _count(self, entry: Entry) -> None:
        now_s = self._monotonic_s()
        while self._recent and self._recent[0] <= now_s - self._limit.within_s:
            self._recent.popleft()
        if len(self._recent) >= self._limit.count:
            _log.error("dead_letters_over_limit", topic=entry.topic, group=self._group)
            raise TooManyDeadLettersError(f"{entry.topic}, {self._group}")
        self._recent.append(now_s)
