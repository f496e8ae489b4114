"""``python -m services.progression``: progression as a process of its own."""

import sys

from libs.chassis import process
from libs.chassis.foundation import Foundation
from libs.chassis.observing import observed
from libs.telemetry import logs
from services.progression.bootstrap import NAME, service
from services.progression.settings import ProgressionSettings


def main() -> int:
    """Run until a signal says stop; returns the exit code."""
    settings = ProgressionSettings.from_environment()
    logs.configure(level=settings.telemetry.log_level, style=settings.telemetry.log_style)
    foundation = Foundation(settings)
    telemetry = process.Service(
        "telemetry",
        lambda: observed(settings.telemetry, service=NAME, version=foundation.version),
    )
    services = [telemetry, service(settings, foundation)]
    return process.run(services, grace_s=settings.shutdown_grace_s)


if __name__ == "__main__":
    sys.exit(main())
