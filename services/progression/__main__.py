"""Runs progression in a process of its own: `python -m services.progression`."""

import sys

from libs.chassis.alone import run_alone
from services.progression.bootstrap import NAME, service
from services.progression.settings import ProgressionSettings


def main() -> int:
    """Run until a signal says stop; returns the exit code. See `run_alone`."""
    return run_alone(NAME, ProgressionSettings, service)


if __name__ == "__main__":
    sys.exit(main())
