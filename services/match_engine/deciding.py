"""Commands, one after the other, from the queue of their match to the commit (W2-W7, T4, T5)."""

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import NamedTuple

from libs.kernel.clock import Clock
from libs.kernel.ids import CommandId, MatchId
from libs.rules import commands as c
from libs.rules.match import Match
from libs.store.ownership import Outage
from libs.store.ports import MatchStore
from opolyx.match.v1 import match_service_pb2 as pb
from services.match_engine.live import Accepted, LiveMatch
from services.match_engine.matches import Matches
from services.match_engine.seeds import Seeds
from services.match_engine.signing import SigningKeys

CommandOf = Callable[[Match], c.Command]
"""Finds out the command from the state: whose seat it is, the match alone knows.

It may raise `RefusedError` and `MalformedError`.
"""

OutagesOf = Callable[[int], Sequence[Outage]]
"""Tells the outages of a shard that is ours, by number (T8)."""


class Outcome(StrEnum):
    """What became of a fired deadline."""

    DONE = "done"
    """It acted, now or when it was fired before."""
    STALE = "stale"
    """The decision was made already, or the match is over. Never fire it again."""
    NOT_DUE = "not_due"
    """It was set for later, or was moved. Fire it again when it is due."""


class Fired(NamedTuple):
    """The answer to a fired deadline.

    Attributes:
        outcome: what became of it.
        due_ms: when to fire it again, grace included, if it is not due.
        accepted: its reply as a command, if it is done.

    """

    outcome: Outcome
    due_ms: int | None = None
    accepted: Accepted | None = None


class Decider:
    """Decides the commands of this engine's matches, and makes every decision durable."""

    def __init__(  # noqa: PLR0913 - all that a decision rests on
        self,
        store: MatchStore,
        matches: Matches,
        seeds: Seeds,
        keys: SigningKeys,
        clock: Clock,
        outages_of: OutagesOf,
    ) -> None:
        """Decide by *clock*, the database's (T7)."""
        raise NotImplementedError

    async def submit(
        self,
        match_id: MatchId,
        command_id: CommandId,
        command_of: CommandOf,
        *,
        expected_sequence: int | None = None,
        queue_until_ms: int | None = None,
    ) -> Accepted:
        """Decide a command; returns once it is durable. Idempotent by *command_id*.

        Raises:
            RefusedError: it was refused, and changed nothing.
            MalformedError: what *command_of* raised.
            StoreUnavailableError: it may have been accepted or not: send it again.

        """
        raise NotImplementedError

    async def create(self, request: pb.CreateMatchRequest, command_id: CommandId) -> Accepted:
        """Make a match, with a secret seed of its own. Idempotent by *command_id*.

        Raises what `submit` does.
        """
        raise NotImplementedError

    async def fire(self, match_id: MatchId, deadline_id: str) -> Fired:
        """Let a deadline act, once, however often it is fired (T3-T5).

        Raises what `submit` does.
        """
        raise NotImplementedError

    async def read(self, match_id: MatchId) -> LiveMatch:
        """Return a match, loading it if need be.

        Raises:
            RefusedError: MATCH_NOT_FOUND, MATCH_QUARANTINED, NOT_OWNER_OF_SHARD, OVERLOADED.
            StoreUnavailableError: it could not be loaded.

        """
        raise NotImplementedError

    async def settle(self) -> None:
        """Wait until no command is under way: at a drain, when no more come in."""
        raise NotImplementedError
