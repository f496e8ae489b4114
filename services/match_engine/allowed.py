"""Who may call which method of an engine."""

from typing import Final

from libs.chassis.roles import AllowList, service
from opolyx.admin.v1 import admin_service_pb2 as admin_pb
from opolyx.engine.v1 import engine_service_pb2 as engine_pb
from opolyx.engine.v1 import shard_service_pb2 as shard_pb
from opolyx.match.v1 import match_service_pb2 as match_pb

MATCH_SERVICE: Final = match_pb.DESCRIPTOR.services_by_name["MatchService"]
ENGINE_SERVICE: Final = engine_pb.DESCRIPTOR.services_by_name["EngineService"]
ADMIN_SERVICE: Final = admin_pb.DESCRIPTOR.services_by_name["AdminService"]
SHARD_SERVICE: Final = shard_pb.DESCRIPTOR.services_by_name["ShardService"]

BELIEVED: Final = ("gateway",)
"""The services that may call on behalf of others."""

_GATEWAY: Final = service("gateway")
_LOBBY: Final = service("lobby")
_TIMER: Final = service("timer")
_SERVICES: Final = frozenset(
    map(service, ("gateway", "lobby", "match_engine", "timer", "progression", "bot_runner"))
)

_ALLOWED: Final = {
    # The gateway's own: an engine knows no clients, and tells a match by `Follow`.
    "opolyx.match.v1.MatchService/PlayMatch": (),
    "opolyx.match.v1.MatchService/WatchMatch": (),
    "opolyx.match.v1.MatchService/SubmitCommand": (_GATEWAY,),
    "opolyx.match.v1.MatchService/CreateMatch": (_LOBBY,),
    "opolyx.match.v1.MatchService/AdmitGuest": (_LOBBY,),
    "opolyx.match.v1.MatchService/FireDeadline": (_TIMER,),
    "opolyx.match.v1.MatchService/Fire": (_TIMER,),
    "opolyx.engine.v1.EngineService/Decide": (_GATEWAY,),
    "opolyx.engine.v1.EngineService/Follow": (_GATEWAY,),
    # On behalf of operators, whom it lets in.
    **{f"{ADMIN_SERVICE.full_name}/{method.name}": (_GATEWAY,) for method in ADMIN_SERVICE.methods},
}
"""The methods that change something, or are for one service. All others read, for any service."""


def allow_list() -> AllowList:
    """Return who may call what, of every service that an engine serves."""
    served = (
        f"{described.full_name}/{method.name}"
        for described in (MATCH_SERVICE, ENGINE_SERVICE, SHARD_SERVICE, ADMIN_SERVICE)
        for method in described.methods
    )
    return AllowList({method: _ALLOWED.get(method, _SERVICES) for method in served})
