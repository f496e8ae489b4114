"""Runs the lobby in a process of its own: `python -m services.lobby`."""

import sys

from libs.chassis.alone import run_alone
from services.lobby.bootstrap import NAME, service
from services.lobby.settings import LobbySettings


def main() -> int:
    """Run until a signal says stop; returns the exit code. See `run_alone`."""
    return run_alone(NAME, LobbySettings, service)


if __name__ == "__main__":
    sys.exit(main())
