"""How the events of property and money are explained."""

import pytest

from libs.rules import events as e
from libs.rules.explain import explain
from libs.rules.match import Match
from libs.rules.pending import Offer
from tests.support.builders import CLASSIC_2
from tests.support.spec import given

EXPLAINED: list[tuple[e.Event, list[str]]] = [
    (
        e.PropertyOffered(1, 39, 4_000),
        ["TURN-4: seat 1 may buy the unowned square 39 (dark_blue 2) for 4,000"],
    ),
    (
        e.PropertyBought(1, 39, 4_000),
        ["TURN-4: seat 1 buys square 39 (dark_blue 2) at its list price of 4,000"],
    ),
    (
        e.PropertyDeclined(1, 39, forced=False),
        ["TURN-4: seat 1 declines square 39 (dark_blue 2), which is auctioned"],
    ),
    (
        e.PropertyDeclined(1, 39, forced=True),
        ["CLOCK-2: the clock declines square 39 (dark_blue 2) for seat 1"],
    ),
    (
        e.PropertyReleased(39, 1, "bankrupt"),
        ["BANK-2: the bankruptcy of seat 1 gives square 39 (dark_blue 2) back to the bank, bare"],
    ),
    (
        e.PropertyReleased(39, 1, "surrendered"),
        ["SURR-1: the surrender of seat 1 gives square 39 (dark_blue 2) back to the bank, bare"],
    ),
    (
        e.PropertyReleased(39, 1, "mortgage_expired"),
        [
            (
                "MORT-3: the expired mortgage of seat 1 gives square 39 (dark_blue 2) "
                "back to the bank, bare"
            ),
        ],
    ),
    (
        e.AuctionOpened(39, (2, 0, 1), 4_000),
        [
            (
                "AUC-1: square 39 (dark_blue 2) is auctioned from 4,000 up, asking "
                "seat 2, seat 0, seat 1"
            ),
        ],
    ),
    (e.BidPlaced(2, 4_100), ["AUC-1: seat 2 bids the minimum of 4,100"]),
    (e.BidPassed(2, forced=False), ["AUC-2: seat 2 passes for good"]),
    (e.BidPassed(2, forced=True), ["AUC-2: seat 2 is passed and does not come back"]),
    (e.BidVoided(2, 4_100), ["AUC-4: the leader seat 2 went out: its 4,100 are void"]),
    (
        e.AuctionClosed(39, 2, 4_100),
        ["AUC-3: seat 2 gets square 39 (dark_blue 2) for its bid of 4,100"],
    ),
    (
        e.AuctionClosed(39, -1, 0),
        ["AUC-3: nobody bid for square 39 (dark_blue 2), which stays unowned"],
    ),
    (e.CardDrawn(1, 1), ["DECK-1: seat 1 draws card 1: receive 1,000"]),
    (e.CardDrawn(1, 4), ["DECK-1: seat 1 draws card 4: go to the nearest station ahead"]),
    (e.CardDrawn(1, 13), ["DECK-1: seat 1 draws card 13: go back 3 squares"]),
    (e.CashReceived(1, 1_500, e.BANK, "card"), ["DECK-1: seat 1 receives 1,500 from the bank"]),
    (
        e.DebtOpened(
            1,
            1,
            "rent",
            40,
            39,
            9_900,
            ((0, 40),),
            "RENT-1",
            (("square", 1), ("level", 0), ("doubled", 1)),
        ),
        [
            "RENT-1: base rent 20 of square 1 (brown 1), doubled because the whole group is held",
            "TAX-1: withholds 99 % = 39",
            "DEBT-1: the match waits for seat 1 to pay 40 to seat 0",
        ],
    ),
    (
        e.DebtOpened(1, 1, "rent", 20, 0, 0, ((0, 20),), "RENT-1", (("square", 1), ("level", 0))),
        [
            "RENT-1: base rent 20 of square 1 (brown 1)",
            "DEBT-1: the match waits for seat 1 to pay 20 to seat 0",
        ],
    ),
    (
        e.DebtOpened(
            1, 1, "rent", 2_000, 4, 20, ((0, 2_000),), "RENT-1", (("square", 39), ("level", 1))
        ),
        [
            "RENT-1: rent 2,000 of square 39 (dark_blue 2) at level 1",
            "TAX-1: withholds 0.20 % = 4",
            "DEBT-1: the match waits for seat 1 to pay 2,000 to seat 0",
        ],
    ),
    (
        e.DebtOpened(
            1,
            1,
            "rent",
            53,
            26,
            5_049,
            ((0, 53),),
            "RENT-1",
            (("square", 1), ("level", 0), ("doubled", 1), ("card_bonus", 13)),
        ),
        [
            "RENT-1: base rent 20 of square 1 (brown 1), doubled because the whole group is held",
            "RENT-6: the owner's collection card adds 13",
            "TAX-1: withholds 50.49 % = 26",
            "DEBT-1: the match waits for seat 1 to pay 53 to seat 0",
        ],
    ),
    (
        e.DebtOpened(1, 1, "rent", 500, 0, 0, ((0, 500),), "RENT-2", (("square", 5), ("owned", 2))),
        [
            "RENT-2: rent 500 of square 5 (station 1), for 2 stations owned",
            "DEBT-1: the match waits for seat 1 to pay 500 to seat 0",
        ],
    ),
    (
        e.DebtOpened(
            1,
            1,
            "rent",
            280,
            0,
            0,
            ((0, 280),),
            "RENT-3",
            (("square", 12), ("dice", 7), ("factor", 40)),
        ),
        [
            "RENT-3: rent 280 of square 12 (utility 1), the dice total of 7 x 40",
            "DEBT-1: the match waits for seat 1 to pay 280 to seat 0",
        ],
    ),
    (
        e.DebtOpened(1, 1, "tax", 2_000, 0, 0, ((-1, 2_000),), "BOARD-2", (("square", 4),)),
        [
            "BOARD-2: the tax of square 4 (income tax) is 2,000",
            "DEBT-1: the match waits for seat 1 to pay 2,000 to the bank",
        ],
    ),
    (
        e.DebtOpened(1, 1, "card", 500, 0, 0, ((-1, 500),), "DECK-1", (("card", 3),)),
        ["DECK-1: card 3 costs 500", "DEBT-1: the match waits for seat 1 to pay 500 to the bank"],
    ),
    (
        e.DebtOpened(
            1, 1, "card", 2_500, 0, 0, ((-1, 2_500),), "DECK-1", (("card", 7), ("levels", 10))
        ),
        [
            "DECK-1: card 7 costs 2,500 for 10 levels",
            "DEBT-1: the match waits for seat 1 to pay 2,500 to the bank",
        ],
    ),
    (
        e.DebtOpened(1, 1, "card", 250, 0, 0, ((0, 250),), "DEBT-3", (("card", 6),)),
        ["DEBT-3: card 6 costs 250", "DEBT-1: the match waits for seat 1 to pay 250 to seat 0"],
    ),
    (
        e.DebtOpened(1, 1, "card", 500, 0, 0, ((2, 250), (0, 250)), "DEBT-4", (("card", 12),)),
        [
            "DEBT-4: card 12 costs 500",
            "DEBT-1: the match waits for seat 1 to pay 250 to seat 2, 250 to seat 0",
        ],
    ),
    (
        e.DebtOpened(1, 1, "bail", 500, 0, 0, ((-1, 500),), "JAIL-4", (("attempts", 3),)),
        [
            "JAIL-4: after 3 failed rolls the bail is 500",
            "DEBT-1: the match waits for seat 1 to pay 500 to the bank",
        ],
    ),
    (
        e.DebtPaid(1, 1, ((0, 1),), 19),
        ["DEBT-1: seat 1 pays 1 to seat 0", "TAX-1: the bank keeps 19"],
    ),
    (
        e.DebtPaid(1, 1, ((2, 250), (-1, 250)), 0),
        ["DEBT-1: seat 1 pays 250 to seat 2, 250 to the bank"],
    ),
    (e.CashCollected(1, 0, 250, 6), ["DEBT-3: card 6 moves 250 from seat 1 to seat 0"]),
    (
        e.LevelBuilt(1, 39, 3, 2_000),
        ["BUILD-1: seat 1 pays 2,000 for level 3 on square 39 (dark_blue 2)"],
    ),
    (
        e.LevelSold(1, 39, 2, 1_000),
        ["BUILD-3: seat 1 gets 1,000 for a level of square 39 (dark_blue 2), now at 2"],
    ),
    (
        e.PropertyMortgaged(1, 39, 2_000),
        ["MORT-1: seat 1 gets 2,000, half the list price, for square 39 (dark_blue 2)"],
    ),
    (
        e.PropertyRedeemed(1, 39, 2_200),
        ["MORT-2: seat 1 redeems square 39 (dark_blue 2) for 2,200, the half and 10 % of it"],
    ),
    (
        e.MortgageReminded(1, 5, 1),
        ["MORT-3: seat 1 has 1 round left to redeem square 5 (station 1)"],
    ),
    (e.JackpotOffered(1, 1_000), ["JACK-1: seat 1 may bet 1,000"]),
    (e.JackpotDeclined(1, 1_000), ["JACK-1: seat 1 keeps the stake of 1,000"]),
    (e.JackpotBetPlaced(1, (1, 4), 1_000), ["JACK-1: seat 1 bets 1,000 on 1, 4"]),
    (
        e.JackpotRolled(1, 4, 3_000, 12, 1),
        ["JACK-1: seat 1 rolls 4: a hit pays 3,000", "FAIR-1: drawn from block 12"],
    ),
    (
        e.JackpotRolled(1, 5, 0, 12, 2),
        ["JACK-1: seat 1 rolls 5: a miss loses the stake", "FAIR-1: drawn from blocks 12 to 13"],
    ),
    (
        e.TradeOffered(1, 0, 1, e.Side(0, (5,)), e.Side(400, (12,)), 60_000),
        [
            (
                "TRADE-1: offer 1: seat 0 gives square 5 (station 1) for 400, square "
                "12 (utility 1) of seat 1"
            ),
            "TRADE-2: the sides are worth 2,000 and 1,900",
        ],
    ),
    (
        e.TradeAccepted(1),
        [
            (
                "TRADE-3: offer 1 is accepted: seat 0 gives square 5 (station 1) for "
                "400, square 12 (utility 1) of seat 1"
            ),
        ],
    ),
    (e.TradeRejected(1), ["TRADE-1: offer 1 is rejected by its receiver"]),
    (e.TradeWithdrawn(1), ["TRADE-1: offer 1 is withdrawn by its proposer"]),
    (e.TradeClosed(1, "expired"), ["TRADE-1: offer 1 lapses at the end of its lifetime"]),
    (e.TradeClosed(1, "no_longer_holds"), ["TRADE-3: offer 1 no longer holds and moves nothing"]),
    (e.TradeClosed(1, "side_out"), ["SURR-1: offer 1 is closed because one of its sides is out"]),
    (
        e.SeatBankrupted(1, 999, ((0, 500),), 499),
        [
            "BANK-1: seat 1 cannot pay and is out",
            "BANK-2: its cash and the bank's price for all it had make 999, of which 500 to seat 0",
            "BANK-4: 499 of that rent are withheld",
        ],
    ),
    (
        e.SeatSurrendered(1, forced=False, proceeds=700, shares=((0, 500),), withheld=0),
        [
            "SURR-1: seat 1 surrenders and is out",
            "SURR-1: its cash and the bank's price for all it had make 700, of which 500 to seat 0",
        ],
    ),
    (
        e.SeatSurrendered(1, forced=True, proceeds=700, shares=(), withheld=0),
        [
            "CLOCK-3: seat 1 missed too many turns and is surrendered",
            "SURR-1: its cash and the bank's price for all it had make 700",
        ],
    ),
]


def situation() -> Match:
    """Return a match in which seat 0 has offered seat 1 station 5 for utility 12 and 400."""
    match = given(CLASSIC_2).match
    give, take = e.Side(0, (5,)), e.Side(400, (12,))
    match.offers.append(Offer(1, 0, 1, give, take, 60_000))
    return match


@pytest.mark.parametrize(("event", "clauses"), EXPLAINED)
def test_an_event_is_explained_by_its_rules_and_numbers(event: e.Event, clauses: list[str]) -> None:
    explanation = explain(situation(), event)

    assert explanation.text == "; ".join(clauses)
    assert explanation.rules == tuple(dict.fromkeys(clause.split(": ")[0] for clause in clauses))
