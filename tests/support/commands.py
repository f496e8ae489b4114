"""Commands run as a person would: in a process of their own."""

import os
import subprocess
import sys

from tests.support.repository import ROOT


def opolyx(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, with these settings and no others."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OPOLYX_")}
    return subprocess.run(
        [sys.executable, "-m", "services.console", *arguments],
        cwd=ROOT,
        env={**kept, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
