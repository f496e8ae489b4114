"""Every rule set as data: a frozen, versioned value of switches and numbers.

A match pins one rule set for its whole life, so a released value is never changed: a new revision
is a new id. The engine asks a switch, never a name.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from libs.rules.board import Board
from libs.rules.boards.classic import CLASSIC

BOARDS: Final[Mapping[str, Board]] = MappingProxyType({CLASSIC.board_id: CLASSIC})


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleSet:
    """The switches and numbers of one rule set. Money in whole units, times in milliseconds."""

    rule_set_id: str
    board_id: str = CLASSIC.board_id

    seats: tuple[int, ...] = (2, 3, 4, 5, 6)
    """How many seats a match may have (SETUP-1)."""
    teams: bool = False
    """Whether seat n plays for team n mod 2 (SETUP-4)."""

    starting_cash: int = 15_000
    salary: int = 2_000
    landing_bonus: int = 1_000
    """Paid on top of the salary for stopping exactly on Start (BOARD-3)."""
    round_cap: int = 500
    """The last round that is played (END-2)."""

    tax_first_round: int = 100
    tax_full_round: int = 200
    tax_first_bp: int = 100
    tax_full_bp: int = 9_900
    """The share of a rent that is withheld, in basis points, rising between two rounds (TAX-1)."""

    even_building: bool = True
    levels_per_turn: int = 1
    """Levels that a street may gain in one turn; 0 = no limit (BUILD-2)."""
    mortgage_expiry_rounds: int = 0
    """Rounds after which a mortgaged property is lost; 0 = never (MORT-3)."""
    redeem_fee_percent: int = 10

    third_die_round: int = 0
    """The round from which a third die is rolled; 0 = never (DIE3)."""
    jump_to_nearest_of_either: bool = False
    """Whether an X jumps to the nearest property that is unowned or a rival's, whichever comes
    first, instead of preferring unowned ones (DIE3-3, the other reading)."""

    turn_clock_ms: int = 75_000
    payment_pause_ms: int = 75_000
    bid_clock_ms: int = 10_000
    decision_least_ms: int = 10_000
    """What each new decision of one's own has at least (CLOCK-1)."""
    seeding_ms: int = 5_000
    """How long people may give a client seed (FAIR-1)."""
    missed_turns_limit: int = 2
    """Missed turns in a row after which a seat is surrendered (CLOCK-3)."""
    any_action_forgives: bool = False
    """Whether every accepted command outside one's own turn ends a run of missed turns, or any
    but managing property and trading (CLOCK-3)."""

    auction_step: int = 100
    jackpot: bool = True
    """Whether square 20 offers the jackpot; else it is free parking (JACK-1)."""
    jackpot_stake: int = 1_000
    manage_all_turn: bool = False
    """Whether property is managed and trades are proposed at any time in one's own turn outside
    an auction, or only while one's own roll is pending (both: in one's own payment pause too)."""
    bail_before_roll: bool = False
    """Whether bail is paid before a normal roll (JAIL-2) or offered after a failed one (JAIL-3)."""
    bail: int = 500
    jail_attempts: int = 3
    open_offers: int = 3
    """Trade offers that one seat may have open (TRADE-1)."""
    offer_ms: int = 60_000
    fair_share_percent: int = 50
    """What the smaller side of a trade is worth at least, of the larger (TRADE-2)."""
    cards_raise_rent: bool = True
    """Whether collection cards raise rents (RENT-6)."""
    every_seat_earns: bool = True
    """Whether every person's seat earns experience, or the winner alone (XP-2, XP-3)."""

    @property
    def board(self) -> Board:
        """The board it is played on."""
        return BOARDS[self.board_id]


CLASSIC_2: Final = RuleSet(rule_set_id="opolyx.classic@2")

SPEED_2: Final = RuleSet(
    rule_set_id="opolyx.speed@2",
    round_cap=300,
    tax_first_round=40,
    tax_full_round=100,
    even_building=False,
    mortgage_expiry_rounds=10,
    third_die_round=7,
    turn_clock_ms=45_000,
)

TEAMS_2: Final = replace(CLASSIC_2, rule_set_id="opolyx.teams@2", seats=(4, 6), teams=True)


def _revision_1(newest: RuleSet, rule_set_id: str, *, levels_per_turn: int) -> RuleSet:
    return replace(
        newest,
        rule_set_id=rule_set_id,
        levels_per_turn=levels_per_turn,
        landing_bonus=0,
        missed_turns_limit=3,
        any_action_forgives=True,
        jackpot=False,
        manage_all_turn=True,
        bail_before_roll=True,
        open_offers=1,
        cards_raise_rent=False,
        every_seat_earns=False,
    )


CLASSIC_1: Final = _revision_1(CLASSIC_2, "opolyx.classic@1", levels_per_turn=1)
SPEED_1: Final = _revision_1(SPEED_2, "opolyx.speed@1", levels_per_turn=0)

RULE_SETS: Final[Mapping[str, RuleSet]] = MappingProxyType(
    {rules.rule_set_id: rules for rules in (CLASSIC_1, SPEED_1, CLASSIC_2, SPEED_2, TEAMS_2)}
)
"""All rule sets by id, older revisions first."""


def team_of(seat: int) -> int:
    """Return the team that a seat plays for where there are teams: every second one (SETUP-4)."""
    return seat % 2


class UnknownRuleSetError(LookupError):
    """No rule set of that id is known here."""


def rule_set(rule_set_id: str) -> RuleSet:
    """Return a rule set by its id.

    Raises:
        UnknownRuleSetError: this version of opolyx does not know it.
    """
    try:
        return RULE_SETS[rule_set_id]
    except KeyError:
        raise UnknownRuleSetError(rule_set_id) from None
