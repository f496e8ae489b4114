"""Lists that come in pages, read as far as somebody wants them; and the names that go with them."""

from collections.abc import Awaitable, Callable, Iterable
from typing import Annotated, Any, Final

import typer

from libs.client.client import Client
from opolyx.lobby.v1 import lobby_service_pb2 as pb

LIMIT: Final = 50
PAGE: Final = 200
NAMES_MAX: Final = 50
"""How many people may be asked for at once."""

LimitOption = Annotated[int, typer.Option("--limit", metavar="N", min=1, help="How many at most.")]


async def listed(
    method: Callable[[Any], Awaitable[Any]], request: Any, field: str, limit: int | None = None
) -> list[Any]:
    """Return the first entries of a list, or all, page by page; each has them in *field*."""
    found: list[Any] = []
    while True:
        request.page_size = PAGE if limit is None else min(limit - len(found), PAGE)
        page = await method(request)
        found += getattr(page, field)
        request.page_token = page.next_page_token
        if not page.next_page_token or (limit is not None and len(found) >= limit):
            return found


async def names_of(client: Client, player_ids: Iterable[str]) -> dict[str, str]:
    """Return what people are called, by player id; those whom nobody knows are left out."""
    wanted = sorted(set(player_ids))
    names: dict[str, str] = {}
    for first in range(0, len(wanted), NAMES_MAX):
        request = pb.BatchGetPlayersRequest(player_ids=wanted[first : first + NAMES_MAX])
        found = await client.lobby.BatchGetPlayers(request)
        names |= {player.player_id: player.display_name for player in found.players}
    return names
