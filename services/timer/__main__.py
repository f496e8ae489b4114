"""Runs the timer in a process of its own: `python -m services.timer`."""

import sys

from libs.chassis.alone import run_alone
from services.timer.bootstrap import NAME, service
from services.timer.settings import TimerSettings


def main() -> int:
    """Run until a signal says stop; returns the exit code. See `run_alone`."""
    return run_alone(NAME, TimerSettings, service)


if __name__ == "__main__":
    sys.exit(main())
