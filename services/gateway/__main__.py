"""Runs the gateway in a process of its own: `python -m services.gateway`."""

import sys

from libs.chassis.alone import run_alone
from services.gateway.bootstrap import NAME, service
from services.gateway.settings import GatewaySettings


def main() -> int:
    """Run until a signal says stop; returns the exit code. See `run_alone`."""
    return run_alone(NAME, GatewaySettings, service)


if __name__ == "__main__":
    sys.exit(main())
