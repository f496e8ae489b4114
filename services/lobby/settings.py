"""What the lobby can be told (`OPOLYX_LOBBY__...`)."""

from typing import Annotated

from pydantic import Field

from libs.chassis.foundation import NodeSettings
from libs.chassis.sections import Port, Seconds, ServerSettings


class LobbySection(ServerSettings):
    """The section of the lobby."""

    port: Port = 7071

    stream_grace_s: Annotated[float, Field(ge=0)] = 0.0
    """Whoever follows rooms has no last word to hear, and begins anew with how they are."""

    start_reply_s: Seconds = 3.0
    """How long whoever starts a match waits for it; then it is told that it will be (start)."""

    start_again_s: Seconds = 1.0
    """How often matches that could not be made are tried again (start)."""

    room_idle_s: Seconds = 900.0
    """After how long a waiting room in which nothing happens closes by itself (start)."""

    room_idle_look_s: Seconds = 5.0
    """How late that may be (start)."""

    quick_fill_s: Seconds = 15.0
    """How long whoever looks for a quick match waits for others, until bots fill it (start)."""

    watch_look_s: Seconds = 0.5
    """How long what another replica does may go unnoticed by those who watch rooms (start)."""

    heartbeat_s: Seconds = 10.0
    """How long a client's stream may be quiet before a sign of life is sent."""

    store_connections: Annotated[int, Field(ge=2)] = 6
    """How many connections to the store the lobby has at most."""


class LobbySettings(NodeSettings):
    """The settings of a process that runs the lobby."""

    lobby: LobbySection = LobbySection()
