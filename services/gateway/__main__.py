"""Runs the gateway in a process of its own: `python -m services.gateway`."""

import sys

from libs.chassis.foundation import Foundation
from libs.chassis.observing import observed
from libs.chassis.process import Service, run
from libs.telemetry import logs
from services.gateway.bootstrap import NAME, service
from services.gateway.settings import GatewaySettings


def main() -> int:
    """Run until a signal says stop; returns the exit code.

    Raises:
        SettingsError: a setting is wrong.

    """
    settings = GatewaySettings.from_environment()
    logs.configure(level=settings.telemetry.log_level, style=settings.telemetry.log_style)
    foundation = Foundation(settings)
    telemetry = Service(
        "telemetry",
        lambda: observed(settings.telemetry, service=NAME, version=foundation.version),
    )
    return run([telemetry, service(settings, foundation)], grace_s=settings.shutdown_grace_s)


if __name__ == "__main__":
    sys.exit(main())
