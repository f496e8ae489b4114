"""What a seat may do now: the commands that would be accepted, with what they cost.

Finite choices are listed one by one. Trades, jackpot bets and client seeds are listed by their
bounds. The listing and the rules must agree; a property test holds them to it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from libs.kernel.chance import CLIENT_SEED_SIZE_MAX, CLIENT_SEED_SIZE_MIN
from libs.rules import commands as c
from libs.rules import phases, third_die
from libs.rules.auctions import minimum_bid
from libs.rules.board import MAX_LEVEL, SQUARES
from libs.rules.building import redeem_cost, refuse_unless_managing
from libs.rules.jackpot import FACES, NUMBERS_MOST, is_bet
from libs.rules.match import Match
from libs.rules.trading import is_fair, is_tradable, value_of


class Choice(NamedTuple):
    """A command that may be given now."""

    command: c.SeatCommand
    cost: int = 0
    """What it takes from the seat's cash at once; negative where it brings cash."""


@dataclass(frozen=True, slots=True)
class JackpotBounds:
    """A bet: from one to *most* different numbers of 1 to *faces*, for *cost*."""

    seat: int
    cost: int
    most: int = NUMBERS_MOST
    faces: int = FACES


@dataclass(frozen=True, slots=True)
class SeedBounds:
    """A client seed of *least* to *most* bytes, or an empty one to decline."""

    seat: int
    least: int = CLIENT_SEED_SIZE_MIN
    most: int = CLIENT_SEED_SIZE_MAX


class TradePartner(NamedTuple):
    """Somebody to trade with, and the most that could be asked of them."""

    seat: int
    squares: tuple[int, ...]
    cash: int
    is_ally: bool


@dataclass(frozen=True, slots=True)
class TradeBounds:
    """An offer: some of *squares* or cash up to *cash*, against some of one partner's.

    Cash stands on one side at most; with a rival neither side is empty and the smaller is worth at
    least *fair_share_percent* of the larger; with an ally one side may be empty.
    """

    seat: int
    squares: tuple[int, ...]
    cash: int
    partners: tuple[TradePartner, ...]
    fair_share_percent: int


Legal = Choice | JackpotBounds | SeedBounds | TradeBounds
"""One entry of the listing."""


class LegalCommands:
    """The commands that *seat* may give now, worked out as they are asked for.

    Like a `View` it always speaks of the match as it is, so a bot can keep one. Iterating gives
    every entry; the methods give those of one kind.
    """

    __slots__ = ("_match", "seat")

    def __init__(self, match: Match, seat: int) -> None:
        """List for one seat of *match*."""
        self._match = match
        self.seat = seat

    def __iter__(self) -> Iterator[Legal]:
        match, seat = self._match, self.seat
        if not match.has_seat(seat) or match.frozen_at >= 0 or match.out[seat]:
            return iter(())
        if match.phase == phases.SEEDING:
            return iter([SeedBounds(seat)] if match.client_seeds[seat] is None else [])
        if match.phase == phases.ENDED:
            return iter(())
        return chain(
            self.answers(),
            self.builds(),
            self.sales(),
            self.mortgages(),
            self.redemptions(),
            self.trade_answers(),
            self.trades(),
            (Choice(c.Surrender(seat)),),
        )

    @property
    def answer_count(self) -> int:
        """How many entries, from the first, answer what the match waits for; 0 if for nothing.

        In a debt beyond the seat's cash those are the sales and mortgages that raise some.
        """
        match, seat = self._match, self.seat
        if match.frozen_at >= 0 or seat not in match.pending_seats():
            return 0
        if match.phase == phases.SEEDING:
            return 1
        return len(self.answers()) or len(self.sales()) + len(self.mortgages())

    def answers(self) -> list[Legal]:
        """Return what answers the decision that is pending for the seat."""
        match, seat = self._match, self.seat
        if match.phase == phases.DEBT:
            return self._debt_answers()
        if match.deadline is None or seat != match.deadline.seat:
            return []
        cash = match.cash[seat]
        if match.phase == phases.ROLL:
            can_leave = match.rules.bail_before_roll and match.in_jail[seat]
            return [Choice(c.Roll(seat)), *(self._bail() if can_leave else [])]
        if match.phase == phases.BUY:
            price = match.board.price[match.square[seat]]
            buy: list[Legal] = [Choice(c.Buy(seat), price)] if cash >= price else []
            return [*buy, Choice(c.Decline(seat))]
        if match.phase == phases.AUCTION:
            assert match.auction is not None
            minimum = minimum_bid(match, match.auction)
            return [Choice(c.Bid(seat), minimum), Choice(c.Pass(seat))]
        if match.phase == phases.BAIL:
            return [*self._bail(), Choice(c.StayInJail(seat))]
        if match.phase == phases.BUS:
            return [Choice(c.ChooseBusMove(seat, total)) for total in third_die.bus_totals(match)]
        if match.phase == phases.TELEPORT:
            return [Choice(c.ChooseTeleport(seat, square)) for square in range(SQUARES)]
        assert match.phase == phases.JACKPOT
        stake = match.rules.jackpot_stake
        bet: list[Legal] = [JackpotBounds(seat, stake)] if cash >= stake else []
        return [*bet, Choice(c.DeclineJackpot(seat))]

    def builds(self) -> list[Choice]:
        """Return the streets that may gain a level."""
        match, seat = self._match, self.seat
        if refuse_unless_managing(match, seat, raises_cash=False) is not None:
            return []
        return [
            Choice(c.Build(seat, square), match.board.build_cost[square])
            for group in match.whole_groups[seat]
            for square in self._buildable(group)
        ]

    def sales(self) -> list[Choice]:
        """Return the streets that may lose a level."""
        match, seat = self._match, self.seat
        if refuse_unless_managing(match, seat, raises_cash=True) is not None:
            return []
        return [
            Choice(c.SellLevel(seat, square), -match.board.level_value[square])
            for group in match.whole_groups[seat]
            if match.group_levels[group]
            for square in self._sellable(group)
        ]

    def mortgages(self) -> list[Choice]:
        """Return what may be mortgaged."""
        match, seat = self._match, self.seat
        if refuse_unless_managing(match, seat, raises_cash=True) is not None:
            return []
        return [
            Choice(c.Mortgage(seat, square), -match.board.mortgage_value[square])
            for square in match.properties_of(seat)
            if is_tradable(match, square)
        ]

    def redemptions(self) -> list[Choice]:
        """Return the mortgages that may be lifted."""
        match, seat = self._match, self.seat
        if refuse_unless_managing(match, seat, raises_cash=False) is not None:
            return []
        costs = [
            (square, redeem_cost(match, square))
            for square in match.properties_of(seat)
            if match.mortgaged_round[square]
        ]
        cash = match.cash[seat]
        return [Choice(c.Redeem(seat, square), cost) for square, cost in costs if cash >= cost]

    def trade_answers(self) -> list[Choice]:
        """Return the answers to offers received, and the withdrawals of one's own."""
        match, seat = self._match, self.seat
        answers = []
        for offer in match.offers:
            if offer.proposer == seat:
                answers.append(Choice(c.WithdrawTrade(seat, offer.offer)))
            elif offer.receiver == seat and match.phase != phases.AUCTION:
                cost = offer.take.cash - offer.give.cash
                answers.append(Choice(c.AcceptTrade(seat, offer.offer), cost))
                answers.append(Choice(c.RejectTrade(seat, offer.offer)))
        return answers

    def trades(self) -> list[TradeBounds]:
        """Return the bounds of an offer, where one may be made."""
        match, seat = self._match, self.seat
        if refuse_unless_managing(match, seat, raises_cash=True) is not None:
            return []
        if sum(offer.proposer == seat for offer in match.offers) >= match.rules.open_offers:
            return []
        partners = tuple(
            TradePartner(
                other,
                self._tradable(other),
                match.cash[other],
                is_ally=not match.is_rival(seat, other),
            )
            for other in match.living_seats()
            if other != seat
        )
        percent = match.rules.fair_share_percent
        return [TradeBounds(seat, self._tradable(seat), match.cash[seat], partners, percent)]

    def allows(self, command: c.SeatCommand) -> bool:
        """Whether *command* is one of these."""
        return any(_covers(self._match, entry, command) for entry in self)

    def _debt_answers(self) -> list[Legal]:
        match, seat = self._match, self.seat
        debt = match.debt_of(seat)
        if debt is None:
            return []
        cash = match.cash[seat]
        if cash >= debt.amount:
            return [Choice(c.Pay(seat), debt.amount)]
        if cash + match.sale_value(seat) < debt.amount:
            return [Choice(c.DeclareBankruptcy(seat), cash)]
        return []

    def _bail(self) -> list[Legal]:
        bail = self._match.rules.bail
        affordable = self._match.cash[self.seat] >= bail
        return [Choice(c.PayBail(self.seat), bail)] if affordable else []

    def _buildable(self, group: int) -> list[int]:
        match, rules = self._match, self._match.rules
        squares = match.board.groups[group]
        if any(match.mortgaged_round[square] for square in squares):
            return []
        lowest = min(match.level[square] for square in squares)
        most = lowest if rules.even_building else MAX_LEVEL
        return [
            square
            for square in squares
            if match.level[square] <= min(most, MAX_LEVEL - 1)
            and not 0 < rules.levels_per_turn <= match.built[square]
            and match.cash[self.seat] >= match.board.build_cost[square]
        ]

    def _sellable(self, group: int) -> list[int]:
        match = self._match
        squares = match.board.groups[group]
        highest = max(match.level[square] for square in squares)
        least = highest if match.rules.even_building else 1
        return [square for square in squares if match.level[square] >= least]

    def _tradable(self, seat: int) -> tuple[int, ...]:
        match = self._match
        return tuple(sq for sq in match.properties_of(seat) if is_tradable(match, sq))


def legal_commands(match: Match, seat: int) -> LegalCommands:
    """List what *seat* may do now."""
    return LegalCommands(match, seat)


def _covers(match: Match, entry: Legal, command: c.SeatCommand) -> bool:
    if isinstance(entry, Choice):
        return entry.command == command
    if isinstance(entry, JackpotBounds):
        return isinstance(command, c.BetJackpot) and is_bet(command.numbers)
    if isinstance(entry, SeedBounds):
        return isinstance(command, c.ContributeSeed) and (
            not command.client_seed or entry.least <= len(command.client_seed) <= entry.most
        )
    return isinstance(command, c.OfferTrade) and _is_within(match, entry, command)


def _is_within(match: Match, bounds: TradeBounds, command: c.OfferTrade) -> bool:
    partner = next((p for p in bounds.partners if p.seat == command.to), None)
    if partner is None:
        return False
    give, take = command.give, command.take
    return (
        0 <= give.cash <= bounds.cash
        and 0 <= take.cash <= partner.cash
        and not (give.cash and take.cash)
        and _is_choice_of(give.squares, bounds.squares)
        and _is_choice_of(take.squares, partner.squares)
        and _is_balanced(match, command, is_ally=partner.is_ally)
    )


def _is_balanced(match: Match, command: c.OfferTrade, *, is_ally: bool) -> bool:
    give, take = value_of(match, command.give), value_of(match, command.take)
    if is_ally:
        return give + take > 0
    return give > 0 and take > 0 and is_fair(match, command.give, command.take)


def _is_choice_of(chosen: tuple[int, ...], offered: tuple[int, ...]) -> bool:
    return len(set(chosen)) == len(chosen) and all(square in offered for square in chosen)
