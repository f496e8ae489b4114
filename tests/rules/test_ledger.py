"""Cash moves in the named events and in no others (write protocol, I9)."""

from libs.rules import commands as c
from libs.rules import events as e
from libs.rules.ledger import CASH_EVENTS, Transfer, transfers
from tests.support.spec import given, only

NAMED = """
MatchStarted SalaryPaid LandingBonusPaid PropertyBought AuctionClosed CashReceived DebtPaid
CashCollected LevelBuilt LevelSold PropertyMortgaged PropertyRedeemed BailPaid JackpotBetPlaced
JackpotRolled TradeAccepted SeatBankrupted SeatSurrendered
""".split()


def test_the_table_holds_the_named_events_and_no_others() -> None:
    assert [kind.__name__ for kind in CASH_EVENTS] == NAMED


def test_an_event_that_moves_no_cash_has_no_transfers() -> None:
    assert transfers(given().match, e.TurnEnded(0)) == []


def test_amounts_of_nothing_are_left_out() -> None:
    assert transfers(given().match, e.JackpotRolled(0, 4, 0, 1, 1)) == []


def test_a_taxed_rent_goes_to_its_owner_and_to_the_bank() -> None:
    """TAX-1."""
    table = given().round(150).owned(1, 39).standing({0: 36}).dice((1, 2))
    table.when(c.Roll(0))
    before = table.match.copy()

    paid = only(table.when(c.Pay(0)), e.DebtPaid)

    assert transfers(before, paid) == [Transfer(0, 1, 250), Transfer(0, e.BANK, 250)]


def test_a_trade_moves_the_cash_of_the_offer() -> None:
    """TRADE-1."""
    table = given().owned(0, 5).owned(1, 12)
    table.when(c.OfferTrade(0, 1, e.Side(0, (5,)), e.Side(400, (12,))))
    before = table.match.copy()

    accepted = only(table.when(c.AcceptTrade(1, 1)), e.TradeAccepted)

    assert transfers(before, accepted) == [Transfer(1, 0, 400)]


def test_a_surrender_without_a_debt_takes_its_cash_out_of_the_match() -> None:
    """SURR-1."""
    table = given().owned(0, 5)
    before = table.match.copy()

    surrendered = only(table.when(c.Surrender(0)), e.SeatSurrendered)

    assert transfers(before, surrendered) == [
        Transfer(e.BANK, 0, 1_000),
        Transfer(0, e.BANK, 16_000),
    ]
