"""A system of one's own, and people who play and watch on it by the command line."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from tests.support.commands import opolyx
from tests.support.repository import ROOT
from tests.support.system import System, data_folder


class Rig:
    """A system that runs, and people who play on it by the command line."""

    def __init__(self, system: System) -> None:
        self.system = system

    def variables(self) -> dict[str, str]:
        return {
            "OPOLYX_DATA_FOLDER": str(self.system.folder),
            "OPOLYX_PEERS__GATEWAY": self.system.gateway,
        }

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return opolyx(*arguments, **self.variables())

    def start(
        self, command: str, *arguments: str, out: int | IO[str] = subprocess.PIPE
    ) -> subprocess.Popen[str]:
        """Start a command; lines go in by its stdin."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("OPOLYX_")}
        return subprocess.Popen(
            [sys.executable, "-m", "services.console", command, *arguments],
            cwd=ROOT,
            env={**kept, **self.variables()},
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=subprocess.PIPE,
            text=True,
        )

    def type(self, typed: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run `opolyx play` with all that is typed at once, and then the end of stdin."""
        with self.start("play", *arguments) as process:
            out, told = process.communicate(typed)
        return subprocess.CompletedProcess(process.args, process.returncode, out, told)


@contextmanager
def running_rig() -> Iterator[Rig]:
    """Yield a system that runs."""
    with data_folder() as folder:
        system = System(folder)
        try:
            asyncio.run(system.start())
            yield Rig(system)
        finally:
            asyncio.run(system.close())
