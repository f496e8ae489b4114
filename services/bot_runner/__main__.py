"""``python -m services.bot_runner``: the bot runner as a process of its own."""

import sys

from libs.chassis import process
from libs.chassis.foundation import Foundation
from libs.chassis.observing import observed
from libs.telemetry import logs
from services.bot_runner.bootstrap import NAME, service
from services.bot_runner.settings import BotRunnerSettings


def main() -> int:
    """Run until a signal says stop; returns the exit code."""
    settings = BotRunnerSettings.from_environment()
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
