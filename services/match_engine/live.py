"""A match in the memory of its owner, and what is asked of it besides its state."""

from collections import deque
from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

from libs.kernel.chance import Draws
from libs.kernel.ids import CommandId, MatchId
from libs.kernel.reasons import Reason
from libs.kernel.shards import shard_of
from libs.rules import phases
from libs.rules.match import Match
from libs.store.access import PUBLIC, Access
from libs.store.ports import Status
from libs.wire.chain import Chain
from libs.wire.record import StoredRecord

RECENT_MAX: Final = 64
"""How many of a match's last records, and of the ids of their commands, are kept (start)."""


class Accepted(NamedTuple):
    """The reply of a command that was accepted, the same for ever.

    Attributes:
        first_sequence, sequence: of the first and of the last event that it caused.
        chain_hash: of the chain there, 32 bytes.
        at_ms: when it was decided.

    """

    first_sequence: int
    sequence: int
    chain_hash: bytes
    at_ms: int


class Entry(NamedTuple):
    """One of the last records, with what tells its command again.

    *request_hash* is None where the record was read from the store, which alone has it then.
    """

    record: StoredRecord
    command_id: CommandId
    request_hash: bytes | None
    at_ms: int

    @property
    def reply(self) -> Accepted:
        """What whoever sent the command was told, or is owed."""
        first_seq, last_seq, last_hash, _ = self.record
        return Accepted(first_seq, last_seq, last_hash, self.at_ms)


class LiveMatch:
    """A match that this engine writes, under a fence.

    What can be seen here is durable at any moment: a command is decided on a copy of the state,
    which takes the state's place once its record is committed (W4, W5). So *match* never changes,
    another one comes after it, and who keeps it across an await keeps a moment of the match.

    Attributes:
        match: the state after the last record.
        chain: the end of the stream: `last_seq`, `last_hash`, `at_ms`, and the fence.
        status: what the head says of the match.
        draws: the match's chance, as secret as its seed while the match goes on.
        shard: the match's shard.
        access: who may see it, beside those who sit in it.
        settled_outage: the number of the last outage that is known to have been paid back (T8).

    """

    __slots__ = (
        *("_by_command", "_recent", "access", "chain", "draws"),
        *("match", "settled_outage", "shard", "status"),
    )

    def __init__(
        self,
        match: Match,
        chain: Chain,
        draws: Draws,
        recent: Sequence[Entry] = (),
        access: Access = PUBLIC,
    ) -> None:
        """Show *match* at the end of *chain*; *recent* are the last records, in order."""
        self.match = match
        self.chain = chain
        self.draws = draws
        self.access = access
        self.shard = shard_of(chain.match_id)
        self.settled_outage = 0
        self.status = status_of(match)
        self._recent = deque(recent[-RECENT_MAX:])
        self._by_command = {entry.command_id: entry for entry in self._recent}

    @property
    def match_id(self) -> MatchId:
        """The match's id."""
        return self.chain.match_id

    @property
    def is_over(self) -> bool:
        """Whether nothing can happen to the match any more."""
        return self.match.phase == phases.ENDED

    def recent(self, after_seq: int) -> list[StoredRecord] | None:
        """Return the records that hold events after a sequence; None if not all are kept here."""
        if after_seq >= self.chain.last_seq:
            return []
        if not self._recent or self._recent[0].record.first_seq > after_seq + 1:
            return None
        return [entry.record for entry in self._recent if entry.record.last_seq > after_seq]

    def admit(self, player_id: str) -> None:
        """Let a guest see the match, as the store has it already."""
        self.access = self.access.with_guest(player_id)

    def known(self, command_id: CommandId) -> Entry | None:
        """Return what a command did if it is among the last; None says nothing (W3)."""
        return self._by_command.get(command_id)

    def advance(self, match: Match, entry: Entry) -> None:
        """Go on to *match*, whose last record is committed. For whoever has committed it alone."""
        self.match = match
        self.status = status_of(match)
        self.chain.advance(entry.record, entry.at_ms)
        if len(self._recent) == RECENT_MAX:
            del self._by_command[self._recent.popleft().command_id]
        self._recent.append(entry)
        self._by_command[entry.command_id] = entry


class Listener(Protocol):
    """Hears what becomes of the matches in memory. Never waits: whoever is told first is quick."""

    def committed(self, live: LiveMatch, record: StoredRecord) -> None:
        """Take note of a record that is committed, the last of *live*; in order, each once (W7)."""
        ...

    def dropped(self, match_id: MatchId, reason: Reason) -> None:
        """Take note that a match left this memory: what is committed next may not be told here."""
        ...


def status_of(match: Match) -> Status:
    """Return what a match's head says of it."""
    if match.phase == phases.ENDED:
        return Status.ENDED if match.winners else Status.ABORTED
    return Status.FROZEN if match.frozen_at >= 0 else Status.LIVE
