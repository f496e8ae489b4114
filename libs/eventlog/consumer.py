"""The one consumer loop: an entry is handled, becomes a dead letter, or ends the loop (R3)."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, NoReturn, Protocol

from libs.eventlog.dead_letters import DeadLetters, PoisonError
from libs.eventlog.ports import Delivery, EventLog, Subscription
from libs.telemetry import logs, metrics, names, traces

TICK_S: Final = 1.0
"""How often a handler settles when nothing comes."""

SETTLE_S: Final = 0.5
"""How often it does while entries keep coming (start): each time costs some commits."""

_HANDLED: Final = "handled"

_log: Final = logs.get()
_LAG: Final = metrics.gauge(names.CONSUMER_LAG)
_DURATION: Final = metrics.histogram(names.DELIVERY_DURATION)


class Handler(Protocol):
    """What is done with entries. Idempotent: any of them may come again."""

    async def handle(self, delivery: Delivery) -> None:
        """Do what follows from *delivery*, or take it in hand until `settle`.

        Raises:
            PoisonError: it can never be handled. Any other exception ends the consumer, and the
                entry comes again.

        """
        ...

    async def settle(self) -> bool:
        """Finish what is in hand, as far as may be: after a fetch, and each second at least.

        Returns whether nothing is in hand any more: only then is the group's position committed.
        """
        ...


class Each:
    """A `Handler` that deals with every entry at once, by one function."""

    def __init__(self, handle: Callable[[Delivery], Awaitable[None]]) -> None:
        self._handle = handle

    async def handle(self, delivery: Delivery) -> None:
        """See `Handler.handle`."""
        await self._handle(delivery)

    async def settle(self) -> bool:
        """See `Handler.settle`."""
        return True


async def consume(
    log: EventLog,
    topics: Sequence[str],
    *,
    group: str,
    handler: Handler,
    dead_letters: DeadLetters | None = None,
) -> NoReturn:
    """Handle the entries of *topics*, those of a partition in order, until cancelled.

    A position is committed after its entries were handled and the handler has settled. An exception
    leaves it where it was, and whoever runs this decides whether to begin again.

    Raises:
        TooManyDeadLettersError: nearly everything seems to be poison.
        LogUnavailableError: the log did not answer.

    """
    dead_letters = dead_letters or DeadLetters(log, group)
    async with log.subscribe(topics, group=group) as subscription:
        _log.info("consumer_started", group=group, topics=list(topics))
        await _Consumer(subscription, group, handler, dead_letters).run()


class _Consumer:
    """One run of the loop."""

    def __init__(
        self, subscription: Subscription, group: str, handler: Handler, dead_letters: DeadLetters
    ) -> None:
        self._subscription = subscription
        self._group = group
        self._handler = handler
        self._dead_letters = dead_letters
        self._lag = _LAG.labels(group)
        self._observers: dict[tuple[str, str], Callable[[float], None]] = {}

    async def run(self) -> NoReturn:
        loop = asyncio.get_running_loop()
        # The last delivery of each partition that is handled and not yet committed.
        open_ends: dict[tuple[str, int], Delivery] = {}
        settle_at_s = loop.time()
        while True:
            wait_s = max(settle_at_s - loop.time(), 0.0) if open_ends else TICK_S
            deliveries = await self._subscription.fetch(wait_s=wait_s)
            # Each names itself, and what it named is taken off the lines behind the last of them.
            with logs.bound(topic="", group=self._group, offset=0):
                for delivery in deliveries:
                    await self._deal_with(delivery)
                    open_ends[delivery.entry.topic, delivery.partition] = delivery
            if loop.time() < settle_at_s:
                continue
            if await self._handler.settle() and open_ends:
                await self._subscription.commit(list(open_ends.values()))
                open_ends.clear()
            settle_at_s = loop.time() + SETTLE_S
            self._lag.set(self._subscription.lag())

    async def _deal_with(self, delivery: Delivery) -> None:
        entry = delivery.entry
        began_s = time.perf_counter()
        logs.bind(topic=entry.topic, offset=delivery.offset)
        with traces.handling(entry.topic, entry.headers, group=self._group):
            outcome = await self._handle(delivery)
            took_s = time.perf_counter() - began_s
            # For each record and each of its readers, most of whom did nothing: not said as a rule.
            if outcome != _HANDLED or logs.is_debugging():
                say = _log.debug if outcome == _HANDLED else _log.info
                say(
                    "delivery_handled",
                    partition=delivery.partition,
                    key=entry.key,
                    outcome=outcome,
                    duration_ms=round(took_s * 1000, 3),
                )
        self._observe(entry.topic, outcome, took_s)

    def _observe(self, topic: str, outcome: str, took_s: float) -> None:
        observe = self._observers.get((topic, outcome))
        if observe is None:
            # Looked up once: that takes longer than to observe.
            observe = _DURATION.labels(self._group, topic, outcome).observe
            self._observers[topic, outcome] = observe
        observe(took_s)

    async def _handle(self, delivery: Delivery) -> str:
        if self._dead_letters.must_follow(delivery):
            await self._dead_letters.bury(delivery, "an entry of its key before it is dead")
            return "dead_lettered"
        try:
            await self._handler.handle(delivery)
        except PoisonError as error:
            await self._dead_letters.bury(delivery, str(error))
            return "dead_lettered"
        return _HANDLED
