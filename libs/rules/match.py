"""The state of a match. Only events change it (`libs.rules.evolve`); here it is only read.

Seats and squares are small integers and index plain lists, nothing is copied per event, and a few
counts that the rules ask for all the time (properties held by group, levels by group) are kept
beside the facts that they follow from.
"""

from typing import Final

from libs.rules import phases
from libs.rules.board import SQUARES, Board
from libs.rules.events import BANK, NOBODY, DeadlineSet, SeatSpec
from libs.rules.pending import Auction, Debt, Offer
from libs.rules.rule_sets import CLASSIC_2, RuleSet, team_of

ATTRIBUTES: Final = (
    "acting",
    "auction",
    "board",
    "built",
    "built_any",
    "cards",
    "cash",
    "client_seeds",
    "clock_left",
    "commitment",
    "deadline",
    "deadline_count",
    "debt_count",
    "debts",
    "doubles",
    "frozen_at",
    "group_levels",
    "had_turn",
    "held",
    "in_jail",
    "jail_attempts",
    "jump_pending",
    "last_card",
    "level",
    "living",
    "match_id",
    "missed_turns",
    "mortgage_count",
    "mortgaged_round",
    "next_card",
    "next_counter",
    "offer_count",
    "offers",
    "out",
    "out_order",
    "owned",
    "owner",
    "phase",
    "placing",
    "rolls_again",
    "round",
    "rules",
    "sequence",
    "specs",
    "square",
    "third",
    "timed_out",
    "turn",
    "turn_number",
    "white_1",
    "white_2",
    "whole_groups",
    "winners",
)
"""The names of all that a `Match` knows."""


class Match:
    """A match, from nothing (``Match()``) to its end.

    Attributes:
        match_id, rules, commitment, specs: as created. board: that of the rules.
        sequence: how many events have made it.
        phase: which decision is pending, see `libs.rules.phases`.
        frozen_at: when its clocks were stopped, -1 while they run.
        client_seeds: per seat, None until it answered, empty where it declined.
        next_counter: the next free block of the match's chance.
        cards: per seat the rarity of its collection card, by square.
        round, turn, turn_number: the round, the seat whose turn it is, the count of turns.
        had_turn: per seat, whether it had its turn in this round.
        white_1, white_2, third: the last roll, 0 before the first; third as in `DiceRolled`.
        doubles: doubles rolled in this turn. rolls_again: whether a further roll follows.
        jump_pending: whether an X waits for the end of the turn.
        timed_out: whether a decision of the turn's seat timed out in this turn.
        cash, square, in_jail, jail_attempts, missed_turns, out: by seat. living: how many are in.
        acting: the seats that may give commands: those that are in, while the match is on.
        out_order: seats that are out, first out first.
        owner, level, mortgaged_round: by square; `NOBODY`, and 0 for "not".
        built: by square, the levels built in this turn; built_any: whether there are any.
        owned: by seat, the squares that it owns, ascending. mortgage_count: of all seats.
        held: per seat and group, how many of its properties the seat owns. whole_groups: by seat,
            the street groups that it owns whole.
        group_levels: per group, all its levels.
        next_card, last_card: of the deck; last_card is 0 before the first draw.
        auction, debts, offers: what is going on.
        debt_count, offer_count, deadline_count: how many there have been.
        deadline: of the pending decision, as it was set; None while there is none but debts, which
            carry their own.
        clock_left: what the turn clock had left when the debts stopped it.
        winners, placing: empty before the end.
    """

    __slots__ = ATTRIBUTES

    def __init__(self) -> None:
        """Make a match to which nothing has happened."""
        self.match_id = ""
        self.rules: RuleSet = CLASSIC_2
        self.board: Board = self.rules.board
        self.commitment = b""
        self.specs: tuple[SeatSpec, ...] = ()
        self.client_seeds: list[bytes | None] = []
        self.cards: tuple[dict[int, str], ...] = ()
        self.phase: str = phases.UNBORN
        self.frozen_at = -1
        self.sequence = self.next_counter = 0
        self.round = self.turn_number = 0
        self.turn: int = NOBODY
        self.had_turn: list[bool] = []
        self.white_1 = self.white_2 = self.third = self.doubles = 0
        self.rolls_again = self.jump_pending = self.timed_out = False
        self.cash: list[int] = []
        self.square: list[int] = []
        self.in_jail: list[bool] = []
        self.jail_attempts: list[int] = []
        self.missed_turns: list[int] = []
        self.out: list[bool] = []
        self.out_order: list[int] = []
        self.acting: tuple[int, ...] = ()
        self.living = 0
        self.next_card, self.last_card = 1, 0
        self.auction: Auction | None = None
        self.debts: list[Debt] = []
        self.offers: list[Offer] = []
        self.debt_count = self.offer_count = self.deadline_count = 0
        self.deadline: DeadlineSet | None = None
        self.clock_left = 0
        self.winners: tuple[int, ...] = ()
        self.placing: tuple[int, ...] = ()
        self._lay_out_board()

    def _lay_out_board(self) -> None:
        self.owner: list[int] = [NOBODY] * SQUARES
        self.level: list[int] = [0] * SQUARES
        self.mortgaged_round: list[int] = [0] * SQUARES
        self.built: list[int] = [0] * SQUARES
        self.built_any = False
        self.mortgage_count = 0
        self.held: list[list[int]] = []
        self.owned: list[tuple[int, ...]] = []
        self.whole_groups: list[tuple[int, ...]] = []
        self.group_levels: list[int] = [0] * len(self.board.groups)

    def copy(self) -> "Match":
        """Return an independent copy; what never changes is shared."""
        twin = Match.__new__(Match)
        for name in _SHARED:
            setattr(twin, name, getattr(self, name))
        for name in _LISTS:
            setattr(twin, name, getattr(self, name)[:])
        twin.held = [held[:] for held in self.held]
        twin.auction = self.auction.copy() if self.auction else None
        twin.debts = [debt.copy() for debt in self.debts]
        twin.offers = [offer.copy() for offer in self.offers]
        return twin

    def has_seat(self, seat: int) -> bool:
        """Whether the match has a seat of that number."""
        return 0 <= seat < len(self.specs)

    def is_rival(self, seat: int, other: int) -> bool:
        """Whether *other* plays against *seat*; in Teams every second seat does (SETUP-4)."""
        return seat != other and not (self.rules.teams and team_of(seat) == team_of(other))

    def is_debtor(self, seat: int) -> bool:
        """Whether *seat* is in a payment pause of its own."""
        return self.debt_of(seat) is not None

    def debt_of(self, seat: int) -> Debt | None:
        """Return the open debt of *seat*; there is never more than one."""
        for debt in self.debts:
            if debt.debtor == seat:
                return debt
        return None

    def offer(self, offer: int) -> Offer | None:
        """Return an open offer by its id."""
        for open_offer in self.offers:
            if open_offer.offer == offer:
                return open_offer
        return None

    def living_seats(self) -> list[int]:
        """Return the seats that are in, ascending."""
        return [seat for seat, is_out in enumerate(self.out) if not is_out]

    def others_from_left(self, seat: int) -> list[int]:
        """Return the other living seats in turn order, from the left of *seat*."""
        seats = len(self.out)
        order = [(seat + step) % seats for step in range(1, seats)]
        return [other for other in order if not self.out[other]]

    def owns_group(self, seat: int, group: int) -> bool:
        """Whether *seat* owns every property of *group*."""
        return self.held[seat][group] == self.board.group_size[group]

    def properties_of(self, seat: int) -> tuple[int, ...]:
        """Return the squares that *seat* owns, ascending."""
        return self.owned[seat]

    def sale_value(self, seat: int) -> int:
        """Return what the bank gives for all that *seat* owns (BANK-2)."""
        board, level = self.board, self.level
        value = 0
        for square in self.owned[seat]:
            value += level[square] * board.level_value[square]
            if not self.mortgaged_round[square]:
                value += board.mortgage_value[square]
        return value

    def net_worth(self, seat: int) -> int:
        """Return cash, list prices (half where mortgaged) and levels at cost (END-2)."""
        board, level = self.board, self.level
        worth = self.cash[seat]
        for square in self.owned[seat]:
            is_mortgaged = self.mortgaged_round[square] > 0
            worth += board.mortgage_value[square] if is_mortgaged else board.price[square]
            worth += level[square] * board.build_cost[square]
        return worth

    def pending_seats(self) -> list[int]:
        """Return the seats that must decide now, those of several debts in their order."""
        if self.phase == phases.DEBT:
            return [debt.debtor for debt in self.debts]
        if self.phase in (phases.UNBORN, phases.ENDED):
            return []
        if self.phase == phases.SEEDING:
            return [seat for seat, given in enumerate(self.client_seeds) if given is None]
        return [self.deadline.seat] if self.deadline else []


_LISTS: Final = (
    "client_seeds",
    "had_turn",
    "cash",
    "square",
    "in_jail",
    "jail_attempts",
    "missed_turns",
    "out",
    "out_order",
    "owned",
    "whole_groups",
    "owner",
    "level",
    "mortgaged_round",
    "built",
    "group_levels",
)

_COPIED: Final = (*_LISTS, "held", "auction", "debts", "offers")

_SHARED: Final = tuple(name for name in ATTRIBUTES if name not in _COPIED)

assert BANK == NOBODY, "one number stands for nobody and for the bank"
