"""Where somebody plays: lines come in from stdin, text goes out on stdout and stderr.

On a terminal there is a line that is being typed, with a prompt that changes by itself. Whatever is
shown goes above it, so that it is never torn. In a pipe nothing of it needs a terminal.
"""

import asyncio
import os
import signal
import sys
from codecs import getincrementaldecoder
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import ExitStack, aclosing, asynccontextmanager, suppress
from threading import Semaphore, Thread
from typing import Final

from rich.console import Console
from rich.text import Text

from libs.chassis.together import cancel_all
from services.console.drawing import HEIGHT, WIDTH
from services.console.leaving import set_at_signal
from services.console.terminal.editing import Editor, by_key

CHUNK: Final = 4096
CHUNKS_WAITING_MAX: Final = 4
LINES_WAITING_MAX: Final = 16
WIDTH_PLAIN: Final = 76
TYPED_LINES: Final = 2
"""Lines below a picture: a remark, and what is typed."""


class Desk:
    """The one place that reads what is typed and writes what is shown.

    Attributes:
        left: set once a signal has asked to leave.
        is_live: whether there is a prompt, which may change.

    """

    def __init__(self, console: Console, *, is_live: bool) -> None:
        """Write by *console*; *is_live* where both its sides are a terminal."""
        self.left = asyncio.Event()
        self.is_live = is_live
        self._console = console
        self._editor = Editor(lambda: console.width)
        self._lines: asyncio.Queue[str | None] = asyncio.Queue(LINES_WAITING_MAX)
        self._is_at_end = False
        self._failure: OSError | None = None

    @property
    def has_room(self) -> bool:
        """Whether a board fits, with what is typed below it."""
        width, height = self._console.size
        return self.is_live and width >= WIDTH and height >= HEIGHT + TYPED_LINES

    @property
    def width(self) -> int:
        """The columns that plain lines may take."""
        return min(self._console.width, WIDTH_PLAIN) if self.is_live else WIDTH_PLAIN

    def show(self, text: Text | str) -> None:
        """Write lines of the game."""
        self._write(self._editor.hidden() if self.is_live else "")
        self._console.print(text, soft_wrap=True, markup=False, highlight=False)
        self._write(self._editor.drawn() if self.is_live else "")

    def warn(self, text: str) -> None:
        """Write a line that is no part of the game, to stderr."""
        self._write(self._editor.hidden() if self.is_live else "")
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()
        self._write(self._editor.drawn() if self.is_live else "")

    def prompt(self, text: str) -> None:
        """Change what stands before the line that is typed."""
        if self.is_live and text != self._editor.prompt:
            self._write(self._editor.hidden())
            self._editor.prompt = text
            self._write(self._editor.drawn())

    async def line(self) -> str | None:
        """Return the next line that was typed; None once there are no more."""
        if not self._is_at_end:
            line = await self._lines.get()
            if line is not None:
                return line
            self._is_at_end = True
        if self._failure is not None:
            raise self._failure
        return None

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        """Read what is typed, and leave at a signal; the terminal is as it was, at the end."""
        loop = asyncio.get_running_loop()
        with ExitStack() as stack:
            stack.enter_context(set_at_signal(self.left))
            if self.is_live:
                again = stack.enter_context(by_key(sys.stdin.fileno()))
                loop.add_signal_handler(signal.SIGCONT, self._come_back, again)
                stack.callback(loop.remove_signal_handler, signal.SIGCONT)
                stack.callback(self._write, self._editor.hidden())
            reading = asyncio.create_task(self._read())
            try:
                yield
            finally:
                await cancel_all([reading])

    async def _read(self) -> None:
        try:
            async with aclosing(self._typed()) as lines:
                async for line in lines:
                    await self._lines.put(line)
        except OSError as error:  # nobody takes what we write
            self._failure = error
        await self._lines.put(None)

    async def _typed(self) -> AsyncGenerator[str]:
        decoder = getincrementaldecoder("utf-8")("replace")
        rest = ""
        async for chunk in _chunks(sys.stdin.fileno()):
            text = decoder.decode(chunk)
            if self.is_live:
                for shown, line in self._editor.typed(text):
                    self._write(shown)
                    if line is not None:
                        yield line
                if self._editor.is_at_end:
                    return
            else:
                *whole, rest = (rest + text).split("\n")
                for line in whole:
                    yield line
                rest = rest[:CHUNK]
        if rest:
            yield rest

    def _come_back(self, again: Callable[[], None]) -> None:
        again()
        self._write(self._editor.drawn())

    def _write(self, text: str) -> None:
        if text:
            sys.stdout.write(text)
            sys.stdout.flush()


async def _chunks(descriptor: int) -> AsyncIterator[bytes]:
    """Go through what comes in by *descriptor*, whatever it is: terminal, pipe, file or nothing.

    A thread reads it, since a loop can't wait for a file; it ends with the process if need be, and
    reads on only when what it has read was taken.
    """
    loop = asyncio.get_running_loop()
    chunks: asyncio.Queue[bytes] = asyncio.Queue()
    room = Semaphore(CHUNKS_WAITING_MAX)

    def read() -> None:
        chunk = b"?"
        # Nobody is left to tell when the loop has ended, or what we read from is gone.
        with suppress(RuntimeError):
            while chunk:
                room.acquire()
                try:
                    chunk = os.read(descriptor, CHUNK)
                except OSError:
                    chunk = b""
                loop.call_soon_threadsafe(chunks.put_nowait, chunk)

    Thread(target=read, name="typed", daemon=True).start()
    while chunk := await chunks.get():
        room.release()
        yield chunk
