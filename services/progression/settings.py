"""What progression can be told (`OPOLYX_PROGRESSION__...`)."""

from pathlib import Path
from typing import Annotated, Final

from pydantic import Field

from libs.chassis.foundation import NodeSettings
from libs.chassis.sections import Port, Seconds, ServerSettings

KEYS_FOLDER: Final = Path("keys") / "progression"
"""Where the keys that seal the seeds of coming cards lie, in the data folder."""


class ProgressionSection(ServerSettings):
    """The section of progression."""

    port: Port = 7074

    stream_grace_s: Annotated[float, Field(ge=0)] = 0.0
    """Whoever watches a profile has no last word to hear, and begins anew with how it is."""

    heartbeat_s: Seconds = 10.0
    """How long a stream may be quiet before a sign of life is sent."""

    poll_s: Seconds = 0.5
    """How often the store is asked what other replicas have granted to those who are watched
    (start)."""


class ProgressionSettings(NodeSettings):
    """The settings of a process that runs progression."""

    progression: ProgressionSection = ProgressionSection()
