"""What happened in a match: facts in full, in the past tense, never changed once released.

Whoever reads an event needs no rules to know what changed. Seats are numbers from 0, squares 0-39,
money whole units, times integer milliseconds. `NOBODY` and `BANK` stand where a seat may be absent.

Where a value was drawn by chance, *counter* is the first block that the draw took from the match's
source and *blocks* how many it took (FAIR-1); the label follows from the event: ``first`` in
`MatchStarted`, ``roll`` in `DiceRolled`, ``jackpot`` in `JackpotRolled`.

Events are built by position and never assigned to after they are made. They are plain dataclasses
and not frozen ones because freezing costs five times the construction, and this is the hot path.
"""

from dataclasses import dataclass
from typing import Final

NOBODY: Final = -1
"""No seat."""

BANK: Final = -1
"""The bank, where a seat could stand."""

BUS: Final = 4
X: Final = 5
"""Faces of the third die beside the numbers 1-3; 0 = it was not rolled."""

PERSON: Final = "person"
BOT: Final = "bot"

Share = tuple[int, int]
"""A seat (or `BANK`) and the amount that it is owed or gets."""

Input = tuple[str, int]
"""A named number that a rule computed with."""


@dataclass(slots=True)
class SeatSpec:
    """Who sits where when a match is made.

    *player* is an opaque id and empty for bots; *strength* names a bot's strategy. *cards* are the
    owner's best collection cards, as (square, rarity) by square (RENT-6).
    """

    kind: str
    player: str = ""
    strength: str = ""
    cards: tuple[tuple[int, str], ...] = ()


@dataclass(slots=True)
class Side:
    """One side of a trade: cash and squares, in the order in which they were named."""

    cash: int = 0
    squares: tuple[int, ...] = ()


@dataclass(slots=True)
class MatchCreated:
    """A match was made under a rule set, with a commitment to its secret seed (FAIR-1)."""

    match_id: str
    rule_set: str
    board: str
    seats: tuple[SeatSpec, ...]
    commitment: bytes


@dataclass(slots=True)
class SeedContributed:
    """A person gave a client seed; an empty one declines."""

    seat: int
    client_seed: bytes


@dataclass(slots=True)
class MatchStarted:
    """The first seat was drawn and play began.

    *teams* has a number for each seat and is empty outside Teams; *cards* are the collection cards
    that count in this match, per seat as (square, rarity).
    """

    first_seat: int
    counter: int
    blocks: int
    starting_cash: int
    teams: tuple[int, ...]
    cards: tuple[tuple[tuple[int, str], ...], ...]


@dataclass(slots=True)
class RoundStarted:
    """A round began (ROUND-1)."""

    round: int


@dataclass(slots=True)
class TurnStarted:
    """A seat's turn began; *turn* counts all turns of the match from 1."""

    seat: int
    turn: int


@dataclass(slots=True)
class DeadlineSet:
    """A decision is pending until *due* (CLOCK-1).

    *kind* is the phase's name, or ``offer``. *scope* is the debt's or the offer's id for these two
    kinds, else the seat. *number* counts all deadlines of the match. *clock_left* is what a turn
    clock that stands has left (kinds ``auction`` and ``debt``), else 0.
    """

    kind: str
    scope: int
    number: int
    seat: int
    due: int
    clock_left: int

    @property
    def deadline_id(self) -> str:
        """The name that a timer fires it by (write protocol, T1)."""
        return f"{self.kind}:{self.scope}:{self.number}"


@dataclass(slots=True)
class DeadlineExtended:
    """A deadline was moved to *due*, because of an outage or a freeze (write protocol, T8)."""

    kind: str
    scope: int
    number: int
    due: int
    reason: str

    @property
    def deadline_id(self) -> str:
        """The name of the deadline that was moved."""
        return f"{self.kind}:{self.scope}:{self.number}"


@dataclass(slots=True)
class DecisionTimedOut:
    """A decision was taken for a seat, *lateness* ms after it was due (CLOCK-2)."""

    seat: int
    kind: str
    lateness: int


@dataclass(slots=True)
class DiceRolled:
    """The turn's seat rolled; *third* is 0 where no third die was rolled."""

    seat: int
    white_1: int
    white_2: int
    third: int
    counter: int
    blocks: int


@dataclass(slots=True)
class TokenMoved:
    """A token went from *origin* to *target*; *how* is roll, card, jail, jump or teleport."""

    seat: int
    origin: int
    target: int
    how: str


@dataclass(slots=True)
class SalaryPaid:
    """The bank paid the salary for passing or reaching Start."""

    seat: int
    amount: int


@dataclass(slots=True)
class LandingBonusPaid:
    """The bank paid the bonus for stopping exactly on Start."""

    seat: int
    amount: int


@dataclass(slots=True)
class PropertyOffered:
    """The bank offered the property that a seat landed on."""

    seat: int
    square: int
    price: int


@dataclass(slots=True)
class PropertyBought:
    """A seat bought a property from the bank at list price."""

    seat: int
    square: int
    price: int


@dataclass(slots=True)
class PropertyDeclined:
    """A seat declined a property, or the clock did (*forced*)."""

    seat: int
    square: int
    forced: bool


@dataclass(slots=True)
class PropertyReleased:
    """A property went back to the bank, unowned, unbuilt, unmortgaged, without pay.

    *why* is bankrupt, surrendered or mortgage_expired.
    """

    square: int
    seat: int
    why: str


@dataclass(slots=True)
class AuctionOpened:
    """An auction began; *order* is the order in which seats are asked (AUC-1)."""

    square: int
    order: tuple[int, ...]
    minimum: int


@dataclass(slots=True)
class BidPlaced:
    """A seat bid *amount* and leads."""

    seat: int
    amount: int


@dataclass(slots=True)
class BidPassed:
    """A seat passed for good, or was passed by the engine or the clock (*forced*)."""

    seat: int
    forced: bool


@dataclass(slots=True)
class BidVoided:
    """The leader went out: its bid of *amount* no longer stands (AUC-4)."""

    seat: int
    amount: int


@dataclass(slots=True)
class AuctionClosed:
    """An auction ended; the winner pays *amount*, or nobody (`NOBODY`, 0) bought."""

    square: int
    winner: int
    amount: int


@dataclass(slots=True)
class CardDrawn:
    """A seat drew chance card number 1-16."""

    seat: int
    card: int


@dataclass(slots=True)
class CashReceived:
    """A seat received cash from *source*, which is the bank."""

    seat: int
    amount: int
    source: int
    why: str


@dataclass(slots=True)
class DebtOpened:
    """A seat owes, and the match stops at a payment pause (DEBT-1).

    *amount* is all it owes; *creditors* share it out before *withheld*, which the bank keeps of a
    rent. *tax_bp* is the withheld share in basis points. *rule* and *inputs* say how the amount
    came about.
    """

    debt: int
    debtor: int
    reason: str
    amount: int
    withheld: int
    tax_bp: int
    creditors: tuple[Share, ...]
    rule: str
    inputs: tuple[Input, ...]


@dataclass(slots=True)
class DebtPaid:
    """A debt was paid: *amounts* is what each creditor gets, *withheld* what the bank keeps."""

    debt: int
    debtor: int
    amounts: tuple[Share, ...]
    withheld: int


@dataclass(slots=True)
class CashCollected:
    """A card made one seat pay another at once (DEBT-3)."""

    from_seat: int
    to_seat: int
    amount: int
    card: int


@dataclass(slots=True)
class LevelBuilt:
    """A seat paid *amount* for a level; *level* is the street's level after it."""

    seat: int
    square: int
    level: int
    amount: int


@dataclass(slots=True)
class LevelSold:
    """A seat got *amount* for a level; *level* is the street's level after it."""

    seat: int
    square: int
    level: int
    amount: int


@dataclass(slots=True)
class PropertyMortgaged:
    """A seat got *amount* for mortgaging a property."""

    seat: int
    square: int
    amount: int


@dataclass(slots=True)
class PropertyRedeemed:
    """A seat paid *amount* to lift a mortgage."""

    seat: int
    square: int
    amount: int


@dataclass(slots=True)
class MortgageReminded:
    """A mortgage expires when *rounds_left* more rounds are complete (MORT-3)."""

    seat: int
    square: int
    rounds_left: int


@dataclass(slots=True)
class JailEntered:
    """A seat was sent to jail; *why* is doubles, square or card."""

    seat: int
    why: str


@dataclass(slots=True)
class JailAttemptFailed:
    """A roll in jail gave no doubles; *attempt* counts from 1."""

    seat: int
    attempt: int


@dataclass(slots=True)
class BailOffered:
    """A seat may pay *amount* and move by its roll, or stay (JAIL-3)."""

    seat: int
    amount: int


@dataclass(slots=True)
class BailPaid:
    """A seat paid bail of its own will."""

    seat: int
    amount: int


@dataclass(slots=True)
class JailLeft:
    """A seat is free; *how* is doubles, bail or forced_bail."""

    seat: int
    how: str


@dataclass(slots=True)
class BusOffered:
    """A seat may move by one of *totals*, ascending (DIE3-2)."""

    seat: int
    totals: tuple[int, ...]


@dataclass(slots=True)
class BusMoveChosen:
    """A seat chose to move by *total*."""

    seat: int
    total: int


@dataclass(slots=True)
class TeleportOffered:
    """A triple lets a seat go to any square (DIE3-4)."""

    seat: int


@dataclass(slots=True)
class TeleportChosen:
    """A seat chose the square to go to."""

    seat: int
    square: int


@dataclass(slots=True)
class JumpMade:
    """An X took a token on at the end of the turn (DIE3-3)."""

    seat: int
    origin: int
    target: int


@dataclass(slots=True)
class JackpotOffered:
    """A seat may bet *stake* on one, two or three numbers (JACK-1)."""

    seat: int
    stake: int


@dataclass(slots=True)
class JackpotDeclined:
    """A seat did not bet, or the clock declined for it."""

    seat: int
    stake: int


@dataclass(slots=True)
class JackpotBetPlaced:
    """A seat paid *stake* and bet on *numbers*, ascending."""

    seat: int
    numbers: tuple[int, ...]
    stake: int


@dataclass(slots=True)
class JackpotRolled:
    """The jackpot die fell; *payout* is 0 for a miss."""

    seat: int
    die: int
    payout: int
    counter: int
    blocks: int


@dataclass(slots=True)
class TradeOffered:
    """A seat offered a trade: *give* is what it would give, *take* what it would get."""

    offer: int
    proposer: int
    receiver: int
    give: Side
    take: Side
    expires: int


@dataclass(slots=True)
class TradeAccepted:
    """A trade was made."""

    offer: int


@dataclass(slots=True)
class TradeRejected:
    """The receiver said no."""

    offer: int


@dataclass(slots=True)
class TradeWithdrawn:
    """The proposer took the offer back."""

    offer: int


@dataclass(slots=True)
class TradeClosed:
    """An offer ended without a word; *why* is expired, no_longer_holds or side_out."""

    offer: int
    why: str


@dataclass(slots=True)
class TurnMissed:
    """A decision of the turn's seat timed out in its turn, as *in_a_row* turns by now (CLOCK-3)."""

    seat: int
    in_a_row: int


@dataclass(slots=True)
class TurnEnded:
    """The dice pass on."""

    seat: int


@dataclass(slots=True)
class SeatBankrupted:
    """A seat could not pay and is out with cash 0 (BANK-2).

    *proceeds* is its cash and what the bank gave for its property; *shares* is what each creditor
    gets of it, *withheld* the tax on these.
    """

    seat: int
    proceeds: int
    shares: tuple[Share, ...]
    withheld: int


@dataclass(slots=True)
class SeatSurrendered:
    """A seat left, or was surrendered for missed turns (*forced*), and is out with cash 0 (SURR-1).

    *proceeds*, *shares* and *withheld* as in `SeatBankrupted`; without a debt *shares* is empty.
    """

    seat: int
    forced: bool
    proceeds: int
    shares: tuple[Share, ...]
    withheld: int


@dataclass(slots=True)
class MatchEnded:
    """The match is over. *net_worths* and *groups_held* (whole street groups) are by seat.

    *winners* ascend; *placing* is every seat from the first place down (END-3). *why* is
    last_standing or round_cap.
    """

    winners: tuple[int, ...]
    placing: tuple[int, ...]
    net_worths: tuple[int, ...]
    groups_held: tuple[int, ...]
    round: int
    why: str


@dataclass(slots=True)
class SeedRevealed:
    """The secret seed, so that anyone can check every draw (FAIR-1)."""

    seed: bytes


@dataclass(slots=True)
class MatchAborted:
    """An operator ended the match without a winner."""

    reason: str
    actor: str


@dataclass(slots=True)
class MatchFrozen:
    """An operator stopped all clocks at *at_ms*."""

    reason: str
    actor: str
    at_ms: int


@dataclass(slots=True)
class MatchResumed:
    """An operator let a frozen match go on."""

    reason: str
    actor: str


Event = (
    MatchCreated
    | SeedContributed
    | MatchStarted
    | RoundStarted
    | TurnStarted
    | DeadlineSet
    | DeadlineExtended
    | DecisionTimedOut
    | DiceRolled
    | TokenMoved
    | SalaryPaid
    | LandingBonusPaid
    | PropertyOffered
    | PropertyBought
    | PropertyDeclined
    | PropertyReleased
    | AuctionOpened
    | BidPlaced
    | BidPassed
    | BidVoided
    | AuctionClosed
    | CardDrawn
    | CashReceived
    | DebtOpened
    | DebtPaid
    | CashCollected
    | LevelBuilt
    | LevelSold
    | PropertyMortgaged
    | PropertyRedeemed
    | MortgageReminded
    | JailEntered
    | JailAttemptFailed
    | BailOffered
    | BailPaid
    | JailLeft
    | BusOffered
    | BusMoveChosen
    | TeleportOffered
    | TeleportChosen
    | JumpMade
    | JackpotOffered
    | JackpotDeclined
    | JackpotBetPlaced
    | JackpotRolled
    | TradeOffered
    | TradeAccepted
    | TradeRejected
    | TradeWithdrawn
    | TradeClosed
    | TurnMissed
    | TurnEnded
    | SeatBankrupted
    | SeatSurrendered
    | MatchEnded
    | SeedRevealed
    | MatchAborted
    | MatchFrozen
    | MatchResumed
)
"""Everything that can happen in a match."""
