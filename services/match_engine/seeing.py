"""What is told of a match that cannot be loaded: to those who may see it, and to nobody else."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from libs.chassis.status import RefusedError, refused
from libs.kernel.ids import MatchId
from libs.kernel.reasons import Reason
from libs.store.directory import Directory
from services.match_engine.callers import Caller, may_see

_TELLING: Final = frozenset({Reason.MATCH_QUARANTINED, Reason.STORE_UNAVAILABLE})
"""Refusals of a load that would tell a stranger that there is such a match."""


class Seeing:
    """Keeps private matches private where there is no state that says who sits in them."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory

    @asynccontextmanager
    async def veiled(self, caller: Caller, match_id: MatchId) -> AsyncIterator[None]:
        """Let the block refuse as it does, unless *caller* may not see the match at all.

        Raises:
            RefusedError: MATCH_NOT_FOUND instead of what the block has said.

        """
        try:
            yield
        except RefusedError as error:
            if error.told.reason in _TELLING and not await self._may_see(caller, match_id):
                raise refused(Reason.MATCH_NOT_FOUND) from error
            raise

    async def _may_see(self, caller: Caller, match_id: MatchId) -> bool:
        label = await self._directory.label(match_id)
        return label is not None and may_see(caller, label.players, label.access)
