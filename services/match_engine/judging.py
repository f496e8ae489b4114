"""What becomes of a command on a match as it is now (write protocol, W3, W4, T4, T5, T8)."""

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Final, NamedTuple

from libs.chassis.status import RefusedError
from libs.kernel.command_ids import extend_id, fire_id
from libs.kernel.ids import CommandId
from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules.clocks import fires_at, open_deadlines
from libs.rules.decide import play
from libs.rules.operating import OUTAGE_MS_MOST
from libs.rules.refusals import Refusal
from libs.store.ownership import Outage
from libs.store.ports import Dup, MatchStore
from libs.telemetry import logs, metrics, names, traces
from libs.wire.refusals import tell
from libs.wire.request_hash import request_hash
from services.match_engine.appending import (
    COMMANDS,
    KINDS,
    Decision,
    MovedError,
    Request,
    Scribe,
)
from services.match_engine.live import Accepted, Entry, LiveMatch
from services.match_engine.matches import Matches
from services.match_engine.replies import reply_again, reused

CommandOf = Callable[[LiveMatch], c.Command]
"""Finds out the command from the match: whose seat it is, that alone knows.

It may raise `RefusedError` and `MalformedError`.
"""

OutagesOf = Callable[[int], Sequence[Outage]]
"""Tells all outages of a shard that is ours, in order (T8)."""

_LOOKED_FOR_FIRST: Final = frozenset(
    {
        Reason.MATCH_NOT_FOUND,
        Reason.NOT_SEATED,
        Reason.MATCH_NOT_STARTED,
        Reason.MATCH_ENDED,
        Reason.MATCH_FROZEN,
        Reason.MATCH_NOT_FROZEN,
        Reason.SEAT_IS_OUT,
    }
)
"""What is told even to whoever has an old sequence in mind."""

_log: Final = logs.get()
_LATENESS: Final = metrics.histogram(names.TIMER_LATENESS)


class Order(NamedTuple):
    """A command that is to be decided.

    Attributes:
        command_id: its id.
        command_of: finds it out.
        stamp_ms: when it entered the queue, which is its `now` (T5).
        expected_sequence: the head that its sender has in mind, if that matters to it.

    """

    command_id: CommandId
    command_of: CommandOf
    stamp_ms: int
    expected_sequence: int | None = None


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


class Judge:
    """Decides on matches in memory, for whoever has their turn.

    All of it raises what `Scribe.write` does, and `MovedError` too where the match is seen to be
    elsewhere than memory has it: whoever has the turn then loads it and asks again.
    """

    def __init__(
        self, store: MatchStore, matches: Matches, scribe: Scribe, outages_of: OutagesOf
    ) -> None:
        self._store = store
        self._matches = matches
        self._scribe = scribe
        self._outages_of = outages_of

    async def judge(self, live: LiveMatch, order: Order) -> Accepted:
        """Decide a command, and write what it causes.

        Raises:
            RefusedError: it is refused, or it is what its `command_of` raised.
            MalformedError: what its `command_of` raised.

        """
        command = order.command_of(live)
        kind = KINDS[type(command)]
        with traces.deciding(kind, live.match_id) as span:
            try:
                return await self._judge(live, order, command)
            except RefusedError as error:
                reason = error.told.reason
                span.set_attribute(names.REFUSAL_REASON, reason)
                COMMANDS.labels(kind, "refused").inc()
                _log.info(
                    "command_refused",
                    match_id=live.match_id,
                    command=kind,
                    command_id=order.command_id,
                    reason=reason,
                )
                raise

    async def fire(self, live: LiveMatch, deadline_id: str, stamp_ms: int) -> Fired:
        """Let a deadline act if it is open and due, its grace over (T4, T5).

        Raises:
            RefusedError: MATCH_FROZEN.

        """
        command_id = fire_id(live.match_id, deadline_id)
        entry = live.known(command_id)
        if entry is not None:
            return Fired(Outcome.DONE, accepted=entry.reply)
        await self._pay_back(live)
        deadline = next(
            (d for d in open_deadlines(live.match) if d.deadline_id == deadline_id), None
        )
        if deadline is None:
            return await self._fire_closed(live, command_id, deadline_id)
        if live.match.frozen_at < 0 and fires_at(deadline) > max(stamp_ms, live.chain.at_ms):
            return Fired(Outcome.NOT_DUE, due_ms=fires_at(deadline))
        with traces.deciding(KINDS[c.FireDeadline], live.match_id):
            return Fired(Outcome.DONE, accepted=await self._time_out(live, deadline, stamp_ms))

    async def _judge(self, live: LiveMatch, order: Order, command: c.Command) -> Accepted:
        request = Request(order.command_id, request_hash(command), command)
        entry = live.known(order.command_id)
        if entry is not None:
            return await self._known_reply(live, entry, request)
        await self._pay_back(live)
        if isinstance(command, c.SeatCommand):
            await self._expire(live, order.stamp_ms)
        decision = _decide(live, request, order.stamp_ms)
        expected = order.expected_sequence
        if expected is not None and expected != live.chain.last_seq:
            decision = _stale(decision, expected, live.chain.last_seq)
        if isinstance(decision, Refusal):
            # What was accepted long ago looks wrong now, and gets its reply all the same.
            found = await self._store.find_command(live.match_id, order.command_id)
            if found is None:
                raise RefusedError(tell(decision))
            return await self._reply_again(live, request, found)
        written = await self._scribe.write(live, decision)
        if isinstance(written, Dup):
            return await self._reply_again(live, request, written)
        return written

    async def _known_reply(self, live: LiveMatch, entry: Entry, request: Request) -> Accepted:
        """Return the reply of a command that is among the last of its match."""
        if entry.request_hash is None:
            found = await self._store.find_command(live.match_id, request.command_id)
            assert found is not None, request.command_id
            return await self._reply_again(live, request, found)
        if entry.request_hash != request.request_hash:
            raise reused(request.command_id)
        COMMANDS.labels(request.kind, "repeated").inc()
        return entry.reply

    async def _reply_again(self, live: LiveMatch, request: Request, found: Dup) -> Accepted:
        if found.last_seq > live.chain.last_seq:
            self._matches.reload(live)  # somebody else has written it since
        reply = await reply_again(
            self._store, live.match_id, request.command_id, request.request_hash, found
        )
        COMMANDS.labels(request.kind, "repeated").inc()
        return reply

    async def _pay_back(self, live: LiveMatch) -> None:
        """Move the deadlines by each outage that the match was not paid back for (T8).

        Whatever is decided after an outage comes after its extension, which has the outage's end
        for its time. So an outage that ends no later than the last record asks for nothing: the
        match was made since, or has its extension, or its clocks stood and moved by the pause.
        """
        outages = self._outages_of(live.shard)
        if not outages or outages[-1].number <= live.settled_outage:
            return
        for number, from_ms, to_ms in outages:
            is_running = not live.is_over and live.match.frozen_at < 0
            if number > live.settled_outage and is_running and to_ms > live.chain.at_ms:
                command = c.ExtendDeadlines(min(to_ms - from_ms, OUTAGE_MS_MOST), number)
                await self._write_ours(live, extend_id(live.match_id, number), command, to_ms)
            live.settled_outage = max(number, live.settled_outage)

    async def _expire(self, live: LiveMatch, stamp_ms: int) -> None:
        """Decide the time-outs that come before a move of that stamp, the first one first (T5)."""
        while live.match.frozen_at < 0:
            passed = [d for d in open_deadlines(live.match) if fires_at(d) < stamp_ms]
            if not passed:
                return
            await self._time_out(live, min(passed, key=lambda d: d.due), stamp_ms)

    async def _time_out(self, live: LiveMatch, deadline: e.DeadlineSet, stamp_ms: int) -> Accepted:
        command = c.FireDeadline(deadline.deadline_id)
        command_id = fire_id(live.match_id, deadline.deadline_id)
        accepted = await self._write_ours(live, command_id, command, stamp_ms)
        _LATENESS.observe((accepted.at_ms - deadline.due) / 1000)
        return accepted

    async def _write_ours(
        self, live: LiveMatch, command_id: CommandId, command: c.SystemCommand, at_ms: int
    ) -> Accepted:
        """Carry out a command of the engine's own, which its state says is there to be done."""
        request = Request(command_id, request_hash(command), command)
        decision = _decide(live, request, at_ms)
        if isinstance(decision, Refusal):
            raise RefusedError(tell(decision))
        written = await self._scribe.write(live, decision)
        if isinstance(written, Dup):
            # Done already, which this memory does not know.
            self._matches.reload(live)
            raise MovedError
        return written

    async def _fire_closed(self, live: LiveMatch, command_id: CommandId, fired: str) -> Fired:
        """Say what became of a deadline that is not open: for good, so memory alone won't do."""
        found = await self._store.find_command(live.match_id, command_id)
        if found is not None:
            request = Request(command_id, found.request_hash, c.FireDeadline(fired))
            return Fired(Outcome.DONE, accepted=await self._reply_again(live, request, found))
        head = await self._store.head(live.match_id)
        if head is None or (head.seq, head.fence) != (live.chain.last_seq, live.chain.fence):
            self._matches.reload(live)
            raise MovedError
        return Fired(Outcome.STALE)


def _decide(live: LiveMatch, request: Request, stamp_ms: int) -> Decision | Refusal:
    """Decide on a copy of the state (W4): what can be seen stays as it is until the commit."""
    at_ms = max(stamp_ms, live.chain.at_ms)
    match = live.match.copy()
    decided = play(match, request.command, live.draws, at_ms)
    if isinstance(decided, Refusal):
        return decided
    return Decision(request, at_ms, decided, match)


def _stale(decision: Decision | Refusal, expected: int, head: int) -> Refusal:
    """Refuse what was meant for another moment, whatever would become of it now."""
    if isinstance(decision, Refusal) and decision.reason in _LOOKED_FOR_FIRST:
        return decision
    return Refusal(Reason.STALE_SEQUENCE, "", {"expected": expected, "head": head})
