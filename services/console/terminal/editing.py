"""A line that is being typed on a terminal, kept by us and not by the terminal.

So it can be taken away before other text is shown, and drawn again below it: nothing that comes in
meanwhile tears it.
"""

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from rich.cells import cell_len

from services.console.terminal.words import LINE_MAX

if sys.platform != "win32":
    import termios
    import tty

CLEARED: Final = "\r\x1b[K"
"""Takes a line of a terminal back."""

_ENTER: Final = "\r\n"
_BACK: Final = "\x08\x7f"
_KILL_LINE: Final = "\x15"
_KILL_WORD: Final = "\x17"
_END: Final = "\x04"
_ESCAPES: Final = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|O.|[^\[O])")
"""What arrows and other keys say; they mean nothing here."""
_HALF_ESCAPE: Final = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*|O)?$")


class Editor:
    """The line, with a prompt before it; what is to be written to the terminal comes back as text.

    Attributes:
        prompt: what stands before it.
        is_at_end: whether somebody has said that no more lines come.

    """

    def __init__(self, width: Callable[[], int]) -> None:
        """Keep a line on a terminal of *width* columns, asked each time."""
        self.prompt = ""
        self.is_at_end = False
        self._width = width
        self._line = ""
        self._half = ""

    def hidden(self) -> str:
        """Return what takes the line away."""
        return CLEARED

    def drawn(self) -> str:
        """Return what draws the line: its end, where all of it is too long."""
        return CLEARED + _tail(self.prompt + self._line, self._width() - 1)

    def typed(self, keys: str) -> Iterator[tuple[str, str | None]]:
        """Take keys; yields what to write, and each line that was finished."""
        keys = _ESCAPES.sub("", self._half + keys)
        half = _HALF_ESCAPE.search(keys)
        self._half = half[0] if half else ""
        for key in keys.removesuffix(self._half):
            if key in _ENTER:
                line, self._line = self._line, ""
                yield f"{CLEARED}{self.prompt}{line}\n", line
            elif key == _END and not self._line:
                self.is_at_end = True
                return
            else:
                self._change(key)
        yield self.drawn(), None

    def _change(self, key: str) -> None:
        if key in _BACK:
            self._line = self._line[:-1]
        elif key == _KILL_LINE:
            self._line = ""
        elif key == _KILL_WORD:
            self._line = re.sub(r"\S*\s*$", "", self._line)
        elif key.isprintable() and len(self._line) < LINE_MAX:
            self._line += key


def _tail(text: str, width: int) -> str:
    """Return the end of *text*, as much of it as *width* columns hold."""
    start, left = len(text), width
    while start and (left := left - cell_len(text[start - 1])) >= 0:
        start -= 1
    return text[start:]


@contextmanager
def by_key(descriptor: int) -> Iterator[Callable[[], None]]:
    """Have a terminal say each key and echo none; as it was, at the end.

    Yields what sets it so again, after somebody else has had it.
    """
    before = termios.tcgetattr(descriptor)

    def again() -> None:
        tty.setcbreak(descriptor)

    again()
    try:
        yield again
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
