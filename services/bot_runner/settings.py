"""What the bot runner can be told (`OPOLYX_BOT_RUNNER__...`)."""

from typing import Annotated

from pydantic import Field

from libs.chassis.foundation import NodeSettings
from libs.chassis.sections import Port, ServerSettings


class BotRunnerSection(ServerSettings):
    """The section of the bot runner."""

    port: Port = 7075

    pace_ms: Annotated[int, Field(ge=0, le=10_000)] = 600
    """How long a bot takes for each move, so that people can follow; twice that for the answer to
    an offer. 0: as fast as it can. At most what a bid may take."""

    choice_limit_ms: Annotated[int, Field(ge=1)] = 500
    """How long a bot may take to choose, which it does in less than 5 ms, before a safe move is
    made for it."""

    matches_max: Annotated[int, Field(ge=1)] = 1_000
    """How many matches are played at once; in others the clock decides until there is room."""


class BotRunnerSettings(NodeSettings):
    """The settings of a process that runs the bot runner."""

    bot_runner: BotRunnerSection = BotRunnerSection()
