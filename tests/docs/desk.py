"""Where a reader of the guides sits: at a terminal, beside a system that runs."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.support.system import System

PATIENCE_S: Final = 240.0
ADDRESS: Final = "127.0.0.1:7070"
"""Where `make run` serves, and what the guides say. Here the system is elsewhere."""


class Desk:
    """Runs what a guide shows as its reader would, in a folder of its own."""

    def __init__(self, system: System, folder: Path) -> None:
        """Sit down in *folder*, which looks to commands like that of the repository."""
        self._system = system
        self.folder = folder
        (folder / ".venv").symlink_to(sys.prefix)

    async def shell(self, script: str) -> str:
        """Run a script, stopping at the first command that fails, and return its output.

        Raises:
            AssertionError: a command failed; with all that it said.

        """
        script = script.replace(ADDRESS, self._system.gateway)
        kept = {name: value for name, value in os.environ.items() if "OPOLYX" not in name}
        told = await asyncio.to_thread(
            subprocess.run,
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=self.folder,
            env={**kept, "OPOLYX_DATA_FOLDER": str(self._system.folder)},
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_S,
        )
        assert told.returncode == 0, f"{told.stdout}\n{told.stderr}\n{script}"
        return told.stdout
