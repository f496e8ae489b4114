"""Bankruptcy (BANK-1 to BANK-4)."""

import pytest

from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules import phases
from libs.rules.leaving import divide
from libs.rules.pending import Debt
from tests.support.builders import CLASSIC_2, RULE_SETS
from tests.support.spec import Table, every, given, kinds, only


def owing(level: int = 1, seats: int = 3, rules: str = CLASSIC_2) -> Table:
    """Return a table at which seat 0 will owe seat 1 2,000 (level 1) or more for its roll."""
    table = given(rules, max(seats, 4) if rules == "opolyx.teams@2" else seats)
    table.standing({0: 36}).owned(1, 37, 39).levels({37: level, 39: level}).dice((1, 2))
    return table


def debt(amounts: dict[int, int], tax_bp: int = 0) -> Debt:
    """Return a debt to several creditors."""
    return Debt(1, 0, "card", sum(amounts.values()), 0, tax_bp, tuple(amounts.items()))


@pytest.mark.parametrize("rules", RULE_SETS)
def test_bankruptcy_is_accepted_when_everything_falls_short(rules: str) -> None:
    """BANK-1."""
    table = owing(rules=rules).cash({0: 999}).owned(0, 5)
    table.when(c.Roll(0))

    events = table.when(c.DeclareBankruptcy(0))

    assert events[0] == e.SeatBankrupted(0, 1_999, ((1, 1_999),), 0)


def test_bankruptcy_is_refused_when_everything_just_covers_the_debt() -> None:
    """BANK-1."""
    table = owing().cash({0: 1_000}).owned(0, 5)
    table.when(c.Roll(0))

    refused = table.refused(c.DeclareBankruptcy(0))

    assert (refused.reason, refused.rule) == (Reason.CAN_STILL_PAY, "BANK-1")
    assert refused.facts == {"debt": 2_000, "could_raise": 2_000}


def test_levels_count_at_half_their_cost_and_mortgages_at_nothing() -> None:
    """BANK-1, BANK-2."""
    table = owing().cash({0: 0}).group(0, "brown").levels({1: 1, 3: 1}).owned(0, 5, 11)
    table.mortgaged(11).when(c.Roll(0))

    refused = owing().cash({0: 0}).group(0, "green")
    refused.when(c.Roll(0))

    assert table.match.sale_value(0) == 2 * 250 + 2 * 300 + 1_000
    assert refused.refused(c.DeclareBankruptcy(0)).facts["could_raise"] == 4_600
    assert table.refused(c.DeclareBankruptcy(0)).facts["could_raise"] == 2_100


def test_open_offers_count_for_nothing() -> None:
    """BANK-1."""
    table = owing().cash({0: 0}).owned(0, 12)
    table.when(c.Roll(0), c.OfferTrade(0, 2, e.Side(0, (12,)), e.Side(2_500)))

    assert every(table.when(c.DeclareBankruptcy(0)), e.SeatBankrupted)


def test_nobody_goes_bankrupt_without_a_debt() -> None:
    """BANK-1."""
    assert given().refused(c.DeclareBankruptcy(0)).reason is Reason.WRONG_PHASE


def test_nobody_goes_bankrupt_on_anothers_debt() -> None:
    """BANK-1."""
    table = owing()
    table.when(c.Roll(0))

    assert table.refused(c.DeclareBankruptcy(1)).reason is Reason.NOT_YOUR_DEBT


def test_everything_goes_to_the_bank_unowned_unbuilt_and_unmortgaged() -> None:
    """BANK-2."""
    table = owing(level=5).cash({0: 0}).group(0, "brown").levels({1: 1, 3: 1}).owned(0, 5, 11)
    table.mortgaged(11).when(c.Roll(0))

    events = table.when(c.DeclareBankruptcy(0))

    assert every(events, e.PropertyReleased) == [
        e.PropertyReleased(square, 0, "bankrupt") for square in (1, 3, 5, 11)
    ]
    assert 0 not in table.match.owner
    assert table.match.level[1] == table.match.mortgaged_round[11] == 0
    assert only(events, e.SeatBankrupted).proceeds == 2_100
    assert table.match.cash[:2] == [0, 15_000 + 2_100]


def test_a_bankrupt_seat_is_out() -> None:
    """BANK-2."""
    table = owing().cash({0: 0})
    table.when(c.Roll(0), c.DeclareBankruptcy(0))

    assert table.match.out == [True, False, False]
    assert table.match.turn == 1
    assert table.refused(c.Roll(0)).reason is Reason.SEAT_IS_OUT


def test_a_bankruptcy_ends_the_turn_without_the_roll_for_doubles() -> None:
    """BANK-2, TURN-2."""
    table = given().standing({0: 35}).owned(1, 37).cash({0: 0}).dice((1, 1))
    table.when(c.Roll(0))

    events = table.when(c.DeclareBankruptcy(0))

    assert kinds(events) == [e.SeatBankrupted, e.TurnEnded, e.TurnStarted, e.DeadlineSet]


def test_a_debtor_out_of_turn_may_go_bankrupt() -> None:
    """BANK-2, DEBT-3."""
    table = given().standing({0: 4}).card(6).dice((1, 2)).cash({1: 100})
    table.when(c.Roll(0))

    events = table.when(c.DeclareBankruptcy(1))

    assert events[0] == e.SeatBankrupted(1, 100, ((0, 100),), 0)
    assert table.match.cash[0] == 15_350


@pytest.mark.parametrize(
    ("amounts", "proceeds", "shares"),
    [
        ({1: 250, 2: 250, 3: 250}, 100, ((1, 34), (2, 33), (3, 33))),
        ({1: 250, 2: 250, 3: 250}, 101, ((1, 34), (2, 34), (3, 33))),
        ({3: 250, 1: 250, 2: 250}, 100, ((3, 33), (1, 34), (2, 33))),
        ({1: 100, 2: 300}, 101, ((1, 25), (2, 76))),
        ({1: 100, 2: 300}, 99, ((1, 25), (2, 74))),
        ({e.BANK: 250, 1: 250, 2: 250}, 100, ((e.BANK, 33), (1, 34), (2, 33))),
        ({e.BANK: 250, 1: 250, 2: 250}, 101, ((e.BANK, 33), (1, 34), (2, 34))),
        ({1: 250, 2: 250}, 0, ((1, 0), (2, 0))),
        ({1: 250, 2: 250}, 500, ((1, 250), (2, 250))),
        ({1: 250, 2: 250}, 900, ((1, 250), (2, 250))),
    ],
    ids=[
        "one left over",
        "two left over",
        "lower seat, whatever the order",
        "largest remainder",
        "largest remainder, the other",
        "the bank last",
        "the bank last of two",
        "nothing",
        "all",
        "never more than is owed",
    ],
)
def test_creditors_are_paid_in_proportion(
    amounts: dict[int, int], proceeds: int, shares: tuple[e.Share, ...]
) -> None:
    """BANK-2."""
    assert divide(debt(amounts), proceeds) == (shares, 0)


def test_each_share_of_the_bank_is_one_by_itself() -> None:
    """BANK-2, BANK-3."""
    owed = Debt(1, 0, "card", 750, 0, 0, ((e.BANK, 250), (2, 250), (e.BANK, 250)))

    assert divide(owed, 101) == (((e.BANK, 34), (2, 34), (e.BANK, 33)), 0)


def test_the_shares_add_up_to_what_there_was() -> None:
    """BANK-2."""
    for proceeds in range(751):
        shares, withheld = divide(debt({1: 250, 2: 250, 3: 250}), proceeds)

        assert sum(share for _, share in shares) + withheld == proceeds


def test_the_creditors_of_card_12_share_a_bankruptcy() -> None:
    """BANK-2, DEBT-4."""
    table = given(seats=4).standing({0: 4}).card(12).dice((1, 2)).cash({0: 100}).owned(0, 1)
    table.when(c.Roll(0))

    events = table.when(c.DeclareBankruptcy(0))

    assert only(events, e.SeatBankrupted) == e.SeatBankrupted(
        0, 400, ((1, 134), (2, 133), (3, 133)), 0
    )
    assert table.match.cash == [0, 15_134, 15_133, 15_133]


def test_the_share_of_a_creditor_who_left_goes_to_the_bank() -> None:
    """BANK-3."""
    table = given(seats=4).standing({0: 4}).card(12).dice((1, 2)).cash({0: 100})
    table.when(c.Roll(0), c.Surrender(1))

    events = table.when(c.DeclareBankruptcy(0))

    assert only(events, e.SeatBankrupted).shares == ((e.BANK, 33), (2, 34), (3, 33))


def test_a_rent_paid_through_bankruptcy_is_taxed_on_what_was_paid() -> None:
    """BANK-4."""
    table = owing().round(150).cash({0: 999})
    table.when(c.Roll(0))

    events = table.when(c.DeclareBankruptcy(0))

    assert only(events, e.SeatBankrupted) == e.SeatBankrupted(0, 999, ((1, 500),), 499)
    assert table.match.cash[1] == 15_500


def test_a_time_out_that_falls_short_is_taxed_too() -> None:
    """BANK-4, DEBT-2."""
    table = owing().round(200).cash({0: 100})
    table.when(c.Roll(0))

    assert only(table.time_out(), e.SeatBankrupted) == e.SeatBankrupted(0, 100, ((1, 1),), 99)


def test_open_offers_of_a_bankrupt_are_closed_in_order() -> None:
    """BANK-2, SURR-1."""
    table = owing(seats=4).cash({0: 0}).owned(0, 12).owned(2, 5)
    table.turn(2).when(c.OfferTrade(2, 0, e.Side(0, (5,)), e.Side(0, (12,))))
    table.when(c.OfferTrade(2, 3, e.Side(0, (5,)), e.Side(2_000)))
    table.turn(0).when(c.Roll(0), c.OfferTrade(0, 2, e.Side(0, (12,)), e.Side(1_500)))

    events = table.when(c.DeclareBankruptcy(0))

    assert every(events, e.TradeClosed) == [
        e.TradeClosed(1, "side_out"),
        e.TradeClosed(3, "side_out"),
    ]
    assert [offer.offer for offer in table.match.offers] == [2]


def test_a_bankruptcy_that_leaves_one_seat_ends_the_match() -> None:
    """END-1."""
    table = owing(seats=2).cash({0: 0})
    table.when(c.Roll(0))

    events = table.when(c.DeclareBankruptcy(0))

    assert kinds(events) == [e.SeatBankrupted, e.MatchEnded, e.SeedRevealed]
    assert table.match.phase == phases.ENDED
