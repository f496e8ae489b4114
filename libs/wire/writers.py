"""How every event of today is written: an event in, its message out.

Fields that are zero, false or empty are absent on the wire, and so is a seat that is nobody.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple, TypeVar, cast

from google.protobuf.message import Message

from libs.kernel.chance import FIRST, JACKPOT, ROLL
from libs.rules import events as e
from libs.wire.words import numbers_by_word
from opolyx.record.v1 import event_pb2 as pb

T = TypeVar("T")
M = TypeVar("M", bound=Message)


class Writer(NamedTuple):
    """How one class of event is written: the message that it becomes, and what makes it."""

    event: type[e.Event]
    message: type[Message]
    build: Callable[[Any], Message]


def _writer(event: type[T], message: type[M], build: Callable[[T], M]) -> Writer:
    return Writer(cast("type[e.Event]", event), message, build)


def _plain(event: type[T], message: type[M]) -> Writer:
    """Write an event whose message has the very same fields."""
    names = tuple(field.name for field in message.DESCRIPTOR.fields)
    assert names == tuple(event.__annotations__), event

    def build(value: T) -> M:
        return message(**{name: getattr(value, name) for name in names})

    return _writer(event, message, build)


_DECISIONS: Final = numbers_by_word(pb.Decision)
_RARITIES: Final = numbers_by_word(pb.CollectionCard.Rarity)
_SEAT_KINDS: Final = numbers_by_word(pb.SeatSpec.Kind)
_MOVES: Final = numbers_by_word(pb.TokenMoved.How)
_EXTENSIONS: Final = numbers_by_word(pb.DeadlineExtended.Reason)
_RELEASES: Final = numbers_by_word(pb.PropertyReleased.Why)
_RECEIPTS: Final = numbers_by_word(pb.CashReceived.Why)
_DEBTS: Final = numbers_by_word(pb.DebtOpened.Reason)
_ARRESTS: Final = numbers_by_word(pb.JailEntered.Why)
_FREEDOMS: Final = numbers_by_word(pb.JailLeft.How)
_CLOSINGS: Final = numbers_by_word(pb.TradeClosed.Why)
_ENDINGS: Final = numbers_by_word(pb.MatchEnded.Why)
_THIRDS: Final = dict(enumerate(pb.ThirdDie.values()))


def _seat(seat: int) -> int | None:
    """Return a seat for a field that is absent where there is none."""
    return None if seat == e.NOBODY else seat


def _draw(label: str, counter: int, blocks: int) -> pb.Draw:
    return pb.Draw(label=label, counter=counter, blocks=0 if blocks == 1 else blocks)


def card_messages(cards: Iterable[tuple[int, str]]) -> list[pb.CollectionCard]:
    """Write collection cards."""
    return [pb.CollectionCard(square=square, rarity=_RARITIES[rarity]) for square, rarity in cards]


def spec_message(spec: e.SeatSpec) -> pb.SeatSpec:
    """Write who sits on a seat."""
    return pb.SeatSpec(
        kind=_SEAT_KINDS[spec.kind],
        player=spec.player,
        strength=spec.strength,
        cards=card_messages(spec.cards),
    )


def share_messages(shares: Iterable[e.Share]) -> list[pb.Share]:
    """Write parts of an amount; the bank's has no seat."""
    return [pb.Share(seat=_seat(seat), amount=amount) for seat, amount in shares]


def side_message(side: e.Side) -> pb.Side:
    """Write one side of a trade."""
    return pb.Side(cash=side.cash, squares=side.squares)


def _match_created(v: e.MatchCreated) -> pb.MatchCreated:
    return pb.MatchCreated(
        match_id=v.match_id,
        rule_set=v.rule_set,
        board=v.board,
        seats=[spec_message(spec) for spec in v.seats],
        commitment=v.commitment,
    )


def _match_started(v: e.MatchStarted) -> pb.MatchStarted:
    return pb.MatchStarted(
        first_seat=v.first_seat,
        draw=_draw(FIRST, v.counter, v.blocks),
        starting_cash=v.starting_cash,
        teams=v.teams,
        cards=[pb.SeatCards(cards=card_messages(cards)) for cards in v.cards],
    )


def _deadline_set(v: e.DeadlineSet) -> pb.DeadlineSet:
    return pb.DeadlineSet(
        kind=_DECISIONS[v.kind],
        scope=v.scope,
        number=v.number,
        seat=_seat(v.seat),
        due_ms=v.due,
        clock_left_ms=v.clock_left,
    )


def _deadline_extended(v: e.DeadlineExtended) -> pb.DeadlineExtended:
    return pb.DeadlineExtended(
        kind=_DECISIONS[v.kind],
        scope=v.scope,
        number=v.number,
        due_ms=v.due,
        reason=_EXTENSIONS[v.reason],
    )


def _dice_rolled(v: e.DiceRolled) -> pb.DiceRolled:
    return pb.DiceRolled(
        seat=v.seat,
        white_1=v.white_1,
        white_2=v.white_2,
        third=_THIRDS[v.third],
        draw=_draw(ROLL, v.counter, v.blocks),
    )


def _debt_opened(v: e.DebtOpened) -> pb.DebtOpened:
    return pb.DebtOpened(
        debt=v.debt,
        debtor=v.debtor,
        reason=_DEBTS[v.reason],
        amount=v.amount,
        withheld=v.withheld,
        tax_bp=v.tax_bp,
        creditors=share_messages(v.creditors),
        rule=v.rule,
        inputs=[pb.Input(name=name, value=value) for name, value in v.inputs],
    )


def _jackpot_rolled(v: e.JackpotRolled) -> pb.JackpotRolled:
    return pb.JackpotRolled(
        seat=v.seat,
        die=v.die,
        payout=v.payout,
        draw=_draw(JACKPOT, v.counter, v.blocks),
    )


def _trade_offered(v: e.TradeOffered) -> pb.TradeOffered:
    return pb.TradeOffered(
        offer=v.offer,
        proposer=v.proposer,
        receiver=v.receiver,
        give=side_message(v.give),
        take=side_message(v.take),
        expires_ms=v.expires,
    )


def _seat_surrendered(v: e.SeatSurrendered) -> pb.SeatSurrendered:
    return pb.SeatSurrendered(
        seat=v.seat,
        forced=v.forced,
        proceeds=v.proceeds,
        shares=share_messages(v.shares),
        withheld=v.withheld,
    )


def _match_ended(v: e.MatchEnded) -> pb.MatchEnded:
    return pb.MatchEnded(
        winners=v.winners,
        placing=v.placing,
        net_worths=v.net_worths,
        groups_held=v.groups_held,
        round=v.round,
        why=_ENDINGS[v.why],
    )


WRITERS: Final = (
    _writer(e.MatchCreated, pb.MatchCreated, _match_created),
    _plain(e.SeedContributed, pb.SeedContributed),
    _writer(e.MatchStarted, pb.MatchStarted, _match_started),
    _plain(e.RoundStarted, pb.RoundStarted),
    _plain(e.TurnStarted, pb.TurnStarted),
    _writer(e.DeadlineSet, pb.DeadlineSet, _deadline_set),
    _writer(e.DeadlineExtended, pb.DeadlineExtended, _deadline_extended),
    _writer(
        e.DecisionTimedOut,
        pb.DecisionTimedOut,
        lambda v: pb.DecisionTimedOut(seat=v.seat, kind=_DECISIONS[v.kind], lateness_ms=v.lateness),
    ),
    _writer(e.DiceRolled, pb.DiceRolled, _dice_rolled),
    _writer(
        e.TokenMoved,
        pb.TokenMoved,
        lambda v: pb.TokenMoved(seat=v.seat, origin=v.origin, target=v.target, how=_MOVES[v.how]),
    ),
    _plain(e.SalaryPaid, pb.SalaryPaid),
    _plain(e.LandingBonusPaid, pb.LandingBonusPaid),
    _plain(e.PropertyOffered, pb.PropertyOffered),
    _plain(e.PropertyBought, pb.PropertyBought),
    _plain(e.PropertyDeclined, pb.PropertyDeclined),
    _writer(
        e.PropertyReleased,
        pb.PropertyReleased,
        lambda v: pb.PropertyReleased(square=v.square, seat=v.seat, why=_RELEASES[v.why]),
    ),
    _plain(e.AuctionOpened, pb.AuctionOpened),
    _plain(e.BidPlaced, pb.BidPlaced),
    _plain(e.BidPassed, pb.BidPassed),
    _plain(e.BidVoided, pb.BidVoided),
    _writer(
        e.AuctionClosed,
        pb.AuctionClosed,
        lambda v: pb.AuctionClosed(square=v.square, winner=_seat(v.winner), amount=v.amount),
    ),
    _plain(e.CardDrawn, pb.CardDrawn),
    _writer(
        e.CashReceived,
        pb.CashReceived,
        lambda v: pb.CashReceived(
            seat=v.seat, amount=v.amount, source=_seat(v.source), why=_RECEIPTS[v.why]
        ),
    ),
    _writer(e.DebtOpened, pb.DebtOpened, _debt_opened),
    _writer(
        e.DebtPaid,
        pb.DebtPaid,
        lambda v: pb.DebtPaid(
            debt=v.debt, debtor=v.debtor, amounts=share_messages(v.amounts), withheld=v.withheld
        ),
    ),
    _plain(e.CashCollected, pb.CashCollected),
    _plain(e.LevelBuilt, pb.LevelBuilt),
    _plain(e.LevelSold, pb.LevelSold),
    _plain(e.PropertyMortgaged, pb.PropertyMortgaged),
    _plain(e.PropertyRedeemed, pb.PropertyRedeemed),
    _plain(e.MortgageReminded, pb.MortgageReminded),
    _writer(
        e.JailEntered, pb.JailEntered, lambda v: pb.JailEntered(seat=v.seat, why=_ARRESTS[v.why])
    ),
    _plain(e.JailAttemptFailed, pb.JailAttemptFailed),
    _plain(e.BailOffered, pb.BailOffered),
    _plain(e.BailPaid, pb.BailPaid),
    _writer(e.JailLeft, pb.JailLeft, lambda v: pb.JailLeft(seat=v.seat, how=_FREEDOMS[v.how])),
    _plain(e.BusOffered, pb.BusOffered),
    _plain(e.BusMoveChosen, pb.BusMoveChosen),
    _plain(e.TeleportOffered, pb.TeleportOffered),
    _plain(e.TeleportChosen, pb.TeleportChosen),
    _plain(e.JumpMade, pb.JumpMade),
    _plain(e.JackpotOffered, pb.JackpotOffered),
    _plain(e.JackpotDeclined, pb.JackpotDeclined),
    _plain(e.JackpotBetPlaced, pb.JackpotBetPlaced),
    _writer(e.JackpotRolled, pb.JackpotRolled, _jackpot_rolled),
    _writer(e.TradeOffered, pb.TradeOffered, _trade_offered),
    _plain(e.TradeAccepted, pb.TradeAccepted),
    _plain(e.TradeRejected, pb.TradeRejected),
    _plain(e.TradeWithdrawn, pb.TradeWithdrawn),
    _writer(
        e.TradeClosed, pb.TradeClosed, lambda v: pb.TradeClosed(offer=v.offer, why=_CLOSINGS[v.why])
    ),
    _plain(e.TurnMissed, pb.TurnMissed),
    _plain(e.TurnEnded, pb.TurnEnded),
    _writer(
        e.SeatBankrupted,
        pb.SeatBankrupted,
        lambda v: pb.SeatBankrupted(
            seat=v.seat, proceeds=v.proceeds, shares=share_messages(v.shares), withheld=v.withheld
        ),
    ),
    _writer(e.SeatSurrendered, pb.SeatSurrendered, _seat_surrendered),
    _writer(e.MatchEnded, pb.MatchEnded, _match_ended),
    _plain(e.SeedRevealed, pb.SeedRevealed),
    _plain(e.MatchAborted, pb.MatchAborted),
    _plain(e.MatchFrozen, pb.MatchFrozen),
    _plain(e.MatchResumed, pb.MatchResumed),
)
