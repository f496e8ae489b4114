"""What the timer can be told (`OPOLYX_TIMER__...`)."""

from typing import Annotated

from pydantic import Field

from libs.chassis.foundation import NodeSettings
from libs.chassis.sections import Port, ServerSettings


class TimerSection(ServerSettings):
    """The section of the timer."""

    port: Port = 7073
    request_bytes_max: Annotated[int, Field(ge=1024, le=16 * 1024 * 1024)] = 1024 * 1024
    """A batch of deadlines holds up to a thousand matches."""

    stream_grace_s: Annotated[float, Field(ge=0)] = 0.0
    """An engine opens its stream again as soon as there is a timer, and loses nothing by that."""


class TimerSettings(NodeSettings):
    """The settings of a process that runs the timer."""

    timer: TimerSection = TimerSection()
