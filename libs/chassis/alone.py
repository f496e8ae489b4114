"""One service in a process of its own: all that `python -m services.NAME` does."""

import sys
from collections.abc import Callable
from typing import Final, TypeVar

from libs.chassis.foundation import Foundation, NodeSettings
from libs.chassis.observing import telemetry_of
from libs.chassis.process import Service, run
from libs.chassis.settings import SettingsError
from libs.telemetry import logs

USAGE: Final = 2
"""The exit code where a setting is wrong, as of `opolyx serve`."""

N = TypeVar("N", bound=NodeSettings)


def run_alone(name: str, settings: type[N], bootstrap: Callable[[N, Foundation], Service]) -> int:
    """Run the service *name* until a signal says stop; returns the exit code.

    It is told by the environment. The code is 0 if it was stopped, 1 if it failed, and 2 if a
    setting is wrong, which is then said on stderr, one a line.
    """
    try:
        told = settings.from_environment()
        logs.configure(level=told.telemetry.log_level, style=told.telemetry.log_style)
        foundation = Foundation(told)
        service = bootstrap(told, foundation)
    except SettingsError as error:
        sys.stderr.write(f"{error}\n")
        return USAGE
    telemetry = telemetry_of(told.telemetry, service=name, version=foundation.version)
    return run([telemetry, service], grace_s=told.shutdown_grace_s)
