"""Records that have come and are not taken yet: some, and more only if results are behind them."""

import asyncio
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from libs.wire.record import Record


class Backlog:
    """A queue with room for *room* records, read by one task."""

    def __init__(self, room: int) -> None:
        self._room_max = room
        self._records: deque[Record] = deque()
        self._is_closed = False
        self._overflowing = 0
        self._news = asyncio.Event()
        self._room = asyncio.Event()

    @property
    def has_more(self) -> bool:
        """Whether `get` returns at once."""
        return bool(self._records) or self._is_closed

    async def put(self, record: Record) -> None:
        """Add a record at once; returns when there is room for another."""
        self._records.append(record)
        self._news.set()
        # Whoever is kept waiting here reads his stream no further, and its server slows down.
        while len(self._records) >= self._room_max and not self._overflowing:
            self._room.clear()
            await self._room.wait()

    async def get(self) -> Record | None:
        """Return the next record; None when it is closed and none is left."""
        while not self._records:
            if self._is_closed:
                return None
            self._news.clear()
            await self._news.wait()
        record = self._records.popleft()
        self._room.set()
        return record

    def close(self) -> None:
        """Say that no more records come."""
        self._is_closed = True
        self._news.set()

    @contextmanager
    def overflowing(self) -> Iterator[None]:
        """Take in whatever comes for a while.

        A stream carries results and records in one order: whoever waits for a result and takes no
        records meanwhile would wait for himself.
        """
        self._overflowing += 1
        self._room.set()
        try:
            yield
        finally:
            self._overflowing -= 1
