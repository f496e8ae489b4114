"""What happens in a match, told in sentences for people."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from libs.rules import events as e
from libs.rules.board import Board
from libs.rules.match import Match
from libs.rules.state import THIRD_FACES
from services.console.naming import enumerate_words, label, name_seats, spoken


def narrate(event: e.Event, board: Board) -> str | None:
    """Return the sentence for an event, None for one that says nothing to onlookers."""
    tell = SENTENCES.get(type(event))
    return None if tell is None else tell(event, board)


def placing(match: Match, names: Sequence[str]) -> Iterator[str]:
    """Go through the seats by their *names*, the first place first; or say why nobody has one."""
    if not match.placing:
        yield "The match was ended by an operator: nobody has won."
    for place, seat in enumerate(match.placing, start=1):
        how = "out" if match.out[seat] else f"net worth {match.net_worth(seat):,}"
        won = ", won" if seat in match.winners else ""
        yield f"{place}. {names[seat]}, {how}{won}"


_Tell = Callable[[Any, Board], str | None]


def where(board: Board, square: int) -> str:
    """Return a square in words, with its number."""
    if board.kind[square] == "corner20":
        return label(board, square)
    name = _CORNERS.get(board.kind[square]) or spoken(board, square)
    return f"{name} ({square})"


_CORNERS: Final = {"start": "Start", "jail": "the jail"}


def _moved(event: e.TokenMoved, board: Board) -> str:
    if event.how != "jail" and board.kind[event.target] == "jail":
        return f"Seat {event.seat} just visits the jail."
    return f"Seat {event.seat} is on {where(board, event.target)}."


def _started(event: e.MatchStarted, _: Board) -> str:
    return f"The match starts: {event.starting_cash:,} each, seat {event.first_seat} begins."


def _rolled(event: e.DiceRolled, _: Board) -> str:
    third = f" and {THIRD_FACES[event.third]}" if event.third else ""
    return f"Seat {event.seat} rolls {event.white_1} and {event.white_2}{third}."


def _released(event: e.PropertyReleased, board: Board) -> str | None:
    if event.why != "mortgage_expired":
        # Whoever goes out loses everything: that is one sentence, not twenty.
        return None
    return f"Seat {event.seat} loses {where(board, event.square)}: the mortgage expired."


def _auction_closed(event: e.AuctionClosed, board: Board) -> str:
    name = where(board, event.square)
    if event.winner == e.NOBODY:
        return f"Nobody wants {name}."
    return f"Seat {event.winner} gets {name} for {event.amount:,}."


def _debt(event: e.DebtOpened, _: Board) -> str:
    creditors = enumerate_words(
        ["the bank" if seat == e.BANK else f"seat {seat}" for seat, _ in event.creditors]
    )
    return f"Seat {event.debtor} owes {creditors} {event.amount:,} ({event.reason})."


def _paid(event: e.DebtPaid, _: Board) -> str:
    amount = sum(amount for _, amount in event.amounts) + event.withheld
    tax = f", {event.withheld:,} of it tax" if event.withheld else ""
    return f"Seat {event.debtor} pays {amount:,}{tax}."


def side_told(side: e.Side, board: Board) -> str:
    """Return one side of a trade in words."""
    parts = [f"{side.cash:,}"] if side.cash else []
    parts += [where(board, square) for square in side.squares]
    return enumerate_words(parts) if parts else "nothing"


def _offered(event: e.TradeOffered, board: Board) -> str:
    give, take = side_told(event.give, board), side_told(event.take, board)
    return f"Seat {event.proposer} offers seat {event.receiver} {give} for {take}."


def _jackpot(event: e.JackpotRolled, _: Board) -> str:
    won = f"wins {event.payout:,}" if event.payout else "loses the stake"
    return f"The jackpot die shows {event.die}: seat {event.seat} {won}."


def _ended(event: e.MatchEnded, _: Board) -> str:
    last = "the last one standing" if len(event.winners) == 1 else "the last ones standing"
    why = last if event.why == "last_standing" else "the richest at the cap"
    return f"The match ends in round {event.round}: {name_seats(event.winners)} won, {why}."


def _attempt_failed(event: e.JailAttemptFailed, _: Board) -> str:
    # Whether the seat stays is the next event's to tell: it may pay, and the last time it must.
    return f"Seat {event.seat} rolls no doubles: try {event.attempt} to leave jail has failed."


_FREEDOMS: Final = {
    "doubles": "by doubles",
    "bail": "on bail",
    "forced_bail": "on the bail it owed",
}


SENTENCES: Final[Mapping[type, _Tell]] = {
    e.MatchStarted: _started,
    e.RoundStarted: lambda event, _: f"Round {event.round}.",
    e.DecisionTimedOut: lambda event, _: f"Seat {event.seat} runs out of time ({event.kind}).",
    e.DiceRolled: _rolled,
    e.TokenMoved: _moved,
    e.SalaryPaid: lambda event, _: f"Seat {event.seat} gets its salary, {event.amount:,}.",
    e.LandingBonusPaid: lambda event, _: f"Seat {event.seat} gets the bonus, {event.amount:,}.",
    e.PropertyBought: lambda event, board: (
        f"Seat {event.seat} buys {where(board, event.square)} for {event.price:,}."
    ),
    e.PropertyDeclined: lambda event, board: (
        f"Seat {event.seat} declines {where(board, event.square)}: an auction."
    ),
    e.PropertyReleased: _released,
    e.BidPlaced: lambda event, _: f"Seat {event.seat} bids {event.amount:,}.",
    e.BidPassed: lambda event, _: f"Seat {event.seat} passes.",
    e.BidVoided: lambda event, _: f"The bid of seat {event.seat} no longer stands.",
    e.AuctionClosed: _auction_closed,
    e.CardDrawn: lambda event, _: f"Seat {event.seat} draws card {event.card}.",
    e.CashReceived: lambda event, _: f"Seat {event.seat} receives {event.amount:,}.",
    e.DebtOpened: _debt,
    e.DebtPaid: _paid,
    e.CashCollected: lambda event, _: (
        f"Seat {event.from_seat} pays seat {event.to_seat} {event.amount:,}."
    ),
    e.LevelBuilt: lambda event, board: (
        f"Seat {event.seat} builds level {event.level} on {where(board, event.square)}."
    ),
    e.LevelSold: lambda event, board: (
        f"Seat {event.seat} sells a level of {where(board, event.square)}."
    ),
    e.PropertyMortgaged: lambda event, board: (
        f"Seat {event.seat} mortgages {where(board, event.square)}."
    ),
    e.PropertyRedeemed: lambda event, board: (
        f"Seat {event.seat} redeems {where(board, event.square)}."
    ),
    e.MortgageReminded: lambda event, board: (
        f"Seat {event.seat} has {event.rounds_left} rounds to redeem {where(board, event.square)}."
    ),
    e.JailEntered: lambda event, _: f"Seat {event.seat} goes to jail ({event.why}).",
    e.JailAttemptFailed: _attempt_failed,
    e.BailPaid: lambda event, _: f"Seat {event.seat} pays {event.amount:,} bail.",
    e.JailLeft: lambda event, _: f"Seat {event.seat} leaves jail {_FREEDOMS[event.how]}.",
    e.BusMoveChosen: lambda event, _: f"Seat {event.seat} takes the bus for {event.total}.",
    e.TeleportChosen: lambda event, _: f"Seat {event.seat} goes wherever it likes.",
    e.JumpMade: lambda event, board: (
        f"An X takes seat {event.seat} to {where(board, event.target)}."
    ),
    e.JackpotBetPlaced: lambda event, _: (
        f"Seat {event.seat} bets {event.stake:,} "
        f"on {enumerate_words(list(map(str, event.numbers)))}."
    ),
    e.JackpotDeclined: lambda event, _: f"Seat {event.seat} does not bet.",
    e.JackpotRolled: _jackpot,
    e.TradeOffered: _offered,
    e.TradeAccepted: lambda event, _: f"Offer {event.offer} is accepted.",
    e.TradeRejected: lambda event, _: f"Offer {event.offer} is rejected.",
    e.TradeWithdrawn: lambda event, _: f"Offer {event.offer} is withdrawn.",
    e.TradeClosed: lambda event, _: f"Offer {event.offer} is closed ({event.why}).",
    e.TurnMissed: lambda event, _: f"Seat {event.seat} misses its turn.",
    e.SeatBankrupted: lambda event, _: f"Seat {event.seat} is bankrupt and leaves everything.",
    e.SeatSurrendered: lambda event, _: f"Seat {event.seat} surrenders and leaves everything.",
    e.MatchEnded: _ended,
}

SILENT: Final = (
    e.MatchCreated,
    e.SeedContributed,
    e.TurnStarted,
    e.TurnEnded,
    e.DeadlineSet,
    e.DeadlineExtended,
    e.PropertyOffered,
    e.AuctionOpened,
    e.BailOffered,
    e.BusOffered,
    e.TeleportOffered,
    e.JackpotOffered,
    e.SeedRevealed,
    e.MatchAborted,
    e.MatchFrozen,
    e.MatchResumed,
)
"""Events that tell an onlooker nothing, or what the next one tells; a test misses any other."""
