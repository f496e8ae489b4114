"""The whole system, run inside a command: on a store of its own that is gone afterwards."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, TypeVar

from libs.chassis import process
from libs.chassis.foundation import Foundation
from libs.chassis.observing import telemetry_of
from libs.chassis.process import Service
from services.console.fleet import SERVICES, assemble, load_settings

GRACE_S: Final = 5.0
HOST: Final = "127.0.0.1"
FAST_PER_S: Final = 100_000
"""Calls a second of whoever plays at a machine's pace: beyond all that it can do."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Stage:
    """A system that runs.

    Attributes:
        gateway: its address.
        foundation: what it stands on; issues tokens for it.

    """

    gateway: str
    foundation: Foundation


class SystemStoppedError(Exception):
    """The system ended before what was to be done with it."""


async def on_stage(pace_ms: int, work: Callable[[Stage], Awaitable[T]]) -> T:
    """Run every service in this process, do *work*, and stop them; bots move at this pace.

    Nothing of the environment has a say.

    Raises:
        SystemStoppedError: a service failed, and why.
        Exception: what *work* raises.

    """
    with TemporaryDirectory(prefix="opolyx-demo-") as folder:
        variables = environment(Path(folder), free_ports(len(SERVICES)), pace_ms)
        settings = load_settings(SERVICES, variables)
        shared = settings[SERVICES[-1]]
        foundation = Foundation(shared)
        ready, stop = asyncio.Event(), asyncio.Event()
        services = [
            telemetry_of(shared.telemetry, service="demo", version=foundation.version),
            *assemble(SERVICES, settings, foundation),
            Service("stage", lambda: _raised(ready)),
        ]

        async def play() -> T:
            await ready.wait()
            return await work(Stage(shared.peers.gateway, foundation))

        running = asyncio.create_task(process.serve(services, stop=stop, grace_s=GRACE_S))
        playing = asyncio.create_task(play())
        try:
            await asyncio.wait({running, playing}, return_when=asyncio.FIRST_COMPLETED)
            if not playing.done():
                raise SystemStoppedError("a service has failed") from running.exception()
            return playing.result()
        finally:
            stop.set()
            playing.cancel()
            await asyncio.wait({running, playing})


@asynccontextmanager
async def _raised(ready: asyncio.Event) -> AsyncIterator[None]:
    ready.set()
    yield


def environment(folder: Path, ports: list[int], pace_ms: int) -> Mapping[str, str]:
    """Return the settings of a system that lives in *folder*, as variables."""
    found = {
        "OPOLYX_DATA_FOLDER": str(folder),
        "OPOLYX_TELEMETRY__METRICS_PORT": "0",
        "OPOLYX_BOT_RUNNER__PACE_MS": str(pace_ms),
        "OPOLYX_GATEWAY__COMMAND_RATE__PER_S": str(FAST_PER_S),
        "OPOLYX_GATEWAY__COMMAND_RATE__BURST": str(FAST_PER_S),
    }
    listening = zip(SERVICES, ports, strict=True)
    return found | {f"OPOLYX_{name.upper()}__PORT": str(port) for name, port in listening}


def free_ports(count: int) -> list[int]:
    """Return ports that nobody listens on; held together, so that no two are the same."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind((HOST, 0))
        return [one.getsockname()[1] for one in sockets]
