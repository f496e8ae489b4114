"""Runs the match engine in a process of its own: `python -m services.match_engine`."""

import sys

from libs.chassis.alone import run_alone
from services.match_engine.bootstrap import NAME, service
from services.match_engine.settings import MatchEngineSettings


def main() -> int:
    """Run until a signal says stop; returns the exit code. See `run_alone`."""
    return run_alone(NAME, MatchEngineSettings, service)


if __name__ == "__main__":
    sys.exit(main())
