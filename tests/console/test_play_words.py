"""What is typed means one thing, or nothing; what may be done can be typed."""

from typing import get_args

import pytest

from libs.rules import commands as c
from libs.rules import events as e
from libs.rules.match import Match
from libs.rules.pending import Offer
from opolyx.match.v1 import match_service_pb2 as pb
from services.console.terminal.options import Option, Options, numbered, options_of
from services.console.terminal.people import People
from services.console.terminal.words import (
    USAGES,
    Compose,
    Explain,
    Give,
    Leave,
    NotUnderstoodError,
    Pick,
    Show,
    Typed,
    WhyNot,
    parse,
    words_of,
)
from tests.console.listings import listing, states
from tests.support.matches import Table

PEOPLE = People(["ada", "bob", "Cleo"])
BOB_GIVES = Offer(3, 1, 0, e.Side(500), e.Side(0, (6,)), 0)
ADA_GIVES = Offer(4, 0, 1, e.Side(500), e.Side(0, (8,)), 0)


def read(line: str, *offers: Offer) -> Typed:
    match = Match()
    match.offers = list(offers)
    return parse(line, 0, match, PEOPLE)


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("roll", Give(c.Roll(0))),
        ("  BUY ", Give(c.Buy(0))),
        ("decline", Give(c.Decline(0))),
        ("bid", Give(c.Bid(0))),
        ("bid 1,200", Give(c.Bid(0), 1200)),
        ("pass", Give(c.Pass(0))),
        ("build 6", Give(c.Build(0, 6))),
        ("sell 6", Give(c.SellLevel(0, 6))),
        ("mortgage 39", Give(c.Mortgage(0, 39))),
        ("redeem 39", Give(c.Redeem(0, 39))),
        ("pay", Give(c.Pay(0))),
        ("bankrupt", Give(c.DeclareBankruptcy(0))),
        ("bail", Give(c.PayBail(0))),
        ("stay", Give(c.StayInJail(0))),
        ("bus 7", Give(c.ChooseBusMove(0, 7))),
        ("teleport 24", Give(c.ChooseTeleport(0, 24))),
        ("bet 1 3 5", Give(c.BetJackpot(0, (1, 3, 5)))),
        ("keep", Give(c.DeclineJackpot(0))),
        ("accept 2", Give(c.AcceptTrade(0, 2))),
        ("reject 2", Give(c.RejectTrade(0, 2))),
        ("withdraw 2", Give(c.WithdrawTrade(0, 2))),
        ("surrender", Give(c.Surrender(0))),
        (
            "trade Bob give 6, 8 and 9 take cash 1,500",
            Give(c.OfferTrade(0, 1, e.Side(0, (6, 8, 9)), e.Side(1500))),
        ),
        (
            "trade cleo take 6,8 give cash 20",
            Give(c.OfferTrade(0, 2, e.Side(20), e.Side(0, (6, 8)))),
        ),
        ("trade 1 give nothing take 1", Give(c.OfferTrade(0, 1, e.Side(), e.Side(0, (1,))))),
        ("trade", Compose()),
        ("why build 6", WhyNot(c.Build(0, 6))),
        ("why bid", WhyNot(c.Bid(0))),
        ("explain 120", Explain(120)),
        ("board", Show("board")),
        ("list", Show("list")),
        ("offers", Show("offers")),
        ("log", Show("log", 15)),
        ("log 3", Show("log", 3)),
        ("?", Show("help")),
        ("q", Leave()),
        ("12", Pick(12)),
        ("3 1 4", Pick(3, ("1", "4"))),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_line_means_one_thing(line: str, meant: Typed) -> None:
    assert read(line) == meant


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("", "Type a number"),
        ("gamble", "`gamble` is nothing that can be done"),
        ("roll 6", "It is: roll"),
        ("quit now", "`quit` is nothing"),
        ("build", "It is: build SQUARE"),
        ("build 6 8", "It is: build SQUARE"),
        ("build six", "`six` is no number"),
        ("build -1", "`-1` is no number"),
        ("build 6000000000", "is no number"),
        ("bid 1,2", "`1,2` is no number"),
        ("build ٣", "is no number"),
        ("bet", "It is: bet N"),
        ("bet 1 two", "`two` is no number"),
        ("trade dora give 6 take 8", "WHO is one of ada, bob, Cleo"),
        ("trade bob give 6", "It is: trade WHO"),
        ("trade bob take 6 for give 3", "`for` is no number"),
        ("trade bob please give 6 take 8", "It is: trade WHO"),
        ("trade bob give cash take 8", "How much?"),
        ("accept", "Which offer? It is: accept [OFFER]; open: none."),
        ("explain", "It is: explain SEQ"),
        ("why", "`` is nothing"),
        ("log all", "`all` is no number"),
        ("\x1b[2J\x00", "is nothing"),
        ("x" * 100_000, "`" + "x" * 20 + "` is nothing"),
    ],
    ids=lambda value: repr(value[:12]),
)
def test_a_wrong_line_says_what_is_right(line: str, told: str) -> None:
    with pytest.raises(NotUnderstoodError) as refused:
        read(line)

    assert told in str(refused.value)
    assert len(str(refused.value)) < 200


def test_an_offer_need_not_be_named_where_only_one_is_meant() -> None:
    both = (BOB_GIVES, ADA_GIVES)

    assert read("accept", *both) == Give(c.AcceptTrade(0, 3))
    assert read("reject", *both) == Give(c.RejectTrade(0, 3))
    assert read("withdraw", *both) == Give(c.WithdrawTrade(0, 4))
    with pytest.raises(NotUnderstoodError, match="open: 3, 5"):
        read("accept", *both, Offer(5, 2, 0, e.Side(1), e.Side(2), 0))


def test_every_command_but_a_seed_has_its_word() -> None:
    meant = {type(read(line).command) for line in _examples()}  # type: ignore[union-attr]

    assert meant == set(get_args(c.SeatCommand)) - {c.ContributeSeed}


def _examples() -> list[str]:
    needs = {
        "build": " 6",
        "sell": " 6",
        "mortgage": " 6",
        "redeem": " 6",
        "bus": " 7",
        "teleport": " 7",
        "bet": " 1",
        "trade": " bob give 1 take 3",
        "accept": " 1",
        "reject": " 1",
        "withdraw": " 1",
    }
    return [name + needs.get(name, "") for name in USAGES]


def test_all_that_is_listed_in_a_match_can_be_typed(table: Table) -> None:
    typed = set()
    for match in states(table):
        for seat in match.acting:
            options = listing(match, seat)
            for number, option in enumerate(options.entries, start=1):
                if option.command is not None:
                    typed.add(type(option.command))
                    assert parse(option.words, seat, match, PEOPLE) == Give(option.command)
                    picked = options.picked(Pick(number), seat, match, PEOPLE)
                    assert picked == Give(option.command, option.cost)

    assert {c.Roll, c.Buy, c.Bid, c.Mortgage, c.Surrender} <= typed


def test_the_words_of_a_command_are_read_as_that_command() -> None:
    trade = c.OfferTrade(0, 1, e.Side(0, (6, 8)), e.Side(1500, (3,)))

    for command in (trade, c.BetJackpot(0, (1, 2)), c.ChooseBusMove(0, 7)):
        assert read(words_of(command)) == Give(command)


def test_what_needs_more_takes_it_after_its_number(table: Table) -> None:
    match = next(m for m in states(table) if any(o.words == "trade ..." for o in _mine(m)))
    options = listing(match, match.turn)
    number = next(n for n, o in enumerate(options.entries, start=1) if o.words == "trade ...")
    seat, other = match.turn, (match.turn + 1) % 3

    def pick(*rest: str) -> object:
        return options.picked(Pick(number, rest), seat, match, PEOPLE)

    offered = Give(c.OfferTrade(seat, other, e.Side(100), e.Side(0, (6,))))
    assert pick() == Compose()
    assert pick(str(other), "give", "cash", "100", "take", "6") == offered
    with pytest.raises(NotUnderstoodError):
        pick("nonsense")


def _mine(match: Match) -> tuple[Option, ...]:
    return listing(match, match.turn).entries if match.turn in match.acting else ()


def test_a_number_that_is_not_there_is_told(table: Table) -> None:
    match = next(match for match in states(table) if match.phase == "roll")
    options = listing(match, match.turn)

    for number in (0, len(options.entries) + 1):
        with pytest.raises(NotUnderstoodError, match="the list goes from 1 to"):
            options.picked(Pick(number), match.turn, match, PEOPLE)
    with pytest.raises(NotUnderstoodError, match="Nothing follows 1: it is `roll`"):
        options.picked(Pick(1, ("6",)), match.turn, match, PEOPLE)


def test_an_entry_shows_its_number_its_words_and_the_change_of_cash(table: Table) -> None:
    match = next(match for match in states(table) if match.phase == "buy")
    entries = listing(match, match.turn).entries
    price = match.board.price[match.square[match.turn]]

    wide, narrow = numbered(entries, 60), numbered(entries, 16)

    assert wide[0].startswith("  1 buy (")
    assert wide[0].endswith(f"){f'-{price:,}':>{60 - wide[0].index(')') - 1}}")
    assert narrow[0] == f"  1 buy{f'-{price:,}':>{16 - 7}}"
    assert wide[1] == "  2 decline"


def test_entries_that_are_newer_than_we_are_are_passed_over() -> None:
    unknown = pb.ListLegalCommandsResponse(sequence=7, seat=0)
    unknown.legal_commands.add()
    unknown.legal_commands.add().choice.cost = 5

    assert options_of(unknown, Match()) == Options(7, ())
