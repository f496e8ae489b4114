"""Projects of strangers who test with the kit: a folder, and a run of pytest in it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.support.repository import ROOT

CONFTEST: Final = 'pytest_plugins = ["services.testkit.plugin"]\n'
PLAIN: Final = """
[pytest]
filterwarnings = error
asyncio_default_fixture_loop_scope = function
"""
AUTO: Final = f"{PLAIN}asyncio_mode = auto\n"
WITHIN_S: Final = 280.0


@dataclass(frozen=True, slots=True)
class Run:
    """What became of a run."""

    code: int
    said: str


def run(folder: Path, files: Mapping[str, str], *options: str) -> Run:
    """Write *files* into *folder*, and run pytest there, as whoever has installed opolyx does."""
    for name, text in {"conftest.py": CONFTEST, "pytest.ini": AUTO, **files}.items():
        (folder / name).write_text(text, encoding="utf-8")
    return run_in(folder, *options)


def run_in(folder: Path, *options: str) -> Run:
    """Run pytest in a folder; of the environment, it knows nothing of opolyx."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OPOLYX_")}
    path = os.pathsep.join([str(ROOT), str(ROOT / "protos" / "gen")])
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", *options],
        cwd=folder,
        env={**kept, "PYTHONPATH": path},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=False,
    )
    return Run(done.returncode, done.stdout + done.stderr)
