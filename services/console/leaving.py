"""Signals that ask to leave, heard where something has to be put in order before."""

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def set_at_signal(left: asyncio.Event) -> Iterator[None]:
    """Set *left* when a signal asks to leave, instead of ending at once."""
    loop = asyncio.get_running_loop()
    for number in _SIGNALS:
        loop.add_signal_handler(number, left.set)
    try:
        yield
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)
