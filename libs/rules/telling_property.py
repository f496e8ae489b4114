"""What happened to property and money, rule by rule: buying, auctions, cards, debts, trades."""

from collections.abc import Callable
from typing import Any, Final

from libs.rules import cards
from libs.rules import events as e
from libs.rules.match import Match
from libs.rules.telling import (
    Clause,
    Clauses,
    blocks_named,
    listed,
    money,
    percent,
    plural,
    seat_name,
    shares_named,
    square_name,
)


def _property_offered(match: Match, event: e.PropertyOffered) -> Clauses:
    square, price = square_name(match, event.square), money(event.price)
    return [("TURN-4", f"{seat_name(event.seat)} may buy the unowned {square} for {price}")]


def _property_bought(match: Match, event: e.PropertyBought) -> Clauses:
    square, price = square_name(match, event.square), money(event.price)
    return [("TURN-4", f"{seat_name(event.seat)} buys {square} at its list price of {price}")]


def _property_declined(match: Match, event: e.PropertyDeclined) -> Clauses:
    square = square_name(match, event.square)
    if event.forced:
        return [("CLOCK-2", f"the clock declines {square} for {seat_name(event.seat)}")]
    return [("TURN-4", f"{seat_name(event.seat)} declines {square}, which is auctioned")]


_RELEASED_BY: Final = {
    "bankrupt": ("BANK-2", "the bankruptcy"),
    "surrendered": ("SURR-1", "the surrender"),
    "mortgage_expired": ("MORT-3", "the expired mortgage"),
}


def _property_released(match: Match, event: e.PropertyReleased) -> Clauses:
    rule, cause = _RELEASED_BY[event.why]
    square = square_name(match, event.square)
    return [(rule, f"{cause} of {seat_name(event.seat)} gives {square} back to the bank, bare")]


def _auction_opened(match: Match, event: e.AuctionOpened) -> Clauses:
    square, minimum = square_name(match, event.square), money(event.minimum)
    order = listed(seat_name(seat) for seat in event.order)
    return [("AUC-1", f"{square} is auctioned from {minimum} up, asking {order}")]


def _bid_placed(_: Match, event: e.BidPlaced) -> Clauses:
    return [("AUC-1", f"{seat_name(event.seat)} bids the minimum of {money(event.amount)}")]


def _bid_passed(_: Match, event: e.BidPassed) -> Clauses:
    if event.forced:
        return [("AUC-2", f"{seat_name(event.seat)} is passed and does not come back")]
    return [("AUC-2", f"{seat_name(event.seat)} passes for good")]


def _bid_voided(_: Match, event: e.BidVoided) -> Clauses:
    amount = money(event.amount)
    return [("AUC-4", f"the leader {seat_name(event.seat)} went out: its {amount} are void")]


def _auction_closed(match: Match, event: e.AuctionClosed) -> Clauses:
    square, amount = square_name(match, event.square), money(event.amount)
    if event.winner == e.NOBODY:
        return [("AUC-3", f"nobody bid for {square}, which stays unowned")]
    return [("AUC-3", f"{seat_name(event.winner)} gets {square} for its bid of {amount}")]


_CARD: Final = {
    cards.RECEIVE: "receive {}",
    cards.PAY: "pay {}",
    cards.GO_TO: "go to square {}",
    cards.NEAREST_STATION: "go to the nearest station ahead",
    cards.NEAREST_UTILITY: "go to the nearest utility ahead",
    cards.COLLECT_EACH: "collect {} from each other seat",
    cards.PAY_EACH: "pay {} to each other seat",
    cards.REPAIRS: "pay {} for each level built",
    cards.TO_JAIL: "go to jail",
    cards.BACK: "go back {} squares",
}

assert _CARD.keys() == {card.effect for card in cards.DECK}, "every card can be told"


def _card_drawn(_: Match, event: e.CardDrawn) -> Clauses:
    card = cards.DECK[event.card - 1]
    effect = _CARD[card.effect].format(money(card.amount))
    return [("DECK-1", f"{seat_name(event.seat)} draws card {event.card}: {effect}")]


def _cash_received(_: Match, event: e.CashReceived) -> Clauses:
    payer = seat_name(event.source)
    return [("DECK-1", f"{seat_name(event.seat)} receives {money(event.amount)} from {payer}")]


def _debt_opened(match: Match, event: e.DebtOpened) -> Clauses:
    if event.reason == "rent":
        return [*_rent(match, event), _pause(event)]
    inputs = dict(event.inputs)
    amount = money(event.amount)
    if event.reason == "tax":
        cause = f"the tax of {square_name(match, inputs['square'])} is {amount}"
    elif event.reason == "bail":
        cause = f"after {plural(inputs['attempts'], 'failed roll')} the bail is {amount}"
    elif "levels" in inputs:
        cause = f"card {inputs['card']} costs {amount} for {plural(inputs['levels'], 'level')}"
    else:
        cause = f"card {inputs['card']} costs {amount}"
    return [(event.rule, cause), _pause(event)]


def _pause(event: e.DebtOpened) -> Clause:
    owed = shares_named(event.creditors)
    return "DEBT-1", f"the match waits for {seat_name(event.debtor)} to pay {owed}"


def _rent(match: Match, event: e.DebtOpened) -> Clauses:
    inputs = dict(event.inputs)
    square = square_name(match, inputs["square"])
    bonus = inputs.get("card_bonus", 0)
    table = event.amount - bonus
    if event.rule == "RENT-2":
        basis = f"rent {money(table)} of {square}, for {plural(inputs['owned'], 'station')} owned"
    elif event.rule == "RENT-3":
        dice, factor = inputs["dice"], inputs["factor"]
        basis = f"rent {money(table)} of {square}, the dice total of {dice} x {factor}"
    elif "doubled" in inputs:
        base = money(table // 2)
        basis = f"base rent {base} of {square}, doubled because the whole group is held"
    elif inputs["level"]:
        basis = f"rent {money(table)} of {square} at level {inputs['level']}"
    else:
        basis = f"base rent {money(table)} of {square}"
    clauses = [(event.rule, basis)]
    if bonus:
        clauses.append(("RENT-6", f"the owner's collection card adds {money(bonus)}"))
    if event.tax_bp:
        share = percent(event.tax_bp)
        clauses.append(("TAX-1", f"withholds {share} = {money(event.withheld)}"))
    return clauses


def _debt_paid(_: Match, event: e.DebtPaid) -> Clauses:
    clauses = [("DEBT-1", f"{seat_name(event.debtor)} pays {shares_named(event.amounts)}")]
    if event.withheld:
        clauses.append(("TAX-1", f"the bank keeps {money(event.withheld)}"))
    return clauses


def _cash_collected(_: Match, event: e.CashCollected) -> Clauses:
    amount, payer = money(event.amount), seat_name(event.from_seat)
    return [
        ("DEBT-3", f"card {event.card} moves {amount} from {payer} to {seat_name(event.to_seat)}")
    ]


def _level_built(match: Match, event: e.LevelBuilt) -> Clauses:
    square, amount = square_name(match, event.square), money(event.amount)
    return [
        (
            "BUILD-1",
            f"{seat_name(event.seat)} pays {amount} for level {event.level} on {square}",
        )
    ]


def _level_sold(match: Match, event: e.LevelSold) -> Clauses:
    square, amount = square_name(match, event.square), money(event.amount)
    seat = seat_name(event.seat)
    return [("BUILD-3", f"{seat} gets {amount} for a level of {square}, now at {event.level}")]


def _property_mortgaged(match: Match, event: e.PropertyMortgaged) -> Clauses:
    square, amount = square_name(match, event.square), money(event.amount)
    return [("MORT-1", f"{seat_name(event.seat)} gets {amount}, half the list price, for {square}")]


def _property_redeemed(match: Match, event: e.PropertyRedeemed) -> Clauses:
    square, amount = square_name(match, event.square), money(event.amount)
    fee = match.rules.redeem_fee_percent
    return [
        (
            "MORT-2",
            f"{seat_name(event.seat)} redeems {square} for {amount}, the half and {fee} % of it",
        )
    ]


def _mortgage_reminded(match: Match, event: e.MortgageReminded) -> Clauses:
    square, left = square_name(match, event.square), plural(event.rounds_left, "round")
    return [("MORT-3", f"{seat_name(event.seat)} has {left} left to redeem {square}")]


def _jackpot_offered(_: Match, event: e.JackpotOffered) -> Clauses:
    return [("JACK-1", f"{seat_name(event.seat)} may bet {money(event.stake)}")]


def _jackpot_declined(_: Match, event: e.JackpotDeclined) -> Clauses:
    return [("JACK-1", f"{seat_name(event.seat)} keeps the stake of {money(event.stake)}")]


def _jackpot_bet_placed(_: Match, event: e.JackpotBetPlaced) -> Clauses:
    numbers = listed(str(number) for number in event.numbers)
    return [("JACK-1", f"{seat_name(event.seat)} bets {money(event.stake)} on {numbers}")]


def _jackpot_rolled(_: Match, event: e.JackpotRolled) -> Clauses:
    result = f"a hit pays {money(event.payout)}" if event.payout else "a miss loses the stake"
    return [
        ("JACK-1", f"{seat_name(event.seat)} rolls {event.die}: {result}"),
        ("FAIR-1", blocks_named(event.counter, event.blocks)),
    ]


def _trade_offered(match: Match, event: e.TradeOffered) -> Clauses:
    give, take = _side(match, event.give), _side(match, event.take)
    proposer, receiver = seat_name(event.proposer), seat_name(event.receiver)
    return [
        ("TRADE-1", f"offer {event.offer}: {proposer} gives {give} for {take} of {receiver}"),
        ("TRADE-2", f"the sides are worth {_worth(match, event)}"),
    ]


def _worth(match: Match, event: e.TradeOffered) -> str:
    worths = (
        side.cash + sum(match.board.price[square] for square in side.squares)
        for side in (event.give, event.take)
    )
    return " and ".join(money(worth) for worth in worths)


def _side(match: Match, side: e.Side) -> str:
    cash = [money(side.cash)] if side.cash else []
    return listed([*cash, *(square_name(match, square) for square in side.squares)])


def _trade_accepted(match: Match, event: e.TradeAccepted) -> Clauses:
    offer = match.offer(event.offer)
    if offer is None:
        return [("TRADE-3", f"offer {event.offer} is accepted")]
    give, take = _side(match, offer.give), _side(match, offer.take)
    proposer, receiver = seat_name(offer.proposer), seat_name(offer.receiver)
    return [
        (
            "TRADE-3",
            f"offer {event.offer} is accepted: {proposer} gives {give} for {take} of {receiver}",
        )
    ]


def _trade_rejected(_: Match, event: e.TradeRejected) -> Clauses:
    return [("TRADE-1", f"offer {event.offer} is rejected by its receiver")]


def _trade_withdrawn(_: Match, event: e.TradeWithdrawn) -> Clauses:
    return [("TRADE-1", f"offer {event.offer} is withdrawn by its proposer")]


_CLOSED_BY: Final = {
    "expired": ("TRADE-1", "lapses at the end of its lifetime"),
    "no_longer_holds": ("TRADE-3", "no longer holds and moves nothing"),
    "side_out": ("SURR-1", "is closed because one of its sides is out"),
}


def _trade_closed(_: Match, event: e.TradeClosed) -> Clauses:
    rule, cause = _CLOSED_BY[event.why]
    return [(rule, f"offer {event.offer} {cause}")]


def _seat_bankrupted(_: Match, event: e.SeatBankrupted) -> Clauses:
    cause = f"{seat_name(event.seat)} cannot pay and is out"
    return [("BANK-1", cause), *_shared_out("BANK-2", event)]


def _seat_surrendered(_: Match, event: e.SeatSurrendered) -> Clauses:
    cause = (
        ("CLOCK-3", f"{seat_name(event.seat)} missed too many turns and is surrendered")
        if event.forced
        else ("SURR-1", f"{seat_name(event.seat)} surrenders and is out")
    )
    return [cause, *_shared_out("SURR-1", event)]


def _shared_out(rule: str, event: e.SeatBankrupted | e.SeatSurrendered) -> Clauses:
    paid = f", of which {shares_named(event.shares)}" if event.shares else ""
    clauses = [
        (rule, f"its cash and the bank's price for all it had make {money(event.proceeds)}{paid}")
    ]
    if event.withheld:
        clauses.append(("BANK-4", f"{money(event.withheld)} of that rent are withheld"))
    return clauses


PROPERTY: Final[dict[type, Callable[[Match, Any], Clauses]]] = {
    e.PropertyOffered: _property_offered,
    e.PropertyBought: _property_bought,
    e.PropertyDeclined: _property_declined,
    e.PropertyReleased: _property_released,
    e.AuctionOpened: _auction_opened,
    e.BidPlaced: _bid_placed,
    e.BidPassed: _bid_passed,
    e.BidVoided: _bid_voided,
    e.AuctionClosed: _auction_closed,
    e.CardDrawn: _card_drawn,
    e.CashReceived: _cash_received,
    e.DebtOpened: _debt_opened,
    e.DebtPaid: _debt_paid,
    e.CashCollected: _cash_collected,
    e.LevelBuilt: _level_built,
    e.LevelSold: _level_sold,
    e.PropertyMortgaged: _property_mortgaged,
    e.PropertyRedeemed: _property_redeemed,
    e.MortgageReminded: _mortgage_reminded,
    e.JackpotOffered: _jackpot_offered,
    e.JackpotDeclined: _jackpot_declined,
    e.JackpotBetPlaced: _jackpot_bet_placed,
    e.JackpotRolled: _jackpot_rolled,
    e.TradeOffered: _trade_offered,
    e.TradeAccepted: _trade_accepted,
    e.TradeRejected: _trade_rejected,
    e.TradeWithdrawn: _trade_withdrawn,
    e.TradeClosed: _trade_closed,
    e.SeatBankrupted: _seat_bankrupted,
    e.SeatSurrendered: _seat_surrendered,
}
"""How each event of property and money is told; the rest is told in `telling_turns`."""
