"""Starts matches: once a room says so, its match will be made, whatever crashes."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from libs.kernel.reasons import Reason
from libs.rules.refusals import Refusal
from libs.rules.rule_sets import RULE_SETS
from libs.store.ports import StoreUnavailableError
from libs.telemetry import logs
from services.lobby import commands as c
from services.lobby.commands import Cards
from services.lobby.handlers import ATTEMPTS, Asked, Handlers, own
from services.lobby.in_hand import InHand
from services.lobby.ports import (
    Bots,
    Collections,
    Matches,
    MatchPlan,
    NeighbourError,
    Rooms,
    reason_of,
)
from services.lobby.room import Room, State
from services.lobby.rooms import CardsUnknownError, decide

STARTING_MAX: Final = 100
"""How many matches are being made at a time (start)."""

NEVER: Final = frozenset({Reason.INVALID_REQUEST})
"""What an engine says of a match that it would refuse for ever: every try is the very same."""

_log: Final = logs.get()


class Maker:
    """Makes the matches that rooms are to become, each as often as it takes."""

    def __init__(
        self, rooms: Rooms, handlers: Handlers, matches: Matches, bots: Bots, *, again_s: float
    ) -> None:
        """Look for rooms whose match is not there every *again_s* seconds."""
        self._rooms = rooms
        self._handlers = handlers
        self._matches = matches
        self._bots = bots
        self._again_s = again_s
        self._in_hand: InHand[str] = InHand(self._make)

    async def run(self) -> None:
        """Make what others left undone, a crashed replica's too, until cancelled."""
        await self._in_hand.run(
            lambda: self._rooms.starting(limit=STARTING_MAX), again_s=self._again_s
        )

    def make(self, room_id: str) -> asyncio.Task[None]:
        """Begin to make a room's match, or join in if that goes on already.

        The task ends when the match is there, or when that did not work; then `run` begins again.
        Whoever waits for it may go: it goes on without them.
        """
        return self._in_hand.begin(room_id)

    async def _make(self, room_id: str) -> None:
        try:
            plan = await self._rooms.plan(room_id)
            if plan is None:
                return  # it is there
            made = await self._create(plan)
            outcome = await self._handlers.change(room_id, made)
        except (NeighbourError, StoreUnavailableError) as error:
            _log.warning("match_not_made", room_id=room_id, reason=reason_of(error))
            return
        if isinstance(outcome, Refusal):
            _log.warning("match_not_made", room_id=room_id, reason=outcome.reason)
            return
        if outcome.state is State.STARTED:
            _log.info("match_made", room_id=room_id, match_id=plan.match_id)

    async def _create(self, plan: MatchPlan) -> Asked[c.ReportMade | c.ReportNotMade]:
        """Make a match, and return what is to be said of it: that it is there, or never will be."""
        try:
            await self._matches.create(plan)
        except NeighbourError as error:
            if str(error) not in NEVER:
                raise
            _log.error("match_given_up", match_id=plan.match_id, reason=str(error))
            return own(c.ReportNotMade(match_id=plan.match_id), "not-made", plan.match_id)
        await self._seat_bots(plan)
        return own(c.ReportMade(match_id=plan.match_id), "made", plan.match_id)

    async def _seat_bots(self, plan: MatchPlan) -> None:
        """Tell the bots; if they don't hear it they learn it from the match's record, later."""
        if any(spec.strength for spec in plan.seats):
            try:
                await self._bots.seat(plan)
            except NeighbourError as error:
                _log.info("bots_not_told", match_id=plan.match_id, reason=str(error))


class Starter:
    """What a start does: it looks the cards up, decides, and waits for the match for a moment."""

    def __init__(
        self,
        rooms: Rooms,
        handlers: Handlers,
        maker: Maker,
        collections: Collections,
        *,
        reply_s: float,
    ) -> None:
        """Wait for a match for *reply_s* seconds; then the reply is that it will be there."""
        self._rooms = rooms
        self._handlers = handlers
        self._maker = maker
        self._collections = collections
        self._reply_s = reply_s

    async def start(self, room_id: str, asked: Asked[c.StartMatch]) -> Room | Refusal:
        """Start a room's match; the room returned is in STARTED, or in STARTING for now.

        Or it has closed, since its match can never be made. A repeat waits for the match like the
        first call, and returns how far it is then.

        Raises:
            NeighbourError: a person's cards matter and nobody can tell them; nothing is changed.
            StoreUnavailableError: see `Handlers.change`.

        """
        outcome = await self._decide(room_id, asked)
        if isinstance(outcome, Refusal) or outcome.state is not State.STARTING:
            return outcome
        await asyncio.wait((self._maker.make(room_id),), timeout=self._reply_s)
        # As it is now, which is how far the match is: nobody sits down or gets up any more.
        return await self._rooms.find(room_id) or outcome

    async def fill(self, room_id: str, asked: Asked[c.FillRoom]) -> Room | Refusal:
        """Start a quick match, and begin to make it. Raises what `start` does."""
        outcome = await self._decide(room_id, asked)
        if isinstance(outcome, Room) and outcome.state is State.STARTING:
            self._maker.make(room_id)
        return outcome

    async def _decide(
        self, room_id: str, asked: Asked[c.StartMatch | c.FillRoom]
    ) -> Room | Refusal:
        for _ in range(ATTEMPTS):
            room = await self._rooms.find(room_id)
            cards = None if room is None else await self._cards(room, asked)
            command = replace(asked.command, cards=cards)
            try:
                return await self._handlers.change(room_id, replace(asked, command=command))
            except CardsUnknownError:
                continue  # the room is another one by now
        return Refusal(Reason.OVERLOADED, "")

    async def _cards(
        self, room: Room, asked: Asked[c.StartMatch | c.FillRoom]
    ) -> Mapping[str, Cards] | None:
        """Return everybody's cards, where they matter and the match can start.

        Before the start is written, so that every try makes the very same match. A match without
        cards that its people have would be another one, and could never be mended: rather than
        that, whoever starts it tries again.
        """
        if not RULE_SETS[room.rule_set].cards_raise_rent:
            return None
        people = sorted(room.people)
        trial = replace(asked.command, cards=dict.fromkeys(people, ()))
        if isinstance(decide(room, trial, expected=asked.expected), Refusal):
            return {}  # which will do, unless the room is another one by now
        try:
            cards = await asyncio.gather(*map(self._collections.best_cards, people))
        except NeighbourError as error:
            _log.warning("cards_not_told", room_id=room.room_id, reason=str(error))
            raise
        return dict(zip(people, cards, strict=True))
