"""What holds at every moment of every match, checked from the outside.

An auditor sees each record as it is made. It keeps books of its own, from the events alone, and
holds the engine's state to them: so it finds what the engine would get wrong twice, in deciding and
in counting. It replays the events as well, and compares with the live state after each command.
"""

from collections.abc import Sequence
from typing import Final

from libs.rules import commands as c
from libs.rules import events as e
from libs.rules import phases
from libs.rules.board import JAIL, MAX_LEVEL, SQUARES
from libs.rules.cards import DECK_SIZE
from libs.rules.clocks import fires_at
from libs.rules.evolve import evolve
from libs.rules.ledger import transfers
from libs.rules.match import ATTRIBUTES, Match
from libs.rules.pending import Offer


class BrokenInvariantError(AssertionError):
    """A law of the game does not hold: a bug of the engine."""


_NOT_OF_PLAYERS: Final = (e.DeadlineExtended, e.MatchFrozen, e.MatchResumed, e.MatchAborted)
"""What the engine and operators do to a match, whatever deadline has passed."""


class Auditor:
    """Holds one match to all invariants, from its creation on; one for each match.

    Attributes:
        cash: what each seat must have by the ledger of cash events. bank: what the bank is up by.
        owner: who must own each square, by the events that say so.

    """

    def __init__(self, *, has_grace: bool = False) -> None:
        """Begin; *has_grace*: decisions that were on their way count, as an engine has it (T5)."""
        self._has_grace = has_grace
        self.cash: list[int] = []
        self.bank = 0
        self.owner = [e.NOBODY] * SQUARES
        self._replica = Match()
        self._at_ms = 0
        self._counter = 0
        self._card = 0
        self._round = 0
        self._turn = e.NOBODY
        self._has_ended = False
        self._facts: list[object] = []

    def __call__(
        self, match: Match, command: c.Command, at_ms: int, events: Sequence[e.Event]
    ) -> None:
        """Check an accepted command with its events, and the state that they led to.

        Raises:
            BrokenInvariantError: the first law that does not hold.

        """
        self.check(match, at_ms, events, is_fired=isinstance(command, c.FireDeadline))

    def check(self, match: Match, at_ms: int, events: Sequence[e.Event], *, is_fired: bool) -> None:
        """Do the same where only the record is there; *is_fired*: a deadline was the cause."""
        _require(bool(events), "an accepted command has events", at_ms)
        self._check_time(at_ms, events[0], is_fired=is_fired)
        for event in events:
            self._follow(event)
        for name in ATTRIBUTES:
            same = getattr(match, name) == getattr(self._replica, name)
            _require(same, "replaying the events gives the live state", name)
        _require(match.cash == self.cash, "cash is as the ledger says", match.cash, self.cash)
        _require(match.owner == self.owner, "owners are as the events say", match.owner)
        check_seats(match)
        facts = _property_facts(match)
        if facts != self._facts:  # or else they were found sound after an earlier command
            check_property(match)
            self._facts = facts
        self._check_flow(match)

    def _check_time(self, at_ms: int, cause: e.Event, *, is_fired: bool) -> None:
        _require(at_ms >= self._at_ms, "time never falls", at_ms, self._at_ms)
        self._at_ms = at_ms
        deadline = self._replica.deadline
        if deadline is None:
            return
        if isinstance(cause, e.DecisionTimedOut) and cause.kind == deadline.kind:
            _require(at_ms >= deadline.due, "no deadline acts early (I12)", cause)
        is_ours = isinstance(cause, _NOT_OF_PLAYERS)
        if not is_fired and not is_ours and self._replica.frozen_at < 0:
            last = fires_at(deadline) if self._has_grace else deadline.due
            _require(at_ms <= last, "nobody decides after the deadline", cause)

    def _follow(self, event: e.Event) -> None:
        _require(not self._has_ended, "nothing happens after the end", event)
        replica = self._replica
        self._check_order(event)
        moved = transfers(replica, event)
        self._follow_property(event)
        evolve(replica, event)
        if isinstance(event, e.MatchCreated):
            self.cash = [0] * len(event.seats)
        for payer, payee, amount in moved:
            _require(amount > 0, "what moves is an amount", event)
            self._book(payer, -amount)
            self._book(payee, amount)
        _require(replica.cash == self.cash, "cash moves as the ledger says", event, replica.cash)
        _require(sum(self.cash) + self.bank == 0, "no money comes from nowhere", event)
        _require(min(self.cash) >= 0, "nobody's cash is below zero", event, self.cash)

    def _book(self, party: int, amount: int) -> None:
        if party == e.BANK:
            self.bank += amount
        else:
            self.cash[party] += amount

    def _follow_property(self, event: e.Event) -> None:
        if isinstance(event, e.PropertyBought):
            self._hand_over(event.square, e.NOBODY, event.seat)
        elif isinstance(event, e.AuctionClosed):
            self._hand_over(event.square, e.NOBODY, event.winner)
        elif isinstance(event, e.PropertyReleased):
            self._hand_over(event.square, event.seat, e.NOBODY)
        elif isinstance(event, e.TradeAccepted):
            offer = _open_offer(self._replica, event.offer)
            for square in offer.give.squares:
                self._hand_over(square, offer.proposer, offer.receiver)
            for square in offer.take.squares:
                self._hand_over(square, offer.receiver, offer.proposer)

    def _hand_over(self, square: int, giver: int, taker: int) -> None:
        _require(self.owner[square] == giver, "only the owner gives a property away", square)
        self.owner[square] = taker

    def _check_order(self, event: e.Event) -> None:
        match event:
            case e.MatchStarted() | e.DiceRolled() | e.JackpotRolled():
                self._draw(event)
            case e.CardDrawn():
                self._draw_card(event)
            case e.RoundStarted():
                self._start_round(event)
            case e.TurnStarted():
                self._start_turn(event)
            case e.TurnEnded():
                self._end_turn(event)
            case e.MatchEnded():
                self._end_match(event)
            case e.SeedRevealed():
                self._reveal(event)
            case _:
                pass

    def _draw(self, event: e.MatchStarted | e.DiceRolled | e.JackpotRolled) -> None:
        _require(event.counter == self._counter, "draws leave no block out (FAIR-1)", event)
        self._counter += event.blocks

    def _draw_card(self, event: e.CardDrawn) -> None:
        expected = self._card % DECK_SIZE + 1
        _require(event.card == expected, "cards come in their order (DECK-1)", event)
        self._card = event.card

    def _start_round(self, event: e.RoundStarted) -> None:
        _require(event.round == self._round + 1, "rounds are counted (ROUND-1)", event)
        cap = self._replica.rules.round_cap
        _require(event.round <= cap, "no round after the last (END-2)", event)
        self._round = event.round

    def _start_turn(self, event: e.TurnStarted) -> None:
        _require(self._turn == e.NOBODY, "one turn at a time (TURN-1)", event)
        self._turn = event.seat

    def _end_turn(self, event: e.TurnEnded) -> None:
        _require(self._turn == event.seat, "the turn that ends is the one going on", event)
        self._turn = e.NOBODY

    def _end_match(self, event: e.MatchEnded) -> None:
        seats = list(range(len(self.cash)))
        _require(sorted(event.placing) == seats, "everybody is placed (END-3)", event)
        first = event.placing[: len(event.winners)]
        _require(bool(first) and sorted(first) == list(event.winners), "winners first", event)

    def _reveal(self, event: e.SeedRevealed) -> None:
        is_over = self._replica.phase == phases.ENDED
        _require(is_over, "the seed is revealed at the end alone (FAIR-2)", event)
        self._has_ended = True

    def _check_flow(self, match: Match) -> None:
        if match.phase in (phases.SEEDING, phases.ENDED):
            return
        _require(match.turn == self._turn, "the turn is that which has begun", match.turn)
        deadline = match.deadline
        if match.phase == phases.DEBT:
            _require(deadline is None and bool(match.debts), "a payment pause has debtors")
            return
        _require(not match.debts, "debts are paid before anything else", match.phase)
        _require(deadline is not None, "somebody has to decide", match.phase)
        assert deadline is not None
        _require(deadline.kind == match.phase, "the phase is what is pending", deadline)
        _require(not match.out[deadline.seat], "whoever decides is living", deadline)
        if match.phase != phases.AUCTION:
            _require(deadline.seat == self._turn, "whoever decides has the turn", deadline)


def check_property(match: Match) -> None:
    """Check who owns what, what stands on it, and the counts of both.

    Raises:
        BrokenInvariantError: the first law that does not hold.

    """
    for square in range(SQUARES):
        _check_square(match, square)
    groups = match.board.groups
    for group, squares in enumerate(groups):
        levels = sum(match.level[square] for square in squares)
        _require(match.group_levels[group] == levels, "levels are counted by group", group)
    for seat in range(len(match.out)):
        owned = [square for square in range(SQUARES) if match.owner[square] == seat]
        held = [sum(match.owner[square] == seat for square in squares) for squares in groups]
        _require(list(match.properties_of(seat)) == owned, "owned squares are listed", seat)
        _require(match.held[seat] == held, "holdings are counted by group", seat)
        _require(not (owned and match.out[seat]), "who is out owns nothing (BANK-2)", seat)


def check_seats(match: Match) -> None:
    """Check what the seats have and where they are, property left out.

    Raises:
        BrokenInvariantError: the first law that does not hold.

    """
    out = [seat for seat, is_out in enumerate(match.out) if is_out]
    _require(match.living == len(match.out) - len(out), "the living are counted", match.living)
    _require(sorted(match.out_order) == out, "who is out is listed", match.out_order)
    debtors = [debt.debtor for debt in match.debts]
    _require(len(set(debtors)) == len(debtors), "a seat has one debt at most", debtors)
    for seat, cash in enumerate(match.cash):
        _require(cash >= 0, "nobody's cash is below zero", seat, cash)
        if match.in_jail[seat]:
            _require(match.square[seat] == JAIL, "who is in jail stands there (JAIL-1)", seat)
    for seat in out:
        _require(not match.cash[seat], "who is out has no cash (SURR-1)", seat)
        _require(not match.in_jail[seat], "who is out is in no jail (CLOCK-3)", seat)
        _require(seat not in debtors, "who is out owes nothing (BANK-2)", seat)
        has_offers = any(seat in (offer.proposer, offer.receiver) for offer in match.offers)
        _require(not has_offers, "who is out trades no more (SURR-1)", seat)


def _check_square(match: Match, square: int) -> None:
    owner, level = match.owner[square], match.level[square]
    is_mortgaged = match.mortgaged_round[square] > 0
    if owner == e.NOBODY:
        _require(not level and not is_mortgaged, "what nobody owns is bare", square)
        return
    group = match.board.group_of[square]
    _require(group >= 0, "only properties are owned (BOARD-2)", square)
    _require(not match.out[owner], "owners are living (BANK-2)", square, owner)
    if not level:
        return
    squares = match.board.groups[group]
    levels = [match.level[other] for other in squares]
    _require(level <= MAX_LEVEL, "levels end at five (BUILD-1)", square, level)
    _require(
        all(match.owner[other] == owner for other in squares),
        "levels stand on whole groups (BUILD-1)",
        square,
    )
    _require(
        not any(match.mortgaged_round[other] for other in squares),
        "levels stand on unmortgaged groups (BUILD-1, MORT-1)",
        square,
    )
    is_even = max(levels) - min(levels) <= 1
    _require(is_even or not match.rules.even_building, "building is even (BUILD-2)", levels)


def _property_facts(match: Match) -> list[object]:
    """Return a copy of all that `check_property` looks at."""
    held = [holding[:] for holding in match.held]
    owned = [match.properties_of(seat) for seat in range(len(match.out))]
    facts = (match.owner, match.level, match.mortgaged_round, match.group_levels, match.out)
    return [held, owned, *(fact[:] for fact in facts)]


def _open_offer(match: Match, number: int) -> Offer:
    offer = match.offer(number)
    if offer is None:
        raise BrokenInvariantError("only open offers are accepted", number)
    return offer


def _require(holds: bool, law: str, *facts: object) -> None:  # noqa: FBT001 - reads as an assertion
    if not holds:
        raise BrokenInvariantError(law, *facts)
