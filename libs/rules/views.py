"""What one viewer may see of a match: an allow-list, in a type of its own."""

from collections.abc import Mapping, Sequence

from libs.rules.auctions import minimum_bid
from libs.rules.board import Board
from libs.rules.clocks import decision_deadlines
from libs.rules.events import NOBODY, DeadlineSet, SeatSpec
from libs.rules.match import Match
from libs.rules.pending import Auction, Debt, Offer
from libs.rules.rule_sets import RuleSet


class View:
    """A window on a match that was created, showing what stands on the table and nothing else.

    It shows the match as it is at the moment of asking and copies nothing, so that a bot can keep
    one for a whole match: the match changes its lists in place, and the window holds the same ones.
    What is not named here cannot be seen: neither the seeds that people gave nor the position in
    the match's chance.

    Attributes:
        viewer: the seat that looks, `NOBODY` for a spectator.
        match_id, specs: which match it is, and who sits where.
        rules, board: the rule set that the match is played by, and its board.
        cash, square, in_jail, jail_attempts, missed_turns, out: by seat.
        owned, held, whole_groups: by seat, as in `Match`.
        owner, level, built, mortgaged_round: by square. group_levels: by group.
        debts, offers: those that are open, in their order.

    """

    __slots__ = (
        "_match",
        "board",
        "built",
        "cash",
        "debts",
        "group_levels",
        "held",
        "in_jail",
        "jail_attempts",
        "level",
        "match_id",
        "missed_turns",
        "mortgaged_round",
        "offers",
        "out",
        "owned",
        "owner",
        "rules",
        "specs",
        "square",
        "viewer",
        "whole_groups",
    )

    def __init__(self, match: Match, viewer: int) -> None:
        """Open a window for a seat, or for a spectator (`NOBODY`)."""
        self._match = match
        self.viewer = viewer
        self.match_id: str = match.match_id
        self.specs: Sequence[SeatSpec] = match.specs
        self.rules: RuleSet = match.rules
        self.board: Board = match.board
        self.cash: Sequence[int] = match.cash
        self.square: Sequence[int] = match.square
        self.in_jail: Sequence[bool] = match.in_jail
        self.jail_attempts: Sequence[int] = match.jail_attempts
        self.missed_turns: Sequence[int] = match.missed_turns
        self.out: Sequence[bool] = match.out
        self.owner: Sequence[int] = match.owner
        self.level: Sequence[int] = match.level
        self.built: Sequence[int] = match.built
        self.mortgaged_round: Sequence[int] = match.mortgaged_round
        self.held: Sequence[Sequence[int]] = match.held
        self.owned: Sequence[tuple[int, ...]] = match.owned
        self.whole_groups: Sequence[tuple[int, ...]] = match.whole_groups
        self.group_levels: Sequence[int] = match.group_levels
        self.debts: Sequence[Debt] = match.debts
        self.offers: Sequence[Offer] = match.offers

    @property
    def mortgage_count(self) -> int:
        """How many properties are mortgaged, of all seats."""
        return self._match.mortgage_count

    @property
    def sequence(self) -> int:
        """How many events there have been."""
        return self._match.sequence

    @property
    def phase(self) -> str:
        """Which decision is pending."""
        return self._match.phase

    @property
    def frozen_at(self) -> int:
        """When the clocks were stopped, -1 while they run."""
        return self._match.frozen_at

    @property
    def deciding(self) -> Sequence[int]:
        """The seats that must decide now."""
        return self._match.pending_seats()

    @property
    def round(self) -> int:
        """The round, from 1."""
        return self._match.round

    @property
    def turn(self) -> int:
        """The seat whose turn it is."""
        return self._match.turn

    @property
    def turn_number(self) -> int:
        """How many turns have begun."""
        return self._match.turn_number

    @property
    def dice(self) -> tuple[int, int, int]:
        """The last roll: white, white, third, as in `DiceRolled`."""
        return self._match.white_1, self._match.white_2, self._match.third

    @property
    def doubles(self) -> int:
        """Doubles rolled in this turn."""
        return self._match.doubles

    @property
    def jump_pending(self) -> bool:
        """Whether an X waits for the end of the turn."""
        return self._match.jump_pending

    @property
    def cards(self) -> Sequence[Mapping[int, str]]:
        """The collection cards that count, by seat and square."""
        return self._match.cards

    @property
    def next_card(self) -> int:
        """The chance card that is drawn next."""
        return self._match.next_card

    @property
    def last_card(self) -> int:
        """The chance card that was drawn last, 0 before the first."""
        return self._match.last_card

    @property
    def auction(self) -> Auction | None:
        """The auction that is going on."""
        return self._match.auction

    @property
    def minimum_bid(self) -> int:
        """The only amount that may be bid now, 0 without an auction."""
        auction = self._match.auction
        return 0 if auction is None else minimum_bid(self._match, auction)

    @property
    def winners(self) -> tuple[int, ...]:
        """Who has won; empty before the end."""
        return self._match.winners

    @property
    def placing(self) -> tuple[int, ...]:
        """All seats from the first place down; empty before the end."""
        return self._match.placing

    def deadlines(self) -> Sequence[DeadlineSet]:
        """Return the deadlines of pending decisions, debts in order; offers have their own."""
        return decision_deadlines(self._match)

    def is_rival(self, seat: int, other: int) -> bool:
        """Whether two seats play against each other."""
        return self._match.is_rival(seat, other)

    def debt_of(self, seat: int) -> Debt | None:
        """Return the open debt of a seat."""
        return self._match.debt_of(seat)

    def properties_of(self, seat: int) -> tuple[int, ...]:
        """Return the squares that a seat owns, ascending."""
        return self.owned[seat]

    def net_worth(self, seat: int) -> int:
        """Return what counts at the round cap (END-2)."""
        return self._match.net_worth(seat)

    def sale_value(self, seat: int) -> int:
        """Return what the bank would give for all that a seat owns."""
        return self._match.sale_value(seat)


def view(match: Match, viewer: int | None = None) -> View:
    """Open a window on *match* for a seat, or for a spectator."""
    return View(match, NOBODY if viewer is None else viewer)
