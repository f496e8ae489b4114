"""An operator who calls an engine's administration, and what is written down of it."""

from typing import Any, Final

from libs.kernel.ids import MatchId
from libs.rules.match import Match
from opolyx.admin.v1 import admin_service_pb2 as pb
from services.match_engine.allowed import ADMIN_SERVICE
from tests.match_engine.edge_rig import UNKNOWN, Edge, a_command, a_player, as_operator

BOSS: Final = a_player()

ACTING: Final = ("FreezeMatch", "ResumeMatch", "AbortMatch")
ABOUT_ONE: Final = (*ACTING, "ReleaseMatch")
METHODS: Final = [method.name for method in ADMIN_SERVICE.methods]


def a_request(method: str, match_id: str = UNKNOWN, **fields: Any) -> Any:
    """Return a request that is in order."""
    if method in ACTING:
        fields = {"command_id": a_command(), **fields}
    if method in ABOUT_ONE:
        fields = {"match_id": match_id, "reason": "a complaint", **fields}
    return getattr(pb, f"{method}Request")(**fields)


def ask(edge: Edge, request: Any, metadata: Any = None) -> Any:
    """Call the method of a request, as an operator unless it is said who."""
    method = request.DESCRIPTOR.name.removesuffix("Request")
    behalf = as_operator(BOSS) if metadata is None else metadata
    return getattr(edge.admin_as(), method)(request, metadata=behalf)


async def calls(edge: Edge, **asked: Any) -> list[tuple[str, str, str]]:
    """Return what was written down of what changes something, the latest first.

    Methods, matches and outcomes; this very look is written down too.
    """
    listed = await ask(edge, pb.ListAdminCallsRequest(**asked))
    return [
        (call.method, call.match_id, call.outcome)
        for call in listed.calls
        if call.method in ABOUT_ONE
    ]


async def state(edge: Edge, match_id: MatchId) -> Match:
    """Return a match as it is."""
    return (await edge.decider.read(match_id)).match
