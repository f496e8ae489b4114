"""What one viewer may see of a match: an allow-list, in a type of its own."""

from collections.abc import Mapping, Sequence

from libs.rules.auctions import minimum_bid
from libs.rules.board import Board
from libs.rules.clocks import Deadline, decision_deadlines
from libs.rules.events import NOBODY, SeatSpec
from libs.rules.match import Auction, Debt, Match, Offer
from libs.rules.rule_sets import RuleSet


class View:
    """A window on a match, showing what stands on the table and nothing else.

    It shows the match as it is at the moment of asking and copies nothing, so that a bot can keep
    one for a whole match. What it has no property for cannot be seen through it: neither the seeds
    that people gave nor the position in the match's chance. Sequences are by seat or by square,
    and are for reading.
    """

    __slots__ = ("_match", "viewer")

    def __init__(self, match: Match, viewer: int) -> None:
        """Open a window for a seat, or for a spectator (`NOBODY`)."""
        self._match = match
        self.viewer = viewer

    @property
    def match_id(self) -> str:
        """Which match it is."""
        return self._match.match_id

    @property
    def specs(self) -> Sequence[SeatSpec]:
        """Who sits where."""
        return self._match.specs

    @property
    def rules(self) -> RuleSet:
        """The rule set that the match is played by."""
        return self._match.rules

    @property
    def board(self) -> Board:
        """The board."""
        return self._match.board

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
    def cash(self) -> Sequence[int]:
        """Cash by seat."""
        return self._match.cash

    @property
    def square(self) -> Sequence[int]:
        """Where each seat's token stands."""
        return self._match.square

    @property
    def in_jail(self) -> Sequence[bool]:
        """Which seats sit in jail."""
        return self._match.in_jail

    @property
    def jail_attempts(self) -> Sequence[int]:
        """Failed rolls in jail, by seat."""
        return self._match.jail_attempts

    @property
    def missed_turns(self) -> Sequence[int]:
        """Missed turns in a row, by seat."""
        return self._match.missed_turns

    @property
    def out(self) -> Sequence[bool]:
        """Which seats are bankrupt or have surrendered."""
        return self._match.out

    @property
    def owner(self) -> Sequence[int]:
        """Who owns each square, or `NOBODY`."""
        return self._match.owner

    @property
    def level(self) -> Sequence[int]:
        """The level of each square."""
        return self._match.level

    @property
    def built(self) -> Sequence[int]:
        """Levels built in this turn, by square."""
        return self._match.built

    @property
    def mortgaged_round(self) -> Sequence[int]:
        """The round in which each square was mortgaged, 0 where it is not."""
        return self._match.mortgaged_round

    @property
    def held(self) -> Sequence[Sequence[int]]:
        """How many properties each seat owns of each group."""
        return self._match.held

    @property
    def whole_groups(self) -> Sequence[int]:
        """How many street groups each seat owns whole."""
        return self._match.whole_groups

    @property
    def group_levels(self) -> Sequence[int]:
        """All levels of each group."""
        return self._match.group_levels

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
    def debts(self) -> Sequence[Debt]:
        """The open debts, in their order."""
        return self._match.debts

    @property
    def offers(self) -> Sequence[Offer]:
        """The open trade offers, in their order."""
        return self._match.offers

    @property
    def winners(self) -> tuple[int, ...]:
        """Who has won; empty before the end."""
        return self._match.winners

    @property
    def placing(self) -> tuple[int, ...]:
        """All seats from the first place down; empty before the end."""
        return self._match.placing

    def deadlines(self) -> Sequence[Deadline]:
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
        return self._match.properties_of(seat)

    def net_worth(self, seat: int) -> int:
        """Return what counts at the round cap (END-2)."""
        return self._match.net_worth(seat)

    def sale_value(self, seat: int) -> int:
        """Return what the bank would give for all that a seat owns."""
        return self._match.sale_value(seat)


def view(match: Match, viewer: int | None = None) -> View:
    """Open a window on *match* for a seat, or for a spectator."""
    return View(match, NOBODY if viewer is None else viewer)
