"""A match as it goes out: its view, written field by field, and what a seat may do.

The message has no field for a secret, the view has no property for one, and each field is named
here: whatever a match comes to know, it stays inside until somebody adds it in all three places.
"""

from typing import Final

from libs.rules import events as e
from libs.rules.legal import (
    Choice,
    JackpotBounds,
    Legal,
    LegalCommands,
    SeedBounds,
    TradeBounds,
    TradePartner,
)
from libs.rules.pending import Auction, Debt, Offer
from libs.rules.rule_sets import team_of
from libs.rules.views import View
from libs.wire.commands import message_of
from libs.wire.words import numbers_by_word
from libs.wire.writers import card_messages, share_messages, side_message, spec_message
from opolyx.match.v1 import legal_command_pb2 as legal_pb
from opolyx.match.v1 import match_pb2 as pb
from opolyx.record.v1 import event_pb2 as record_pb

_PHASES: Final = numbers_by_word(pb.Match.Phase)
_DECISIONS: Final = numbers_by_word(record_pb.Decision)
_DEBTS: Final = numbers_by_word(record_pb.DebtOpened.Reason)
_THIRDS: Final = dict(enumerate(record_pb.ThirdDie.values()))


def match_message(
    view: View, at_ms: int, *, commitment: bytes = b"", chain_hash: bytes = b""
) -> pb.Match:
    """Write what a viewer may see of a match at *at_ms*.

    *commitment* is the one that `MatchCreated` published: everybody may know it, but no view has
    it. *chain_hash* is that of the view's sequence, empty inside a record.
    """
    return pb.Match(
        match_id=view.match_id,
        sequence=view.sequence,
        chain_hash=chain_hash,
        server_time_ms=at_ms,
        viewer_seat=_seat(view.viewer),
        rule_set=view.rules.rule_set_id,
        board=view.board.board_id,
        commitment=commitment,
        phase=_PHASES[view.phase],
        frozen_ms=None if view.frozen_at < 0 else view.frozen_at,
        deciding_seats=view.deciding,
        deadlines=[_deadline(deadline) for deadline in view.deadlines()],
        round=view.round,
        turn=_seat(view.turn),
        turn_number=view.turn_number,
        dice=_dice(view),
        doubles=view.doubles,
        jump_pending=view.jump_pending,
        seats=[_seat_message(view, seat) for seat in range(len(view.specs))],
        properties=[_property(view, square) for square in view.board.properties],
        auction=_auction(view, view.auction) if view.auction else None,
        debts=[_debt(debt) for debt in view.debts],
        offers=[_offer(offer) for offer in view.offers],
        next_card=view.next_card,
        last_card=view.last_card,
        winners=view.winners,
        placing=view.placing,
    )


def legal_messages(legal: LegalCommands) -> list[legal_pb.LegalCommand]:
    """Write what a seat may do now, with costs and bounds."""
    return [_legal(entry) for entry in legal]


def _seat(seat: int) -> int | None:
    return None if seat == e.NOBODY else seat


def _deadline(deadline: e.DeadlineSet) -> pb.Match.Deadline:
    return pb.Match.Deadline(
        deadline_id=deadline.deadline_id,
        kind=_DECISIONS[deadline.kind],
        seat=_seat(deadline.seat),
        due_ms=deadline.due,
    )


def _dice(view: View) -> pb.Match.Dice | None:
    white_1, white_2, third = view.dice
    if not white_1:
        return None
    return pb.Match.Dice(white_1=white_1, white_2=white_2, third=_THIRDS[third])


def _seat_message(view: View, seat: int) -> pb.Match.Seat:
    return pb.Match.Seat(
        seat=seat,
        spec=spec_message(view.specs[seat]),
        team=team_of(seat) if view.rules.teams else None,
        cash=view.cash[seat],
        square=view.square[seat],
        in_jail=view.in_jail[seat],
        jail_attempts=view.jail_attempts[seat],
        missed_turns=view.missed_turns[seat],
        out=view.out[seat],
        net_worth=view.net_worth(seat),
        cards=card_messages(view.cards[seat].items()) if view.cards else (),
    )


def _property(view: View, square: int) -> pb.Match.Property:
    return pb.Match.Property(
        square=square,
        owner=_seat(view.owner[square]),
        level=view.level[square],
        mortgaged_round=view.mortgaged_round[square],
        built=view.built[square],
    )


def _auction(view: View, auction: Auction) -> pb.Match.Auction:
    has_leader = auction.leader != e.NOBODY
    passed = [seat for seat, has_passed in enumerate(auction.passed) if has_passed]
    return pb.Match.Auction(
        square=auction.square,
        order=auction.order,
        passed=[seat for seat in passed if not view.out[seat]],
        bidder=_seat(auction.bidder),
        leader=_seat(auction.leader),
        bid=auction.bid if has_leader else None,
        minimum=view.minimum_bid,
    )


def _debt(debt: Debt) -> pb.Match.Debt:
    return pb.Match.Debt(
        debt=debt.debt,
        debtor=debt.debtor,
        reason=_DEBTS[debt.reason],
        amount=debt.amount,
        withheld=debt.withheld,
        creditors=share_messages(debt.creditors),
        due_ms=debt.due,
    )


def _offer(offer: Offer) -> pb.Match.Offer:
    return pb.Match.Offer(
        offer=offer.offer,
        proposer=offer.proposer,
        receiver=offer.receiver,
        give=side_message(offer.give),
        take=side_message(offer.take),
        due_ms=offer.due,
    )


def _legal(entry: Legal) -> legal_pb.LegalCommand:
    match entry:
        case Choice(command, cost):
            choice = legal_pb.LegalCommand.Choice(command=message_of(command), cost=cost)
            return legal_pb.LegalCommand(choice=choice)
        case JackpotBounds():
            bet = legal_pb.LegalCommand.JackpotBounds(
                cost=entry.cost, most=entry.most, faces=entry.faces
            )
            return legal_pb.LegalCommand(bet_jackpot=bet)
        case SeedBounds():
            seed = legal_pb.LegalCommand.SeedBounds(least=entry.least, most=entry.most)
            return legal_pb.LegalCommand(contribute_seed=seed)
        case TradeBounds():
            return legal_pb.LegalCommand(offer_trade=_trade(entry))


def _trade(bounds: TradeBounds) -> legal_pb.LegalCommand.TradeBounds:
    return legal_pb.LegalCommand.TradeBounds(
        squares=bounds.squares,
        cash=bounds.cash,
        partners=[_partner(partner) for partner in bounds.partners],
        fair_share_percent=bounds.fair_share_percent,
    )


def _partner(partner: TradePartner) -> legal_pb.LegalCommand.Partner:
    return legal_pb.LegalCommand.Partner(
        seat=partner.seat, squares=partner.squares, cash=partner.cash, is_ally=partner.is_ally
    )
