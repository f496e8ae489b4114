"""A decision becomes durable, or it never was (write protocol, W5, W6, W10)."""

import time
from collections.abc import Mapping
from typing import Final, NamedTuple, get_args

from libs.chassis.status import refused
from libs.kernel.ids import CommandId
from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules.clocks import next_deadline
from libs.rules.match import Match
from libs.store.ports import Conflict, Dup, Fenced, MatchStore, NewRecord, Ok, Unknown
from libs.telemetry import logs, metrics, names
from libs.wire.commands import name_of
from libs.wire.record import StoredRecord
from libs.wire.request_hash import actor_of
from services.match_engine.live import Accepted, Entry, LiveMatch, status_of
from services.match_engine.matches import Matches
from services.match_engine.signing import SigningKeys

KINDS: Final[Mapping[type[c.Command], str]] = {
    command: name_of(command) for command in (*get_args(c.SeatCommand), *get_args(c.SystemCommand))
}
"""The names of commands in logs and metrics, such as `offer_trade`."""

COMMANDS: Final = metrics.counter(names.MATCH_COMMANDS)
"""Counts what became of commands, by kind and outcome."""

_log: Final = logs.get()
_APPEND: Final = metrics.histogram(names.EVENTSTORE_APPEND)


class MovedError(Exception):
    """The match may not be what memory had of it: load it anew, and decide again (W6)."""


class Request(NamedTuple):
    """A command with that by which it is known again (W3)."""

    command_id: CommandId
    request_hash: bytes
    command: c.Command

    @property
    def kind(self) -> str:
        """The command's name in logs and metrics."""
        return KINDS[type(self.command)]


class Decision(NamedTuple):
    """What the rules have decided, to be written.

    Attributes:
        request: whose decision it is.
        at_ms: when it was made, no earlier than the match's last record.
        events: what the command caused.
        match: the state after them.

    """

    request: Request
    at_ms: int
    events: list[e.Event]
    match: Match


class Scribe:
    """Writes decisions into the streams of their matches."""

    def __init__(self, store: MatchStore, matches: Matches, keys: SigningKeys) -> None:
        self._store = store
        self._matches = matches
        self._keys = keys

    async def write(self, live: LiveMatch, decision: Decision) -> Accepted | Dup:
        """Append a decision, made on *live* as it is; then *live* has moved on (W5-W7).

        `Dup`: the stream holds the command already; nothing was written.

        Raises:
            MovedError: it was not written, or nobody knows; the match was forgotten.
            RefusedError: NOT_OWNER_OF_SHARD, somebody else writes the match.
            StoreUnavailableError: nothing can have been written.

        """
        chain, match = live.chain, decision.match
        (command_id, request_hash, command), at_ms, events, _ = decision
        stored = chain.draft(command_id, actor_of(command), at_ms, events)
        status = status_of(match)
        signed = None
        if status.is_over:
            signed = self._keys.sign(live.match_id, stored.last_seq, stored.hash, ended=True)
        began_s = time.perf_counter()
        outcome = await self._store.append(
            live.match_id,
            chain.fence,
            chain.last_seq,
            NewRecord(stored=stored, command_id=command_id, request_hash=request_hash, at_ms=at_ms),
            wake_of(match),
            status=status,
            signed=signed,
        )
        _APPEND.observe(time.perf_counter() - began_s)
        match outcome:
            case Ok():
                return self._go_on(live, decision, stored)
            case Dup():
                return outcome
            case Fenced():
                self._matches.drop(live.match_id, Reason.NOT_OWNER_OF_SHARD)
                raise refused(Reason.NOT_OWNER_OF_SHARD)
            case Unknown():
                # The next turn raises the fence first: by then it is in the stream, or never is.
                _log.warning("command_unsettled", match_id=live.match_id, command_id=command_id)
            case Conflict():
                pass
        self._matches.reload(live)
        raise MovedError

    def _go_on(self, live: LiveMatch, decision: Decision, stored: StoredRecord) -> Accepted:
        (command_id, request_hash, _), at_ms, _, match = decision
        entry = Entry(stored, command_id, request_hash, at_ms)
        live.advance(match, entry)
        kind = decision.request.kind
        COMMANDS.labels(kind, "accepted").inc()
        _log.info(
            "command_accepted",
            match_id=live.match_id,
            command=kind,
            command_id=command_id,
            last_seq=stored.last_seq,
        )
        self._matches.tell(live, stored)
        return entry.reply


def wake_of(match: Match) -> int | None:
    """Return when a match must be looked at, at the latest: when its first deadline is due (T2)."""
    deadline = next_deadline(match)
    return None if deadline is None else deadline.due
