"""A running system to test a client or a bot against, over real gRPC on this machine."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Final

import grpc

from libs.chassis import process
from libs.chassis.channels import Channel
from libs.chassis.engines import Engines
from libs.chassis.process import AddressError, Service
from libs.client.client import Client
from libs.kernel.clock import Clock, ManualClock, SystemClock
from libs.rules.match import Match
from opolyx.bot.v1 import bot_service_pb2 as bot_pb
from opolyx.lobby.v1 import lobby_service_pb2 as lobby_pb
from opolyx.lobby.v1.lobby_service_pb2_grpc import LobbyServiceStub
from services.testkit.clock import START_MS, VirtualClock
from services.testkit.composing import Parts, compose
from services.testkit.databases import fresh_database
from services.testkit.errors import KitError, MisuseError, NotInThisStackError
from services.testkit.telling import Teller

ATTEMPTS: Final = 5
START_S: Final = 120.0
STOP_S: Final = 10.0

_PAUSE_S: Final = 0.01


class Stack:
    """Every service that there is, in this process, while it is open. See `running_stack`.

    Attributes:
        address: where its gateway listens, host and port.
        store: "memory" or "postgres".
        parts: what it is made of, for the kit.

    """

    def __init__(self, parts: Parts, store: str) -> None:
        self.parts = parts
        self.store = store
        self.address = parts.foundation.settings.peers.gateway
        self._loop = asyncio.get_running_loop()
        self._clients = AsyncExitStack()
        self._stop = asyncio.Event()
        self._inside: asyncio.Future[None] = self._loop.create_future()
        self._running: asyncio.Task[None] | None = None
        self._clock: VirtualClock | None = None
        if isinstance(parts.foundation.clock, ManualClock):
            self._clock = VirtualClock(parts.foundation.clock, parts.watcher, self._tell)

    @property
    def clock(self) -> VirtualClock:
        """The clock of the stack.

        Raises:
            MisuseError: it is the machine's.

        """
        if self._clock is None:
            raise MisuseError("the stack runs by the machine's clock: name virtual_clock as well")
        return self._clock

    def token(self, name: str, *roles: str) -> str:
        """Return a token of a person called *name*; roles are "operator" and "spectator"."""
        if strange := [role for role in roles if role not in ("operator", "spectator")]:
            raise MisuseError(f"a role is operator or spectator, not {strange[0]!r}")
        return self.parts.foundation.issuer.issue(name, roles=roles)

    def client(self, name: str, *roles: str) -> Client:
        """Return a client that is a person called *name*. It is closed with the stack."""
        self.check_loop()
        self.token(name, *roles)
        # Made anew for each call: in the time of a test any token may run out.
        client = Client.connect(self.address, lambda: self.token(name, *roles))
        self._clients.push_async_callback(client.close)
        return client

    def require(self, service: str) -> None:
        """Go on if the stack has a service, such as "progression".

        Raises:
            NotInThisStackError: it lacks it.

        """
        if service not in self.parts.settings:
            known = ", ".join(self.parts.settings)
            raise MisuseError(f"no service is called {service!r}; there are {known}")
        if service in self.parts.absent:
            raise NotInThisStackError(service)

    async def player_id(self, name: str) -> str:
        """Return the player id of the person called *name*, who is known from then on."""
        foundation = self.parts.foundation
        request = lobby_pb.ResolvePlayerRequest(
            issuer=foundation.settings.auth.issuer, subject=name, display_name=name
        )
        player = await LobbyServiceStub(self._lobby).ResolvePlayer(request)
        return player.player_id

    def check_loop(self) -> None:
        """Go on if the caller's event loop is the stack's.

        Raises:
            MisuseError: it is another, on which nothing of the stack would ever answer.

        """
        if asyncio.get_running_loop() is not self._loop:
            raise MisuseError(
                "the stack runs on another event loop than this test: set both "
                "asyncio_default_fixture_loop_scope and asyncio_default_test_loop_scope alike"
            )

    # For the kit.

    @property
    def engines(self) -> Engines:
        """The way to the engine, as the lobby has it."""
        return self._engines

    @property
    def bots(self) -> Channel:
        """The way to the bot runner, as the lobby has it."""
        return self._bots

    async def start(self) -> None:
        """Open every service, and return once all of it is there."""
        services = [*self.parts.services(), Service("testkit", self._opened)]
        self._running = asyncio.create_task(
            process.serve(services, stop=self._stop, grace_s=STOP_S)
        )
        await asyncio.wait({self._running, self._inside}, return_when=asyncio.FIRST_COMPLETED)
        if not self._inside.done():
            error, self._running = self._running.exception(), None
            raise KitError(f"the stack did not start: {_reasons(error)}") from error
        async with asyncio.timeout(START_S):
            await self._answers()

    async def stop(self) -> None:
        """Close every service.

        Raises:
            KitError: one of them has failed, and why.

        """
        await self._clients.aclose()
        self._inside.cancel()
        if self._running is None:
            return
        self._stop.set()
        await asyncio.wait({self._running})
        if (error := self._running.exception()) is not None:
            raise KitError(f"a service of the stack has failed: {_reasons(error)}") from error

    @asynccontextmanager
    async def _opened(self) -> AsyncIterator[None]:
        foundation, peers = self.parts.foundation, self.parts.foundation.settings.peers
        async with (
            foundation.engines("lobby") as self._engines,
            foundation.channel("gateway", peers.lobby) as self._lobby,
            foundation.channel("lobby", peers.bot_runner) as self._bots,
            foundation.channel("match_engine", peers.timer) as self._timer,
        ):
            self._inside.set_result(None)
            yield

    async def _tell(self, matches: Sequence[Match]) -> None:
        await Teller(self._timer).tell(matches)

    async def _answers(self) -> None:
        """Return once a call goes all the way through the gateway."""
        client = self.client("test kit", "operator")
        while True:
            with suppress(grpc.aio.AioRpcError):
                await client.bots.ListBots(bot_pb.ListBotsRequest())
                return
            await asyncio.sleep(_PAUSE_S)


def _causes(error: BaseException | None) -> list[BaseException | None]:
    """Return what an error is or, where it is a group, what is in it."""
    if isinstance(error, BaseExceptionGroup):
        return [cause for part in error.exceptions for cause in _causes(part)]
    return [error]


def _reasons(error: BaseException | None) -> str:
    return ", ".join(f"{type(cause).__name__}: {cause}" for cause in _causes(error))


async def _started(
    folder: Path, clock: Clock, database: str | None, settings: Sequence[str]
) -> Stack:
    """Return a stack that runs. On other ports, if somebody was faster to take one of these."""
    for attempt in range(1, ATTEMPTS + 1):
        store = "memory" if database is None else "postgres"
        stack = Stack(compose(folder, clock, database, settings), store)
        try:
            await stack.start()
        except BaseException as error:
            await asyncio.shield(stack.stop())
            is_taken = any(isinstance(c, AddressError) for c in _causes(error.__cause__))
            if attempt == ATTEMPTS or not is_taken:
                raise
        else:
            return stack
    raise AssertionError("the last attempt returns or raises")


@asynccontextmanager
async def running_stack(
    *, server: str | None = None, virtual: bool = False, settings: Sequence[str] = ()
) -> AsyncIterator[Stack]:
    """Yield a stack that runs, on a fresh database of *server*, or on memory.

    With *virtual* its clock is a test's. *settings* are further ones, such as
    `OPOLYX_BOT_RUNNER__PACE_MS=100`. Enter and leave it in one task, or in two: nothing of it
    belongs to whoever does.
    """
    clock: Clock = ManualClock(START_MS) if virtual else SystemClock()
    async with AsyncExitStack() as opened:
        # Not below where a test has its folder: the embedded server may be another user.
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="opolyx-stack-")))
        database = None
        if server is not None:
            database = await opened.enter_async_context(fresh_database(server))
        stack = await _started(folder, clock, database, settings)
        try:
            yield stack
        finally:
            await asyncio.shield(stack.stop())
