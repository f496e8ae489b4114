"""How every event that was ever written is read: a message in, today's event out.

One whose meaning has changed since stays here, under its old number, and makes today's event of it
(an upcast); a field that was added later is given here what its absence means. A word that is not
known here is a `KeyError`, never a guess: then the record is newer than its reader
(deploy/docs/decisions/0007-evolution-of-the-record.md).
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple, TypeVar

from google.protobuf.message import Message

from libs.rules import events as e
from libs.wire.shallow import shallow
from libs.wire.words import words_by_number
from opolyx.record.v1 import event_pb2 as pb

M = TypeVar("M", bound=Message)
V = TypeVar("V")


class Reader(NamedTuple):
    """How one type of event is read: parse its message, then build the domain's event of it.

    *recurs* says whether an equal event is likely to be read again, in this match or another.
    """

    message: type[Message]
    parse: Callable[[bytes], Message]
    build: Callable[[Any], e.Event]
    recurs: bool


def _reader(message: type[M], build: Callable[[M], e.Event], *, recurs: bool = True) -> Reader:
    return Reader(message, message.FromString, build, recurs)


def _shallow_reader(message: type[M], build: Callable[[Any], e.Event]) -> Reader:
    """Read an event whose nested messages are often the same: *build* gets them as bytes."""
    return Reader(message, shallow(message).FromString, build, recurs=False)


class _Known(dict[bytes, V]):
    """Values by the bytes that they were read from, so that each is read once.

    Full, it begins anew: what recurs is soon back.
    """

    def __init__(self, read: Callable[[bytes], V]) -> None:
        super().__init__()
        self._read = read

    def __missing__(self, message_bytes: bytes) -> V:
        if len(self) >= _KNOWN_MAX:
            self.clear()
        value = self[message_bytes] = self._read(message_bytes)
        return value


_KNOWN_MAX: Final = 1 << 12


_DECISIONS: Final = words_by_number(pb.Decision)
_RARITIES: Final = words_by_number(pb.CollectionCard.Rarity)
_SEAT_KINDS: Final = words_by_number(pb.SeatSpec.Kind)
_MOVES: Final = words_by_number(pb.TokenMoved.How)
_EXTENSIONS: Final = words_by_number(pb.DeadlineExtended.Reason)
_RELEASES: Final = words_by_number(pb.PropertyReleased.Why)
_RECEIPTS: Final = words_by_number(pb.CashReceived.Why)
_DEBTS: Final = words_by_number(pb.DebtOpened.Reason)
_ARRESTS: Final = words_by_number(pb.JailEntered.Why)
_FREEDOMS: Final = words_by_number(pb.JailLeft.How)
_CLOSINGS: Final = words_by_number(pb.TradeClosed.Why)
_ENDINGS: Final = words_by_number(pb.MatchEnded.Why)


def _cards(cards: Iterable[pb.CollectionCard]) -> tuple[tuple[int, str], ...]:
    return tuple((card.square, _RARITIES[card.rarity]) for card in cards)


def spec_of(spec: pb.SeatSpec) -> e.SeatSpec:
    """Read who sits on a seat; a kind or rarity that is not known here is a `KeyError`."""
    return e.SeatSpec(_SEAT_KINDS[spec.kind], spec.player, spec.strength, _cards(spec.cards))


def _share(message_bytes: bytes) -> e.Share:
    share = pb.Share.FromString(message_bytes)
    return share.seat if share.HasField("seat") else e.BANK, share.amount


def _input(message_bytes: bytes) -> e.Input:
    given = pb.Input.FromString(message_bytes)
    return given.name, given.value


_SHARES: Final = _Known(_share)
_INPUTS: Final = _Known(_input)


def _shares(messages: Sequence[bytes]) -> tuple[e.Share, ...]:
    return tuple(map(_SHARES.__getitem__, messages[:]))


def _inputs(messages: Sequence[bytes]) -> tuple[e.Input, ...]:
    return tuple(map(_INPUTS.__getitem__, messages[:]))


def side_of(side: pb.Side) -> e.Side:
    """Read one side of a trade."""
    return e.Side(side.cash, tuple(side.squares))


def _match_created(m: pb.MatchCreated) -> e.MatchCreated:
    seats = tuple(spec_of(spec) for spec in m.seats)
    return e.MatchCreated(m.match_id, m.rule_set, m.board, seats, m.commitment)


def _match_started(m: pb.MatchStarted) -> e.MatchStarted:
    draw = m.draw
    cards = tuple(_cards(seat.cards) for seat in m.cards)
    teams = tuple(m.teams)
    return e.MatchStarted(
        m.first_seat, draw.counter, draw.blocks or 1, m.starting_cash, teams, cards
    )


def _deadline_set(m: pb.DeadlineSet) -> e.DeadlineSet:
    seat = m.seat
    if not seat and not m.HasField("seat"):
        seat = e.NOBODY
    return e.DeadlineSet(_DECISIONS[m.kind], m.scope, m.number, seat, m.due_ms, m.clock_left_ms)


def _deadline_extended(m: pb.DeadlineExtended) -> e.DeadlineExtended:
    reason = _EXTENSIONS[m.reason]
    return e.DeadlineExtended(_DECISIONS[m.kind], m.scope, m.number, m.due_ms, reason)


def _dice_rolled(m: pb.DiceRolled) -> e.DiceRolled:
    draw = m.draw
    return e.DiceRolled(m.seat, m.white_1, m.white_2, m.third, draw.counter, draw.blocks or 1)


def _auction_closed(m: pb.AuctionClosed) -> e.AuctionClosed:
    return e.AuctionClosed(m.square, m.winner if m.HasField("winner") else e.NOBODY, m.amount)


def _cash_received(m: pb.CashReceived) -> e.CashReceived:
    source = m.source if m.HasField("source") else e.BANK
    return e.CashReceived(m.seat, m.amount, source, _RECEIPTS[m.why])


def _debt_opened(m: Any) -> e.DebtOpened:
    return e.DebtOpened(
        m.debt,
        m.debtor,
        _DEBTS[m.reason],
        m.amount,
        m.withheld,
        m.tax_bp,
        _shares(m.creditors),
        m.rule,
        _inputs(m.inputs),
    )


def _jackpot_rolled(m: pb.JackpotRolled) -> e.JackpotRolled:
    draw = m.draw
    return e.JackpotRolled(m.seat, m.die, m.payout, draw.counter, draw.blocks or 1)


def _trade_offered(m: pb.TradeOffered) -> e.TradeOffered:
    give, take = side_of(m.give), side_of(m.take)
    return e.TradeOffered(m.offer, m.proposer, m.receiver, give, take, m.expires_ms)


def _match_ended(m: pb.MatchEnded) -> e.MatchEnded:
    return e.MatchEnded(
        tuple(m.winners),
        tuple(m.placing),
        tuple(m.net_worths),
        tuple(m.groups_held),
        m.round,
        _ENDINGS[m.why],
    )


READERS: Final = (
    _reader(pb.MatchCreated, _match_created, recurs=False),
    _reader(pb.SeedContributed, lambda m: e.SeedContributed(m.seat, m.client_seed), recurs=False),
    _reader(pb.MatchStarted, _match_started, recurs=False),
    _reader(pb.RoundStarted, lambda m: e.RoundStarted(m.round)),
    _reader(pb.TurnStarted, lambda m: e.TurnStarted(m.seat, m.turn)),
    _reader(pb.DeadlineSet, _deadline_set, recurs=False),
    _reader(pb.DeadlineExtended, _deadline_extended, recurs=False),
    _reader(
        pb.DecisionTimedOut,
        lambda m: e.DecisionTimedOut(m.seat, _DECISIONS[m.kind], m.lateness_ms),
    ),
    _reader(pb.DiceRolled, _dice_rolled, recurs=False),
    _reader(pb.TokenMoved, lambda m: e.TokenMoved(m.seat, m.origin, m.target, _MOVES[m.how])),
    _reader(pb.SalaryPaid, lambda m: e.SalaryPaid(m.seat, m.amount)),
    _reader(pb.LandingBonusPaid, lambda m: e.LandingBonusPaid(m.seat, m.amount)),
    _reader(pb.PropertyOffered, lambda m: e.PropertyOffered(m.seat, m.square, m.price)),
    _reader(pb.PropertyBought, lambda m: e.PropertyBought(m.seat, m.square, m.price)),
    _reader(pb.PropertyDeclined, lambda m: e.PropertyDeclined(m.seat, m.square, m.forced)),
    _reader(pb.PropertyReleased, lambda m: e.PropertyReleased(m.square, m.seat, _RELEASES[m.why])),
    _reader(pb.AuctionOpened, lambda m: e.AuctionOpened(m.square, tuple(m.order), m.minimum)),
    _reader(pb.BidPlaced, lambda m: e.BidPlaced(m.seat, m.amount)),
    _reader(pb.BidPassed, lambda m: e.BidPassed(m.seat, m.forced)),
    _reader(pb.BidVoided, lambda m: e.BidVoided(m.seat, m.amount)),
    _reader(pb.AuctionClosed, _auction_closed),
    _reader(pb.CardDrawn, lambda m: e.CardDrawn(m.seat, m.card)),
    _reader(pb.CashReceived, _cash_received),
    _shallow_reader(pb.DebtOpened, _debt_opened),
    _shallow_reader(
        pb.DebtPaid, lambda m: e.DebtPaid(m.debt, m.debtor, _shares(m.amounts), m.withheld)
    ),
    _reader(pb.CashCollected, lambda m: e.CashCollected(m.from_seat, m.to_seat, m.amount, m.card)),
    _reader(pb.LevelBuilt, lambda m: e.LevelBuilt(m.seat, m.square, m.level, m.amount)),
    _reader(pb.LevelSold, lambda m: e.LevelSold(m.seat, m.square, m.level, m.amount)),
    _reader(pb.PropertyMortgaged, lambda m: e.PropertyMortgaged(m.seat, m.square, m.amount)),
    _reader(pb.PropertyRedeemed, lambda m: e.PropertyRedeemed(m.seat, m.square, m.amount)),
    _reader(pb.MortgageReminded, lambda m: e.MortgageReminded(m.seat, m.square, m.rounds_left)),
    _reader(pb.JailEntered, lambda m: e.JailEntered(m.seat, _ARRESTS[m.why])),
    _reader(pb.JailAttemptFailed, lambda m: e.JailAttemptFailed(m.seat, m.attempt)),
    _reader(pb.BailOffered, lambda m: e.BailOffered(m.seat, m.amount)),
    _reader(pb.BailPaid, lambda m: e.BailPaid(m.seat, m.amount)),
    _reader(pb.JailLeft, lambda m: e.JailLeft(m.seat, _FREEDOMS[m.how])),
    _reader(pb.BusOffered, lambda m: e.BusOffered(m.seat, tuple(m.totals))),
    _reader(pb.BusMoveChosen, lambda m: e.BusMoveChosen(m.seat, m.total)),
    _reader(pb.TeleportOffered, lambda m: e.TeleportOffered(m.seat)),
    _reader(pb.TeleportChosen, lambda m: e.TeleportChosen(m.seat, m.square)),
    _reader(pb.JumpMade, lambda m: e.JumpMade(m.seat, m.origin, m.target)),
    _reader(pb.JackpotOffered, lambda m: e.JackpotOffered(m.seat, m.stake)),
    _reader(pb.JackpotDeclined, lambda m: e.JackpotDeclined(m.seat, m.stake)),
    _reader(pb.JackpotBetPlaced, lambda m: e.JackpotBetPlaced(m.seat, tuple(m.numbers), m.stake)),
    _reader(pb.JackpotRolled, _jackpot_rolled, recurs=False),
    _reader(pb.TradeOffered, _trade_offered, recurs=False),
    _reader(pb.TradeAccepted, lambda m: e.TradeAccepted(m.offer)),
    _reader(pb.TradeRejected, lambda m: e.TradeRejected(m.offer)),
    _reader(pb.TradeWithdrawn, lambda m: e.TradeWithdrawn(m.offer)),
    _reader(pb.TradeClosed, lambda m: e.TradeClosed(m.offer, _CLOSINGS[m.why])),
    _reader(pb.TurnMissed, lambda m: e.TurnMissed(m.seat, m.in_a_row)),
    _reader(pb.TurnEnded, lambda m: e.TurnEnded(m.seat)),
    _shallow_reader(
        pb.SeatBankrupted,
        lambda m: e.SeatBankrupted(m.seat, m.proceeds, _shares(m.shares), m.withheld),
    ),
    _shallow_reader(
        pb.SeatSurrendered,
        lambda m: e.SeatSurrendered(m.seat, m.forced, m.proceeds, _shares(m.shares), m.withheld),
    ),
    _reader(pb.MatchEnded, _match_ended, recurs=False),
    _reader(pb.SeedRevealed, lambda m: e.SeedRevealed(m.seed), recurs=False),
    _reader(pb.MatchAborted, lambda m: e.MatchAborted(m.reason, m.actor), recurs=False),
    _reader(pb.MatchFrozen, lambda m: e.MatchFrozen(m.reason, m.actor, m.at_ms), recurs=False),
    _reader(pb.MatchResumed, lambda m: e.MatchResumed(m.reason, m.actor), recurs=False),
)
