"""The gRPC edge of the lobby, put together from its parts."""

from typing import Final

from libs.chassis.roles import AllowList, service
from opolyx.lobby.v1 import lobby_service_pb2 as pb
from opolyx.lobby.v1 import lobby_service_pb2_grpc as pb_grpc
from services.lobby.history_rpcs import HistoryRpcs
from services.lobby.people_rpcs import PeopleRpcs
from services.lobby.quick_rpcs import QuickRpcs
from services.lobby.room_rpcs import RoomRpcs
from services.lobby.seat_rpcs import SeatRpcs
from services.lobby.watch_rpcs import WatchRpcs

SERVICE: Final = pb.DESCRIPTOR.services_by_name["LobbyService"]

BELIEVED: Final = ("gateway",)
"""The services that may call on behalf of others."""

ALLOWED: Final = AllowList(
    {f"{SERVICE.full_name}/{method.name}": [service("gateway")] for method in SERVICE.methods}
)
"""Who may call what: all of it comes through the gateway, on behalf of people or for itself."""


class LobbyServicer(
    RoomRpcs, SeatRpcs, QuickRpcs, WatchRpcs, PeopleRpcs, HistoryRpcs, pb_grpc.LobbyServiceServicer
):
    """`opolyx.lobby.v1.LobbyService`. What it answers and refuses is said there."""
