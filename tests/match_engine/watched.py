"""Matches that not everybody may see."""

from typing import Final

from libs.kernel.ids import MatchId, fresh_id
from libs.wire.writers import spec_message
from opolyx.match.v1 import access_pb2
from tests.match_engine.edge_rig import Edge, a_person, a_player
from tests.match_engine.rig import new_match

SEATED: Final = a_player()
OTHER: Final = a_player()
"""Who sits in them."""


def watched_by(watching: int, *guests: str) -> access_pb2.Access:
    """Return an access as a lobby sends it, of a newer release perhaps."""
    access = access_pb2.Access.FromString(bytes([0x08, watching]))
    access.guest_ids.extend(sorted(guests))
    return access


async def create(edge: Edge, access: access_pb2.Access) -> MatchId:
    """Make a match, as the lobby does."""
    request = new_match(MatchId(fresh_id(edge.clock.now_ms())), bots=0)
    request.seats.extend(spec_message(a_person(player)) for player in (SEATED, OTHER))
    request.access.CopyFrom(access)
    await edge.matches_as("lobby").CreateMatch(request)
    return MatchId(request.match_id)
