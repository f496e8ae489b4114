"""What a seat, a service or an operator asks for, in the imperative.

Time is no field: it comes in beside the command. A seat's command names its seat, which the edge
takes from the caller's token. Commands are built by position and never assigned to afterwards.
"""

from dataclasses import dataclass

from libs.rules.events import SeatSpec, Side


@dataclass(slots=True)
class Roll:
    """Roll the dice."""

    seat: int


@dataclass(slots=True)
class Buy:
    """Buy the property that is offered, at list price."""

    seat: int


@dataclass(slots=True)
class Decline:
    """Leave the offered property to an auction."""

    seat: int


@dataclass(slots=True)
class Bid:
    """Bid exactly the minimum."""

    seat: int


@dataclass(slots=True)
class Pass:
    """Leave the auction for good."""

    seat: int


@dataclass(slots=True)
class Build:
    """Build one level on a street."""

    seat: int
    square: int


@dataclass(slots=True)
class SellLevel:
    """Sell one level of a street to the bank."""

    seat: int
    square: int


@dataclass(slots=True)
class Mortgage:
    """Mortgage a property."""

    seat: int
    square: int


@dataclass(slots=True)
class Redeem:
    """Lift a mortgage."""

    seat: int
    square: int


@dataclass(slots=True)
class Pay:
    """Pay one's open debt."""

    seat: int


@dataclass(slots=True)
class DeclareBankruptcy:
    """Give up where everything together does not cover the debt."""

    seat: int


@dataclass(slots=True)
class PayBail:
    """Pay to leave jail."""

    seat: int


@dataclass(slots=True)
class StayInJail:
    """Turn the offered bail down."""

    seat: int


@dataclass(slots=True)
class ChooseBusMove:
    """Choose how far the bus goes."""

    seat: int
    total: int


@dataclass(slots=True)
class ChooseTeleport:
    """Choose where a triple leads."""

    seat: int
    square: int


@dataclass(slots=True)
class BetJackpot:
    """Bet the stake on one, two or three different numbers of 1-6."""

    seat: int
    numbers: tuple[int, ...]


@dataclass(slots=True)
class DeclineJackpot:
    """Keep the stake."""

    seat: int


@dataclass(slots=True)
class OfferTrade:
    """Offer another seat a trade: *give* against *take*."""

    seat: int
    to: int
    give: Side
    take: Side


@dataclass(slots=True)
class AcceptTrade:
    """Accept an offer."""

    seat: int
    offer: int


@dataclass(slots=True)
class RejectTrade:
    """Turn an offer down."""

    seat: int
    offer: int


@dataclass(slots=True)
class WithdrawTrade:
    """Take one's own offer back."""

    seat: int
    offer: int


@dataclass(slots=True)
class Surrender:
    """Leave the match for good."""

    seat: int


@dataclass(slots=True)
class ContributeSeed:
    """Give a client seed of 16-32 bytes before the match starts; an empty one declines."""

    seat: int
    client_seed: bytes


@dataclass(slots=True)
class CreateMatch:
    """Make a match; a service's command."""

    match_id: str
    rule_set: str
    seats: tuple[SeatSpec, ...]
    commitment: bytes


@dataclass(slots=True)
class FireDeadline:
    """Say that a deadline was reached; the timer's command, or the engine's own sweeper's."""

    deadline_id: str


@dataclass(slots=True)
class ExtendDeadlines:
    """Move every open deadline by *by_ms*; the engine's own after outage number *outage*."""

    by_ms: int
    outage: int


@dataclass(slots=True)
class Freeze:
    """Stop all clocks; an operator's."""

    reason: str
    actor: str


@dataclass(slots=True)
class Resume:
    """Let a frozen match go on; an operator's."""

    reason: str
    actor: str


@dataclass(slots=True)
class Abort:
    """End the match without a winner and reveal its seed; an operator's."""

    reason: str
    actor: str


SeatCommand = (
    Roll
    | Buy
    | Decline
    | Bid
    | Pass
    | Build
    | SellLevel
    | Mortgage
    | Redeem
    | Pay
    | DeclareBankruptcy
    | PayBail
    | StayInJail
    | ChooseBusMove
    | ChooseTeleport
    | BetJackpot
    | DeclineJackpot
    | OfferTrade
    | AcceptTrade
    | RejectTrade
    | WithdrawTrade
    | Surrender
    | ContributeSeed
)
"""What somebody at the table may ask for."""

SystemCommand = CreateMatch | FireDeadline | ExtendDeadlines | Freeze | Resume | Abort
"""What services and operators ask for."""

Command = SeatCommand | SystemCommand
"""Everything that can be asked of a match."""
