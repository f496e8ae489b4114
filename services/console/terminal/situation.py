"""What is pending in a match, in a few sentences for one of its seats."""

from collections.abc import Iterator
from typing import Final

from libs.rules import phases
from libs.rules.auctions import minimum_bid
from libs.rules.clocks import decision_deadlines
from libs.rules.events import BANK, NOBODY, DeadlineSet
from libs.rules.match import Match
from libs.rules.pending import Offer
from services.console.naming import enumerate_words
from services.console.narrating import side_told, where
from services.console.terminal.people import People

MS_PER_S: Final = 1000

TASKS: Final = {
    phases.SEEDING: "to add to the chance",
    phases.ROLL: "to roll",
    phases.BUY: "to buy or decline",
    phases.AUCTION: "to bid or pass",
    phases.DEBT: "to pay",
    phases.BAIL: "to pay bail or stay",
    phases.BUS: "to choose the bus's way",
    phases.TELEPORT: "to choose a square",
    phases.JACKPOT: "to bet or keep",
}


def pending(match: Match, seat: int, people: People, now_ms: int) -> str:
    """Return who has to decide what, and how long they have; *seat* is ``you``."""
    if match.phase == phases.ENDED:
        return "The match is over."
    if match.frozen_at >= 0:
        return "The match is frozen: an operator has stopped its clocks."
    deadline = deadline_for(match, seat)
    if deadline is None:
        return "The match is being set up."
    left = max(0, deadline.due - now_ms) // MS_PER_S
    what = TASKS[deadline.kind]
    if deadline.kind == phases.SEEDING:
        return f"It starts within {left} s."
    if deadline.seat == seat:
        return f"You have {left} s {what}."
    return f"{people.names[deadline.seat]} has {left} s {what}."


def clock(match: Match, seat: int, people: People, now_ms: int) -> str:
    """Return how long whoever has to decide still has, such as ``[12 s] ``; nothing at the end."""
    deadline = None if match.phase == phases.ENDED else deadline_for(match, seat)
    if deadline is None:
        return ""
    left = f"{max(0, deadline.due - now_ms) // MS_PER_S} s"
    is_for_all = deadline.seat in (seat, NOBODY)
    return f"[{left}] " if is_for_all else f"[{people.names[deadline.seat]} {left}] "


def deadline_for(match: Match, seat: int) -> DeadlineSet | None:
    """Return the deadline that concerns a seat most: its own, else the next of anybody."""
    open_ones = [] if match.frozen_at >= 0 else decision_deadlines(match)
    own = [deadline for deadline in open_ones if deadline.seat == seat]
    return min(own or open_ones, key=lambda deadline: deadline.due, default=None)


def details(match: Match, seat: int, people: People) -> Iterator[str]:
    """Go through what somebody in *seat* has to know to decide; nothing where it is but to roll."""
    if match.auction is not None:
        yield _auction(match, people)
    for debt in match.debts:
        if debt.debtor == seat:
            yield _debt(match, seat, people)
    if match.turn == seat:
        yield from _turn(match, seat)
    yield from (offer_told(offer, match, people) for offer in match.offers)


def offer_told(offer: Offer, match: Match, people: People) -> str:
    """Return a trade offer as a sentence."""
    proposer, receiver = people.names[offer.proposer], people.names[offer.receiver]
    give, take = side_told(offer.give, match.board), side_told(offer.take, match.board)
    return f"Offer {offer.offer}: {proposer} gives {receiver} {give} for {take}."


def _auction(match: Match, people: People) -> str:
    auction = match.auction
    assert auction is not None
    leads = "no bid yet"
    if auction.leader != NOBODY:
        leads = f"{people.names[auction.leader]} leads with {auction.bid:,}"
    living = match.living_seats()
    others = [people.names[n] for n in auction.order if n in living and not auction.passed[n]]
    minimum = minimum_bid(match, auction)
    place = where(match.board, auction.square)
    return f"Auction of {place}: {leads}, next bid {minimum:,}; in it: {', '.join(others)}."


def _debt(match: Match, seat: int, people: People) -> str:
    debt = match.debt_of(seat)
    assert debt is not None
    whom = enumerate_words(
        ["the bank" if other == BANK else people.names[other] for other, _ in debt.creditors]
    )
    owed = f"You owe {whom} {debt.amount:,} ({debt.reason.replace('_', ' ')})"
    cash = match.cash[seat]
    if cash >= debt.amount:
        return f"{owed} and have {cash:,}."
    more = match.sale_value(seat)
    return f"{owed} and have {cash:,}; selling and mortgaging bring up to {more:,}."


def _turn(match: Match, seat: int) -> Iterator[str]:
    square = match.square[seat]
    rules = match.rules
    if match.phase == phases.BUY:
        rents = match.board.rents[square]
        told = f"rent {rents[0]:,} to {rents[-1]:,}"
        if match.board.kind[square] == "utility":
            told = f"rent {rents[0]} to {rents[-1]} times the dice"
        yield f"For sale: {where(match.board, square)} at {match.board.price[square]:,}, {told}."
    elif match.phase == phases.JACKPOT:
        yield f"The jackpot: {rules.jackpot_stake:,} on one to three numbers of a die."
    elif match.in_jail[seat]:
        tries = f"{match.jail_attempts[seat]} of {rules.jail_attempts} tries failed"
        yield f"You are in jail: {tries}, bail {rules.bail:,}."
