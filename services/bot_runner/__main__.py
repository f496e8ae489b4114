"""Runs the bot runner in a process of its own: `python -m services.bot_runner`."""

import sys

from libs.chassis.alone import run_alone
from services.bot_runner.bootstrap import NAME, service
from services.bot_runner.settings import BotRunnerSettings


def main() -> int:
    """Run until a signal says stop; returns the exit code. See `run_alone`."""
    return run_alone(NAME, BotRunnerSettings, service)


if __name__ == "__main__":
    sys.exit(main())
