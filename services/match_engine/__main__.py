"""``python -m services.match_engine``: the match engine in a process of its own."""

import sys

from libs.chassis import process
from libs.chassis.foundation import Foundation
from libs.chassis.observing import observed
from libs.chassis.process import Service
from libs.chassis.settings import SettingsError
from libs.telemetry import logs
from services.match_engine.bootstrap import NAME, service
from services.match_engine.settings import MatchEngineSettings


def main() -> int:
    """Run the match engine until a signal says stop; returns the exit code."""
    try:
        settings = MatchEngineSettings.from_environment()
        logs.configure(level=settings.telemetry.log_level, style=settings.telemetry.log_style)
        foundation = Foundation(settings)
    except SettingsError as error:
        sys.exit(str(error))
    telemetry = Service(
        "telemetry", lambda: observed(settings.telemetry, service=NAME, version=foundation.version)
    )
    return process.run(
        [telemetry, service(settings, foundation)], grace_s=settings.shutdown_grace_s
    )


if __name__ == "__main__":
    sys.exit(main())
