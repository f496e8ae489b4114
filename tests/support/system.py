"""The whole system in processes of its own, to be talked to, killed and started again."""

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Final

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from libs.chassis.foundation import POSTGRES_FOLDER
from libs.chassis.issuing import DevelopmentIssuer
from libs.client.client import Client
from libs.kernel.clock import SystemClock
from services.console.fleet import ALL, SERVICES, load_settings
from services.console.staging import environment, free_ports
from tests.support.repository import ROOT
from tests.support.waiting import until

START_S: Final = 60.0
STOP_S: Final = 30.0


class System:
    """Every service, on a folder and on ports that stay the same over restarts.

    Attributes:
        folder: its data.
        gateway: the address of its gateway.
        log: what it said on stderr, of all its processes.
        variables: its settings, by their names.
        settings, clock: what its services share.

    """

    def __init__(
        self,
        folder: Path,
        *,
        pace_ms: int = 0,
        processes: Sequence[str] = (ALL,),
        **variables: str,
    ) -> None:
        """Choose ports; nothing runs yet.

        *processes* are what `opolyx serve` is told, once for each of them; *variables* are further
        settings, by their names.
        """
        self.folder = folder
        self.log = folder / "log.jsonl"
        self.variables = {**environment(folder, free_ports(len(SERVICES)), pace_ms), **variables}
        settings = load_settings(["gateway"], self.variables)["gateway"]
        self.gateway = settings.peers.gateway
        self.settings = settings
        self.clock = SystemClock()
        self._issuer = DevelopmentIssuer.open(folder, settings.auth, self.clock)
        self._names = processes
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    async def start(self) -> None:
        """Start, and return once the gateway serves."""
        assert not self._processes
        with self.log.open("ab") as log:
            for name in self._names:
                self._processes[name] = _started(name, self.variables, log)
        await until(self.is_serving, START_S)

    async def is_serving(self) -> bool:
        """Tell whether the gateway answers and says that it serves."""
        assert self._processes
        if not self.is_running:
            raise RuntimeError(f"the system has ended: {self.log.read_text()[-4000:]}")
        async with grpc.aio.insecure_channel(self.gateway) as channel:
            stub: Any = health_pb2_grpc.HealthStub(channel)
            with suppress(grpc.aio.AioRpcError):
                response = await stub.Check(health_pb2.HealthCheckRequest(), timeout=2)
                return bool(response.status == health_pb2.HealthCheckResponse.SERVING)
        return False

    def kill(self) -> None:
        """End the processes at once, as a power cut would."""
        assert self._processes
        for process in self._processes.values():
            process.kill()
        self.forget()

    def stop(self) -> int:
        """End it in good order, whoever plays first, and return the worst exit code."""
        assert self._processes
        for process in reversed(self._processes.values()):
            process.send_signal(signal.SIGTERM)
        return self.forget()

    @property
    def is_running(self) -> bool:
        """Whether there are processes, any of which may have ended by itself."""
        running = self._processes.values()
        return bool(running) and all(process.poll() is None for process in running)

    def forget(self) -> int:
        """Return the worst exit code of processes that have ended, or are about to."""
        assert self._processes
        codes = [process.wait(STOP_S) for process in self._processes.values()]
        self._processes = {}
        return max(codes, key=abs)

    def pids(self) -> dict[str, int]:
        """Return the ids of the processes, each by what it serves."""
        return {name: process.pid for name, process in self._processes.items()}

    def postgres(self) -> int | None:
        """Return the process id of the embedded PostgreSQL, if one runs."""
        for file in (self.folder / POSTGRES_FOLDER).rglob("postmaster.pid"):
            pid = int(file.read_text().split()[0])
            with suppress(ProcessLookupError):
                os.kill(pid, 0)
                return pid
        return None

    def kill_postgres(self) -> None:
        """End the embedded PostgreSQL at once."""
        pid = self.postgres()
        assert pid is not None
        os.kill(pid, signal.SIGKILL)

    def token(self, name: str, *roles: str) -> str:
        """Return a token of a person called *name*."""
        return self._issuer.issue(name, roles=roles)

    @asynccontextmanager
    async def client(self, name: str, *roles: str) -> AsyncIterator[Client]:
        """Yield a client of the gateway that is a person called *name*."""
        token = self.token(name, *roles)
        async with Client.connect(self.gateway, lambda: token) as client:
            yield client

    async def close(self) -> None:
        """End whatever runs, and see that no server is left behind."""
        if self._processes:
            self.kill()
        await until(lambda: self.postgres() is None, STOP_S)


@contextmanager
def data_folder() -> Iterator[Path]:
    """Yield a folder for a system of one's own.

    Not a `tmp_path`: where root runs the tests the store's server is somebody else, whom pytest
    shuts out of the folders above that.
    """
    with tempfile.TemporaryDirectory(prefix="opolyx-test-") as folder:
        yield Path(folder).resolve()


@asynccontextmanager
async def running_system(*, pace_ms: int = 0, **variables: str) -> AsyncIterator[System]:
    """Yield a system that runs, on a store of its own."""
    with data_folder() as folder:
        system = System(folder, pace_ms=pace_ms, **variables)
        try:
            await system.start()
            yield system
        finally:
            await asyncio.shield(system.close())


def _started(name: str, variables: dict[str, str], log: IO[bytes]) -> subprocess.Popen[bytes]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OPOLYX_")}
    return subprocess.Popen(  # a fixed command; nothing of it comes from outside
        [sys.executable, "-m", "services.console", "serve", name],
        cwd=ROOT,
        env={**kept, **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=log,
    )
