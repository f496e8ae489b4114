"""The bots of one match at their table, from when they sit down until they have nothing to do."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from libs.chassis.channels import on_behalf
from libs.client.client import Client
from libs.client.replies import Accepted, Refused, Reply
from libs.client.stream import Metadata, UnansweredError
from libs.client.table import Chair, Table
from libs.kernel.command_ids import bot_id
from libs.kernel.ids import MatchId
from libs.rules import commands as c
from libs.rules import phases
from libs.rules.clocks import decision_deadlines
from libs.telemetry import logs, metrics, names
from libs.wire.commands import name_of
from libs.wire.refusals import RULE
from opolyx.engine.v1 import caller_pb2
from services.bot_runner.choosing import Hand

OFFER_PACES: Final = 2
"""How many paces a bot thinks about an offer (start)."""

ANSWER_S: Final = 10.0
"""How long a command may be without an answer, before the table is looked at again (start)."""

PAUSE_S: Final = 1.0
"""How long to wait after a command to which no answer was to be had (start)."""

_log: Final = logs.get()
_MOVES: Final = metrics.counter(names.BOT_MOVES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How bots play: *pace_ms* for each move, and *choice_limit_ms* at most to choose it."""

    pace_ms: int
    choice_limit_ms: int


async def play(
    client: Client, match_id: MatchId, strengths: Mapping[int, str], manner: Manner
) -> None:
    """Play the seats of *strengths* until the match is over, or all of them are out.

    Another replica may play the same: what two of them do at one sequence is one command (W3).

    Raises:
        RefusedError, StreamBrokenError, BrokenChainError: there is no playing now. See `Table`.

    """
    async with client.play(match_id, _as_bot(min(strengths))) as table:
        if await anext(table, None) is not None:
            await Sitting(table, strengths, manner).run()


class Sitting:
    """Some bots at one table, whose match has been created."""

    def __init__(self, table: Table, strengths: Mapping[int, str], manner: Manner) -> None:
        """Sit down. The table is the first bot's; the others draw up chairs when they need one."""
        self._table = table
        self._match = table.match
        self._manner = manner
        limit_ms = manner.choice_limit_ms
        self._hands = {
            seat: Hand(table.match, seat, strength, limit_ms=limit_ms)
            for seat, strength in strengths.items()
            if table.match.has_seat(seat)
        }
        self._chairs: dict[int, Table | Chair] = {min(strengths): table}
        self._moves = 0
        self._asked_for: _Decision | None = None
        self._asked_at_s = 0.0
        self._offered_at_s: dict[int, float] = {}
        # By seat, the sequence at which it has said all that it had to say.
        self._done_at: dict[int, int] = {}

    async def run(self) -> None:
        """Play. Returns when nothing is left to do."""
        while not all(self._match.out[seat] for seat in self._hands):
            turn = None if self._table.has_waiting else self._next_turn()
            if turn is None or turn.at_s > _now_s():
                is_over = await self._look_on(None if turn is None else turn.at_s)
            else:
                is_over = await self._act(self._hands[turn.seat])
            if is_over:
                return

    async def _look_on(self, until_s: float | None) -> bool:
        """Take in the next record, if it comes before *until_s*; returns whether all is over."""
        try:
            async with asyncio.timeout_at(until_s):
                return await anext(self._table, None) is None
        except TimeoutError:
            return False

    def _next_turn(self) -> "_Turn | None":
        """Return who of us acts next, and from when on."""
        if self._match.frozen_at >= 0:
            return None
        turns = [*self._decisions(), *self._offers()]
        return min(turns, key=lambda turn: turn.at_s, default=None)

    def _decisions(self) -> "list[_Turn]":
        """Return the decision of ours that is pending first: of several debts, the earliest."""
        for deadline in decision_deadlines(self._match):
            if deadline.seat in self._hands and not self._is_done(deadline.seat):
                # From the last move on too: what takes several, such as levels, comes one by one.
                decision = _Decision(deadline.seat, deadline.deadline_id, self._moves)
                if decision != self._asked_for:
                    self._asked_for, self._asked_at_s = decision, _now_s()
                return [_Turn(deadline.seat, self._asked_at_s + self._manner.pace_ms / 1000)]
        return []

    def _offers(self) -> "list[_Turn]":
        """Return the offers to us, each with when it has been thought about for long enough."""
        offers, offered_at_s = self._match.offers, self._offered_at_s
        if not offers or self._match.phase == phases.AUCTION:
            return []
        now_s, pace_s = _now_s(), OFFER_PACES * self._manner.pace_ms / 1000
        self._offered_at_s = {o.offer: offered_at_s.get(o.offer, now_s) for o in offers}
        return [
            _Turn(offer.receiver, self._offered_at_s[offer.offer] + pace_s)
            for offer in offers
            if offer.receiver in self._hands and not self._is_done(offer.receiver)
        ]

    def _is_done(self, seat: int) -> bool:
        return self._done_at.get(seat) == self._match.sequence

    async def _act(self, hand: Hand) -> bool:
        """Do what a bot wants to do, or else what is safe; returns whether all is over."""
        sequence = self._match.sequence
        chosen = hand.choose()
        try:
            reply = await self._give(hand, chosen.command)
            if isinstance(reply, Refused) and RULE in reply.told.metadata and not chosen.is_default:
                reply = await self._give(hand, hand.default("refused").command)
        except UnansweredError:
            _MOVES.labels(hand.strength, "unanswered").inc()
            reply = None
        if isinstance(reply, Accepted):
            self._moves += 1
            return await self._catch_up(reply.sequence)
        if chosen.command is None or (isinstance(reply, Refused) and not reply.is_passing):
            # Nothing more until something happens: another replica's move, or the deadline.
            self._done_at[hand.seat] = sequence
        else:
            # The same again, under the same id, so it is one move whatever became of it.
            await asyncio.sleep(PAUSE_S)
        return False

    async def _give(self, hand: Hand, command: c.SeatCommand | None) -> Reply | None:
        """Give a command, for a seat and a sequence always under the same id (W3)."""
        if command is None:
            return None
        sequence, match_id = self._match.sequence, self._table.match_id
        reply = await self._chair(hand.seat).submit(
            command,
            bot_id(match_id, sequence, hand.seat),
            expected_sequence=sequence,
            timeout_s=ANSWER_S,
        )
        if isinstance(reply, Refused):
            _MOVES.labels(hand.strength, "refused").inc()
            _log.info(
                "bot_move_refused",
                match_id=match_id,
                seat=hand.seat,
                command=name_of(command.__class__),
                reason=reply.reason,
            )
        else:
            _MOVES.labels(hand.strength, "accepted").inc()
        return reply

    async def _catch_up(self, sequence: int) -> bool:
        """Take in all records up to *sequence*; returns whether all is over."""
        while self._match.sequence < sequence:
            if await anext(self._table, None) is None:
                return True
        return False

    def _chair(self, seat: int) -> "Table | Chair":
        if seat not in self._chairs:
            self._chairs[seat] = self._table.chair(_as_bot(seat))
        return self._chairs[seat]


class _Turn(NamedTuple):
    """When a bot acts."""

    seat: int
    at_s: float


class _Decision(NamedTuple):
    """What a bot is asked for: it takes a pace from then on."""

    seat: int
    deadline_id: str
    moves: int


def _as_bot(seat: int) -> Metadata:
    return on_behalf(caller_pb2.Caller(bot_seat=seat).SerializeToString())


def _now_s() -> float:
    return asyncio.get_running_loop().time()
