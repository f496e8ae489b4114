"""The order in which the reasons to refuse a command are looked for.

Each ladder begins with a command that is wrong in every way at once; from rung to rung the first of
its faults is mended. What mends it is a hand-made state where play could not lead to it.
"""

from collections.abc import Callable, Iterator

import pytest

from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules.match import Match
from tests.support.builders import (
    BUS,
    CLASSIC_1,
    CLASSIC_2,
    SPEED_2,
    ScriptedDraws,
    created,
    mortgage,
    people,
)
from tests.support.spec import Table, given

Rung = tuple[Table, c.Command, Reason]
SIDE = e.Side(0, (20, 20))

SEATED: list[Callable[[int], c.SeatCommand]] = [
    c.Roll,
    c.Buy,
    c.Decline,
    c.Bid,
    c.Pass,
    lambda seat: c.Build(seat, 20),
    lambda seat: c.SellLevel(seat, 20),
    lambda seat: c.Mortgage(seat, 20),
    lambda seat: c.Redeem(seat, 20),
    c.Pay,
    c.DeclareBankruptcy,
    c.PayBail,
    c.StayInJail,
    lambda seat: c.ChooseBusMove(seat, 99),
    lambda seat: c.ChooseTeleport(seat, 99),
    lambda seat: c.BetJackpot(seat, ()),
    c.DeclineJackpot,
    lambda seat: c.OfferTrade(seat, 0, SIDE, SIDE),
    lambda seat: c.AcceptTrade(seat, 9),
    lambda seat: c.RejectTrade(seat, 9),
    lambda seat: c.WithdrawTrade(seat, 9),
    c.Surrender,
    lambda seat: c.ContributeSeed(seat, bytes(99)),
]
"""Every command of a seat, as wrong as it can be."""


def name(command: Callable[[int], c.SeatCommand]) -> str:
    return type(command(0)).__name__


def unborn() -> Table:
    return Table(Match(), ScriptedDraws())


def seeding() -> Table:
    draws = ScriptedDraws()
    return Table(created(CLASSIC_2, people(3), draws), draws)


def ended() -> Table:
    """Return a match that seat 0 has lost."""
    table = given(seats=2)
    table.when(c.Surrender(0))
    return table


def frozen() -> Table:
    """Return a frozen match in which seat 1 is out."""
    table = given()
    table.when(c.Surrender(1), c.Freeze("a report", "operator:1"))
    return table


@pytest.mark.parametrize("command", SEATED, ids=name)
def test_the_match_comes_before_the_seat_and_the_seat_before_the_rules(
    command: Callable[[int], c.SeatCommand],
) -> None:
    assert unborn().refused(command(9)).reason is Reason.MATCH_NOT_FOUND
    for table in (seeding(), ended(), frozen(), given()):
        for seat in (-1, 9):
            assert table.refused(command(seat)).reason is Reason.NOT_SEATED
    assert ended().refused(command(0)).reason is Reason.MATCH_ENDED
    assert frozen().refused(command(1)).reason is Reason.MATCH_FROZEN
    assert given().gone(1).refused(command(1)).reason is Reason.SEAT_IS_OUT


@pytest.mark.parametrize("seat", [0, 1, 9])
def test_an_offer_that_no_match_could_have_is_refused_before_all_else(seat: int) -> None:
    for table in (seeding(), ended(), frozen(), given().gone(1)):
        for offer in (
            c.OfferTrade(seat, 9, SIDE, SIDE),
            c.OfferTrade(seat, 0, e.Side(-1), SIDE),
        ):
            assert table.refused(offer).reason is Reason.INVALID_REQUEST


@pytest.mark.parametrize("command", SEATED[:-1], ids=name)
def test_nothing_but_a_seed_is_taken_before_the_start(
    command: Callable[[int], c.SeatCommand],
) -> None:
    assert seeding().refused(command(0)).reason is Reason.MATCH_NOT_STARTED


def roll() -> Iterator[Rung]:
    table = given().standing({0: 36}).dice((1, 2))
    table.when(c.Roll(0))
    yield table, c.Roll(1), Reason.NOT_YOUR_TURN
    yield table, c.Roll(0), Reason.WRONG_PHASE


def buy() -> Iterator[Rung]:
    table = given().standing({0: 36}).cash({0: 0}).dice((1, 2))
    yield table, c.Buy(1), Reason.NOT_YOUR_TURN
    yield table, c.Buy(0), Reason.WRONG_PHASE
    table.when(c.Roll(0))
    yield table, c.Buy(0), Reason.NOT_ENOUGH_CASH


def answers() -> Iterator[Rung]:
    table = given()
    for command in (c.Decline, c.StayInJail, c.DeclineJackpot):
        yield table, command(1), Reason.NOT_YOUR_TURN
        yield table, command(0), Reason.WRONG_PHASE


def bid() -> Iterator[Rung]:
    table = given().standing({0: 36}).dice((1, 2))
    for command in (c.Bid, c.Pass):
        yield table, command(1), Reason.WRONG_PHASE
    table.when(c.Roll(0), c.Decline(0))
    table.cash({1: 0, 2: 0})
    for command in (c.Bid, c.Pass):
        yield table, command(2), Reason.NOT_YOUR_BID
    yield table, c.Bid(1), Reason.NOT_ENOUGH_CASH


def at_the_wrong_time(command: Callable[[int, int], c.SeatCommand]) -> Iterator[Rung]:
    auction = given().standing({0: 36}).dice((1, 2))
    auction.when(c.Roll(0), c.Decline(0))
    for seat in (0, 1):
        yield auction, command(seat, 20), Reason.AUCTION_RUNNING
    yield given(), command(1, 20), Reason.NOT_MANAGING_TIME


def build() -> Iterator[Rung]:
    yield from at_the_wrong_time(c.Build)
    table = given().owned(0, 6).owned(1, 5).cash({0: 0}).levels({6: 5}).mortgaged(6)
    table.match.built[6] = 1
    table.match.built_any = True
    yield table, c.Build(0, 20), Reason.NOT_A_PROPERTY
    yield table, c.Build(0, 5), Reason.NOT_A_STREET
    yield table, c.Build(0, 8), Reason.NOT_OWNER
    yield table, c.Build(0, 6), Reason.GROUP_INCOMPLETE
    table.owned(0, 8, 9)
    yield table, c.Build(0, 6), Reason.GROUP_MORTGAGED
    mortgage(table.match, [6], 0)
    yield table, c.Build(0, 6), Reason.UNEVEN_BUILDING
    table.levels({8: 5, 9: 5})
    yield table, c.Build(0, 6), Reason.LEVEL_LIMIT
    table.levels({6: 4, 8: 4, 9: 4})
    yield table, c.Build(0, 6), Reason.TURN_LEVEL_LIMIT
    yield table, c.Build(0, 8), Reason.NOT_ENOUGH_CASH


def sell_level() -> Iterator[Rung]:
    yield from at_the_wrong_time(c.SellLevel)
    table = given().group(0, "light_blue").owned(1, 5, 11).levels({6: 1})
    yield table, c.SellLevel(0, 20), Reason.NOT_A_PROPERTY
    yield table, c.SellLevel(0, 5), Reason.NOT_A_STREET
    yield table, c.SellLevel(0, 11), Reason.NOT_OWNER
    yield table, c.SellLevel(0, 8), Reason.UNEVEN_BUILDING
    table.levels({6: 0})
    yield table, c.SellLevel(0, 8), Reason.NO_LEVEL


def pledge() -> Iterator[Rung]:
    yield from at_the_wrong_time(c.Mortgage)
    table = given().group(0, "light_blue").owned(1, 5).levels({6: 1}).mortgaged(8)
    yield table, c.Mortgage(0, 20), Reason.NOT_A_PROPERTY
    yield table, c.Mortgage(0, 5), Reason.NOT_OWNER
    yield table, c.Mortgage(0, 8), Reason.GROUP_HAS_LEVELS
    table.levels({6: 0})
    yield table, c.Mortgage(0, 8), Reason.ALREADY_MORTGAGED


def redeem() -> Iterator[Rung]:
    yield from at_the_wrong_time(c.Redeem)
    table = given().owned(0, 6).owned(1, 5).cash({0: 0})
    yield table, c.Redeem(0, 20), Reason.NOT_A_PROPERTY
    yield table, c.Redeem(0, 5), Reason.NOT_OWNER
    yield table, c.Redeem(0, 6), Reason.NOT_MORTGAGED
    table.mortgaged(6)
    yield table, c.Redeem(0, 6), Reason.NOT_ENOUGH_CASH


def pay() -> Iterator[Rung]:
    table = given().standing({0: 1}).dice((1, 2)).cash({0: 0}).owned(0, 5, 15)
    yield table, c.Pay(1), Reason.WRONG_PHASE
    yield table, c.DeclareBankruptcy(0), Reason.WRONG_PHASE
    table.when(c.Roll(0))
    yield table, c.Pay(1), Reason.NOT_YOUR_DEBT
    yield table, c.DeclareBankruptcy(1), Reason.NOT_YOUR_DEBT
    yield table, c.Pay(0), Reason.NOT_ENOUGH_CASH
    yield table, c.DeclareBankruptcy(0), Reason.CAN_STILL_PAY


def pay_bail_before_the_roll() -> Iterator[Rung]:
    table = given(CLASSIC_1).standing({0: 36}).cash({0: 0}).dice((1, 2))
    yield table, c.PayBail(1), Reason.NOT_YOUR_TURN
    yield table, c.PayBail(0), Reason.NOT_ENOUGH_CASH
    table.cash({0: 500})
    yield table, c.PayBail(0), Reason.NOT_IN_JAIL
    table.when(c.Roll(0))
    yield table, c.PayBail(0), Reason.WRONG_PHASE


def pay_bail_after_the_roll() -> Iterator[Rung]:
    table = given().jailed(0).dice((1, 2))
    yield table, c.PayBail(1), Reason.NOT_YOUR_TURN
    yield table, c.PayBail(0), Reason.WRONG_PHASE
    table.when(c.Roll(0))
    table.cash({0: 499})
    yield table, c.PayBail(0), Reason.NOT_ENOUGH_CASH


def choose() -> Iterator[Rung]:
    bus = given(SPEED_2).round(7).dice((4, 6, BUS))
    triple = given(SPEED_2).round(7).dice((2, 2, 2))
    for table, command in ((bus, c.ChooseBusMove), (triple, c.ChooseTeleport)):
        yield table, command(1, 99), Reason.NOT_YOUR_TURN
        yield table, command(0, 99), Reason.WRONG_PHASE
        table.when(c.Roll(0))
        yield table, command(0, 99), Reason.INVALID_CHOICE


def bet() -> Iterator[Rung]:
    table = given().standing({0: 17}).dice((1, 2))
    yield table, c.BetJackpot(1, ()), Reason.NOT_YOUR_TURN
    yield table, c.BetJackpot(0, ()), Reason.WRONG_PHASE
    table.when(c.Roll(0))
    table.cash({0: 0})
    yield table, c.BetJackpot(0, ()), Reason.NOT_ENOUGH_CASH
    table.cash({0: 1_000})
    yield table, c.BetJackpot(0, ()), Reason.INVALID_CHOICE


def offer_trade() -> Iterator[Rung]:
    auction = given(seats=4).standing({0: 36}).dice((1, 2)).gone(3)
    auction.when(c.Roll(0), c.Decline(0))
    yield auction, c.OfferTrade(0, 9, SIDE, SIDE), Reason.INVALID_REQUEST
    yield auction, c.OfferTrade(0, 3, SIDE, SIDE), Reason.SEAT_IS_OUT
    yield auction, c.OfferTrade(0, 1, SIDE, SIDE), Reason.AUCTION_RUNNING
    yield given(), c.OfferTrade(1, 1, SIDE, SIDE), Reason.NOT_MANAGING_TIME

    table = given(CLASSIC_1).owned(0, 5, 15).owned(1, 12).mortgaged(5).cash({0: 0})
    table.when(c.OfferTrade(0, 1, e.Side(0, (15,)), e.Side(0, (12,))))
    yield table, c.OfferTrade(0, 0, e.Side(1, (12,)), e.Side(1, (12, 20))), Reason.NOT_A_PROPERTY
    yield table, c.OfferTrade(0, 0, e.Side(1, (12,)), e.Side(1)), Reason.NOT_OWNER
    yield table, c.OfferTrade(0, 0, e.Side(1), e.Side(1)), Reason.NOT_ENOUGH_CASH
    table.cash({0: 15_000})
    yield table, c.OfferTrade(0, 0, e.Side(), e.Side(0, (5, 5))), Reason.TRADE_WITH_SELF
    yield table, c.OfferTrade(0, 1, e.Side(), e.Side(0, (12, 12))), Reason.TRADE_EMPTY
    give = e.Side(1, (5, 5))
    yield table, c.OfferTrade(0, 1, give, e.Side(1)), Reason.TRADE_CASH_BOTH_SIDES
    give = e.Side(0, (5, 5))
    yield table, c.OfferTrade(0, 1, give, e.Side(1)), Reason.TRADE_DUPLICATE_SQUARE
    give = e.Side(0, (5,))
    yield table, c.OfferTrade(0, 1, give, e.Side(1)), Reason.TRADE_UNFAIR
    yield table, c.OfferTrade(0, 1, give, e.Side(2_000)), Reason.TRADE_NOT_TRADABLE
    give = e.Side(0, (15,))
    yield table, c.OfferTrade(0, 1, give, e.Side(2_000)), Reason.TRADE_LIMIT


def answer_trade() -> Iterator[Rung]:
    table = given().owned(0, 5).owned(1, 12).standing({0: 36}).dice((1, 2))
    table.when(c.OfferTrade(0, 1, e.Side(0, (5,)), e.Side(0, (12,))), c.Roll(0), c.Decline(0))
    for command in (c.AcceptTrade, c.RejectTrade):
        yield table, command(2, 9), Reason.OFFER_NOT_FOUND
        yield table, command(2, 1), Reason.AUCTION_RUNNING
    yield table, c.WithdrawTrade(2, 9), Reason.OFFER_NOT_FOUND
    yield table, c.WithdrawTrade(2, 1), Reason.NOT_OFFER_PROPOSER
    table.wait(40)
    for command in (c.AcceptTrade, c.RejectTrade):
        yield table, command(2, 1), Reason.NOT_OFFER_RECEIVER


def contribute_seed() -> Iterator[Rung]:
    yield given(), c.ContributeSeed(0, bytes(99)), Reason.SEED_TOO_LATE
    yield seeding(), c.ContributeSeed(0, bytes(99)), Reason.SEED_INVALID


def create_match() -> Iterator[Rung]:
    wrong = c.CreateMatch("", "none", (), b"")
    yield given(), wrong, Reason.MATCH_EXISTS
    yield unborn(), wrong, Reason.INVALID_REQUEST


def fire_deadline() -> Iterator[Rung]:
    yield unborn(), c.FireDeadline("none"), Reason.MATCH_NOT_FOUND
    yield ended(), c.FireDeadline("none"), Reason.MATCH_ENDED
    yield frozen(), c.FireDeadline("none"), Reason.MATCH_FROZEN
    yield given(), c.FireDeadline("none"), Reason.DEADLINE_STALE
    yield given(), c.FireDeadline("roll:0:1"), Reason.DEADLINE_NOT_DUE


def operate() -> Iterator[Rung]:
    yield unborn(), c.Resume("", ""), Reason.MATCH_NOT_FOUND
    yield ended(), c.Resume("", ""), Reason.MATCH_ENDED
    yield given(), c.Resume("", ""), Reason.MATCH_NOT_FROZEN
    yield frozen(), c.Freeze("", ""), Reason.MATCH_FROZEN


LADDERS: list[Callable[[], Iterator[Rung]]] = [
    roll,
    buy,
    answers,
    bid,
    build,
    sell_level,
    pledge,
    redeem,
    pay,
    pay_bail_before_the_roll,
    pay_bail_after_the_roll,
    choose,
    bet,
    offer_trade,
    answer_trade,
    contribute_seed,
    create_match,
    fire_deadline,
    operate,
]


@pytest.mark.parametrize("ladder", LADDERS, ids=lambda ladder: ladder.__name__)
def test_the_first_fault_in_the_promised_order_is_the_one_that_is_told(
    ladder: Callable[[], Iterator[Rung]],
) -> None:
    for table, command, reason in ladder():
        assert table.refused(command).reason is reason, (command, reason)


RULES_OWN = set(Reason) - {
    *list(Reason)[: list(Reason).index(Reason.INVALID_REQUEST)],
    *(Reason.ROOM_NOT_FOUND, Reason.PLAYER_NOT_FOUND, Reason.INVITE_NOT_FOUND),
    *(Reason.MATCH_QUARANTINED, Reason.MATCH_NOT_QUARANTINED),
    *(Reason.COMMAND_ID_REUSED, Reason.STALE_SEQUENCE),
    *list(Reason)[list(Reason).index(Reason.ROOM_FULL) :],
}
"""What the rules themselves can answer; the rest is for the edge, the store and the lobby."""


def test_every_reason_of_the_rules_stands_on_a_ladder() -> None:
    climbed = {reason for ladder in LADDERS for _, _, reason in ladder()}
    climbed |= {Reason.NOT_SEATED, Reason.MATCH_NOT_STARTED}

    assert climbed == RULES_OWN
