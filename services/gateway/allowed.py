"""Who may call which method of the gateway."""

from collections.abc import Iterable, Mapping
from typing import Final

from google.protobuf.descriptor import ServiceDescriptor

from libs.chassis.roles import ANYONE, OPERATOR, PERSON, SPECTATOR, AllowList, service
from opolyx.admin.v1 import admin_service_pb2 as admin_pb
from opolyx.bot.v1 import bot_service_pb2 as bot_pb
from opolyx.gateway.v1 import gateway_service_pb2 as gateway_pb
from opolyx.lobby.v1 import lobby_service_pb2 as lobby_pb
from opolyx.match.v1 import match_service_pb2 as match_pb
from opolyx.progression.v1 import progression_service_pb2 as progression_pb

MATCH_SERVICE: Final = match_pb.DESCRIPTOR.services_by_name["MatchService"]
LOBBY_SERVICE: Final = lobby_pb.DESCRIPTOR.services_by_name["LobbyService"]
PROGRESSION_SERVICE: Final = progression_pb.DESCRIPTOR.services_by_name["ProgressionService"]
ADMIN_SERVICE: Final = admin_pb.DESCRIPTOR.services_by_name["AdminService"]
BOT_SERVICE: Final = bot_pb.DESCRIPTOR.services_by_name["BotService"]
GATEWAY_SERVICE: Final = gateway_pb.DESCRIPTOR.services_by_name["GatewayService"]

BOT_RUNNER: Final = "bot_runner"
BELIEVED: Final = (BOT_RUNNER,)
"""The services that may call on behalf of others: of a bot's seat, and of nothing else."""

_PUBLIC: Final = (ANYONE,)
"""What is in every rule book, and the keys: no token is asked for."""

_PLAYERS: Final = (PERSON, OPERATOR)
_AT_THE_TABLE: Final = (*_PLAYERS, service(BOT_RUNNER))
_LOOKERS: Final = (*_PLAYERS, SPECTATOR)
_WATCHERS: Final = (*_LOOKERS, service(BOT_RUNNER))
_OPERATORS: Final = (OPERATOR,)
_NOBODY: Final = ()
"""For the services among themselves; their engine, lobby or bot runner takes them directly."""

_ALLOWED: Final[Mapping[ServiceDescriptor, Mapping[Iterable[str], str]]] = {
    MATCH_SERVICE: {
        _PUBLIC: "ListRuleSets GetRuleSet GetBoard ListKeys",
        _AT_THE_TABLE: "SubmitCommand PlayMatch ListLegalCommands WhyNot",
        _WATCHERS: "WatchMatch GetMatch ReadEvents Explain GetHead",
        _LOOKERS: "ListMatches",
        _NOBODY: "CreateMatch AdmitGuest FireDeadline Fire",
    },
    LOBBY_SERVICE: {
        _PLAYERS: (
            "CreateRoom JoinRoom TakeSeat LeaveRoom AddBot RemoveBot KickSeat HandOverRoom "
            "SetReady StartMatch Rematch QuickMatch CancelQuickMatch CreateInvite AcceptInvite "
            "ListMyMatches SetDisplayName"
        ),
        _LOOKERS: "ListRooms WatchRooms GetRoom WatchRoom GetPlayer BatchGetPlayers",
        _NOBODY: "ResolvePlayer",
    },
    PROGRESSION_SERVICE: {_LOOKERS: "GetProfile ListCards GetLeaderboard WatchProfile"},
    ADMIN_SERVICE: {
        _OPERATORS: (
            "FindMatches FreezeMatch ResumeMatch AbortMatch ListQuarantinedMatches ReleaseMatch "
            "ListAdminCalls"
        )
    },
    BOT_SERVICE: {_LOOKERS: "ListBots", _NOBODY: "SeatBots"},
    GATEWAY_SERVICE: {_PUBLIC: "GetServerInfo"},
}


AT_ANY_ENGINE: Final = frozenset(
    {
        *("ListMatches", "ListRuleSets", "GetRuleSet", "GetBoard", "ListKeys"),
        *("FindMatches", "ListQuarantinedMatches", "ListAdminCalls"),
    }
)
"""The methods of engines that are the same at any of them; all others are about one match."""


def allow_list() -> AllowList:
    """Return who may call what, of every service that the gateway serves."""
    return AllowList(
        {
            f"{described.full_name}/{method}": roles
            for described, rights in _ALLOWED.items()
            for roles, methods in rights.items()
            for method in methods.split()
        }
    )
