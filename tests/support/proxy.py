"""A line to a server that can be held up and cut, to see what its clients make of it."""

import asyncio
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]

_CHUNK = 1 << 16


class Proxy:
    """A TCP proxy on a free port of the loopback.

    Attributes:
        port: where it listens.
        greetings: the first thing that was said on each connection it has taken.
        requests: how often a client has sent something.

    """

    def __init__(self, connect: Callable[[], Awaitable[Streams]]) -> None:
        """Make a proxy; *connect* opens a connection to the server behind it."""
        self.port = 0
        self.greetings: list[bytes] = []
        self.requests = 0
        self._connect = connect
        self._open = asyncio.Event()
        self._open.set()
        self._holding = asyncio.Event()
        self._marker: bytes | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    def hold(self) -> None:
        """Keep what clients send from now on on its way."""
        self._holding.clear()
        self._open.clear()

    async def until_holding(self) -> None:
        """Wait until something is on its way."""
        await self._holding.wait()

    def let_go(self) -> None:
        """Deliver what is on its way, though its sender may be gone by now."""
        self._open.set()

    def cut_before_reply(self, marker: bytes) -> None:
        """Cut the next connection whose server answers with *marker*, and keep the answer."""
        self._marker = marker

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server_reader, server_writer = await self._connect()
        try:
            async with asyncio.TaskGroup() as pumps:
                pumps.create_task(self._requests(reader, server_writer))
                pumps.create_task(self._replies(server_reader, writer))
        except* ConnectionError:
            pass
        finally:
            writer.transport.abort()
            server_writer.transport.abort()

    async def _requests(self, reader: asyncio.StreamReader, server: asyncio.StreamWriter) -> None:
        is_first = True
        while data := await reader.read(_CHUNK):
            if is_first:
                self.greetings.append(data)
                is_first = False
            self.requests += 1
            if not self._open.is_set():
                self._holding.set()
                await self._open.wait()
            server.write(data)
            await server.drain()
        server.write_eof()

    async def _replies(self, reader: asyncio.StreamReader, client: asyncio.StreamWriter) -> None:
        seen = b""
        while data := await reader.read(_CHUNK):
            if self._marker is not None:
                seen += data
                if self._marker in seen:
                    self._marker = None
                    raise ConnectionAbortedError
            client.write(data)
            await client.drain()
        client.close()
