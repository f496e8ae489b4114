"""Signs of life of a stream: whether it is open, and what the server's clock says."""

import asyncio


class Signs:
    """What a client knows of the way to the server of what it follows.

    Attributes:
        opened: set while a stream is open.
        lost: set from when one has broken off until the next is open; not before the first.

    """

    def __init__(self) -> None:
        self.opened = asyncio.Event()
        self.lost = asyncio.Event()
        self._server_ms = 0
        self._heard_s = 0.0

    def server_ms(self) -> int:
        """Return the server's time in milliseconds: what it said last, and what has passed since.

        0 before it has said what it is. Clocks of a match count down against it.
        """
        if not self._server_ms:
            return 0
        return self._server_ms + round((_now_s() - self._heard_s) * 1000)

    def hear(self, server_ms: int | None = None) -> None:
        """Take in that the server is there, and its time if it has said it. For streams."""
        if server_ms is not None:
            self._server_ms, self._heard_s = server_ms, _now_s()
        self.lost.clear()
        self.opened.set()

    def lose(self) -> None:
        """Take in that the stream has broken off. For streams."""
        if self.opened.is_set():
            self.opened.clear()
            self.lost.set()


def _now_s() -> float:
    return asyncio.get_running_loop().time()
