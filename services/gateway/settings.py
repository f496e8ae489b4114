"""What the gateway can be told (`OPOLYX_GATEWAY__...`)."""

from typing import Annotated

from pydantic import Field

from libs.chassis.foundation import NodeSettings
from libs.chassis.sections import Port, RateSettings, Seconds, ServerSettings
from libs.chassis.settings import Section


class CommandRateSettings(RateSettings):
    """How often somebody may give commands, on a stream or by themselves (start)."""

    per_s: Annotated[float, Field(gt=0)] = 50.0
    burst: Annotated[int, Field(ge=1)] = 100


class RoomRateSettings(Section):
    """How often somebody may make a room, or ask for a quick match or a rematch (start)."""

    per_minute: Annotated[float, Field(gt=0)] = 10.0
    burst: Annotated[int, Field(ge=1)] = 5


class GatewaySection(ServerSettings):
    """The section of the gateway."""

    port: Port = 7070
    connection_idle_s: Seconds | None = 300.0
    streams_per_connection: Annotated[int, Field(ge=1)] | None = 10_000
    """How many calls one connection carries at a time; others wait in the client. The seats of a
    bot runner share a connection, so it is as many as there may be at all (start)."""

    request_bytes_max: Annotated[int, Field(ge=1024, le=16 * 1024 * 1024)] = 4 * 1024
    """How large one message of a client may be: a command has some tens of bytes."""

    rate: RateSettings = RateSettings()
    """How often one person may call, whatever it is."""

    command_rate: CommandRateSettings = CommandRateSettings()
    """How often one person may give commands."""

    room_rate: RoomRateSettings = RoomRateSettings()
    """How often one person may make rooms."""

    streams_per_person: Annotated[int, Field(ge=1)] = 32
    """How many streams one person may have open; more are OVERLOADED (start)."""

    heartbeat_s: Seconds = 10.0
    """How long a client's stream may be quiet before a sign of life is sent."""

    queue_max: Annotated[int, Field(ge=1)] = 256
    """How many messages may wait for one client before it is cut off (start)."""

    command_timeout_s: Seconds = 10.0
    """How long a command may look for its answer, where its sender sets no deadline (start)."""

    move_timeout_s: Seconds = 15.0
    """How long a match may be without an owner before its streams are let go of (start)."""


class GatewaySettings(NodeSettings):
    """The settings of a process that runs the gateway."""

    gateway: GatewaySection = GatewaySection()
