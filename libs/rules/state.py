"""The state of a match as people and files read it: the form that scenario files compare with."""

from typing import Any, Final

from libs.rules import events as e
from libs.rules.auctions import minimum_bid
from libs.rules.clocks import decision_deadlines
from libs.rules.match import Match
from libs.rules.pending import Auction, Debt, Offer
from libs.rules.rule_sets import team_of

THIRD_FACES: Final = (None, 1, 2, 3, "bus", "x")
"""What the faces of the third die are called, by their number; None where it was not rolled."""

MS_PER_S: Final = 1_000


def describe(match: Match, at_ms: int) -> dict[str, Any]:
    """Return the whole public state at *at_ms*, ready for JSON; a frozen match's clocks stand.

    Between the events of one record the next decision is not asked yet: the deadline is that of the
    decision that the record answers, and a debt without a deadline of its own has None for it.
    """
    now = min(at_ms, match.frozen_at) if match.frozen_at >= 0 else at_ms
    return {
        "rule_set": match.rules.rule_set_id,
        "round": match.round,
        "turn": _seat(match.turn),
        "phase": match.phase,
        "roll": _roll(match),
        "doubles_in_turn": match.doubles,
        "jump_pending": match.jump_pending,
        "seats": [_describe_seat(match, seat) for seat in range(len(match.specs))],
        "properties": {
            str(square): _describe_property(match, square) for square in match.board.properties
        },
        "next_card": match.next_card,
        "last_card": match.last_card or None,
        "auction": _describe_auction(match, match.auction) if match.auction else None,
        "debts": [_describe_debt(debt, now) for debt in match.debts],
        "offers": [_describe_offer(offer, now) for offer in match.offers],
        "deadline": _describe_deadline(match, now),
        "winners": list(match.winners),
        "placing": list(match.placing),
    }


def seconds(duration_ms: int) -> int | float:
    """Return milliseconds as seconds, whole where they are."""
    return duration_ms / MS_PER_S if duration_ms % MS_PER_S else duration_ms // MS_PER_S


def _left(due: int, now: int) -> int | float:
    """Return the seconds until *due*, none where a deadline has passed and not fired yet."""
    return seconds(max(0, due - now))


def _seat(seat: int) -> int | None:
    return None if seat == e.NOBODY else seat


def _roll(match: Match) -> list[int | str | None] | None:
    if not match.white_1:
        return None
    return [match.white_1, match.white_2, THIRD_FACES[match.third]]


def _describe_seat(match: Match, seat: int) -> dict[str, Any]:
    return {
        "cash": match.cash[seat],
        "square": match.square[seat],
        "in_jail": match.in_jail[seat],
        "jail_attempts": match.jail_attempts[seat],
        "out": match.out[seat],
        "missed_turns": match.missed_turns[seat],
        "net_worth": match.net_worth(seat),
        "team": team_of(seat) if match.rules.teams else None,
    }


def _describe_property(match: Match, square: int) -> dict[str, Any]:
    mortgaged_round = match.mortgaged_round[square]
    return {
        "owner": _seat(match.owner[square]),
        "level": match.level[square],
        "mortgaged": mortgaged_round > 0,
        "mortgaged_round": mortgaged_round or None,
        "built_this_turn": match.built[square],
    }


def _describe_auction(match: Match, auction: Auction) -> dict[str, Any]:
    has_leader = auction.leader != e.NOBODY
    return {
        "square": auction.square,
        "bidder": _seat(auction.bidder),
        "leader": _seat(auction.leader),
        "bid": auction.bid if has_leader else None,
        "minimum": minimum_bid(match, auction),
        "passed": [seat for seat in match.living_seats() if auction.passed[seat]],
    }


def _describe_debt(debt: Debt, now: int) -> dict[str, Any]:
    return {
        "debtor": debt.debtor,
        "reason": debt.reason,
        "amount": debt.amount,
        "withheld": debt.withheld,
        "creditors": [
            {"seat": "bank" if creditor == e.BANK else creditor, "amount": amount}
            for creditor, amount in debt.creditors
        ],
        "in_s": _left(debt.due, now) if debt.number else None,
    }


def _describe_offer(offer: Offer, now: int) -> dict[str, Any]:
    return {
        "id": offer.offer,
        "from": offer.proposer,
        "to": offer.receiver,
        "give": _describe_side(offer.give),
        "take": _describe_side(offer.take),
        "expires_in_s": _left(offer.due, now),
    }


def _describe_side(side: e.Side) -> dict[str, Any]:
    return {"cash": side.cash, "squares": list(side.squares)}


def _describe_deadline(match: Match, now: int) -> dict[str, Any] | None:
    deadline = min(decision_deadlines(match), key=lambda deadline: deadline.due, default=None)
    if deadline is None:
        return None
    return {"kind": deadline.kind, "in_s": _left(deadline.due, now)}
