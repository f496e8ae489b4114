"""What somebody at a table sees: it fits, it names everybody, and it says what is pending."""

import pytest

from libs.rules import commands as c
from libs.rules import events as e
from libs.rules import phases
from libs.rules.evolve import apply, replay
from libs.rules.match import Match
from libs.rules.pending import Offer
from libs.wire.record import decode
from services.console.drawing import HEIGHT, NAME, WIDTH
from services.console.terminal.dialogues import DROPPED, Composing, Confirming, Dialogue
from services.console.terminal.people import People
from services.console.terminal.picture import Scene, framed, listed
from services.console.terminal.situation import clock, details, offer_told, pending
from services.console.terminal.story import Story
from services.console.terminal.words import NotUnderstoodError
from tests.console.listings import listing, states
from tests.support.matches import Table, play_match

PEOPLE = People(["ada", "bob", "Cleo"])
NEWS = [f"{number}. A sentence that is longer than a line is wide, as some are, in truth." * 2
        for number in range(30)]  # fmt: skip


def scene(match: Match, seat: int, now_ms: int = 0) -> Scene:
    entries = listing(match, seat).entries if seat in match.acting else None
    return Scene(match, seat, PEOPLE, NEWS, entries, now_ms)


def started(*more: e.Event) -> Match:
    """Return a match of three people in which seat 0 is about to roll."""
    specs = tuple(e.SeatSpec(e.PERSON, f"p{seat}") for seat in range(3))
    return replay(
        [
            e.MatchCreated("m", "opolyx.classic@2", "classic", specs, bytes(32)),
            e.MatchStarted(0, 0, 1, 15_000, (), ((), (), ())),
            e.RoundStarted(1),
            e.TurnStarted(0, 1),
            e.DeadlineSet("roll", 0, 1, 0, 75_000, 0),
            *more,
        ],
    )


def test_whatever_happens_the_picture_fits_a_terminal(table: Table) -> None:
    for match in states(table):
        if match.phase != phases.UNBORN:
            for seat in (0, 2, e.NOBODY):
                lines = framed(scene(match, seat)).plain.split("\n")
                assert len(lines) == HEIGHT
                assert {len(line) for line in lines} == {WIDTH}
                assert all(line.isascii() for line in lines)


def test_six_seats_fit_too() -> None:
    six = play_match("opolyx.classic@2", 6, seed=2)
    people = People(["a" * 40] * 6)
    *_, match = states(six)
    drawn = framed(Scene(match, 0, people, NEWS, (), 0)).plain.split("\n")

    assert len(drawn) == HEIGHT
    assert {len(line) for line in drawn} == {WIDTH}


def test_lines_without_a_board_are_no_wider_than_wanted(table: Table) -> None:
    for match in states(table):
        if match.phase != phases.UNBORN:
            for line in listed(scene(match, 1), 76).plain.split("\n"):
                assert len(line) <= 76
                assert line == line.rstrip()


def test_all_that_may_be_done_is_numbered_or_said_to_be_more(table: Table) -> None:
    crowded = 0
    for match in states(table):
        for seat in match.acting:
            entries = listing(match, seat).entries
            drawn = framed(scene(match, seat)).plain
            if "more: `list` shows all" in drawn:
                crowded += 1
            else:
                assert all(f"{n:>3} {one.words}" in drawn for n, one in enumerate(entries, 1))

    assert crowded


def test_the_news_end_with_the_latest(table: Table) -> None:
    match = next(match for match in states(table) if match.phase == phases.ROLL)

    assert "29. A sentence" in framed(scene(match, match.turn)).plain


def test_whose_decision_it_is_and_how_long_they_have() -> None:
    match = started()

    assert pending(match, 0, PEOPLE, 60_500) == "You have 14 s to roll."
    assert pending(match, 1, PEOPLE, 60_500) == "ada has 14 s to roll."
    assert pending(match, 1, PEOPLE, 99_000) == "ada has 0 s to roll."
    assert clock(match, 0, PEOPLE, 60_500) == "[14 s] "
    assert clock(match, 1, PEOPLE, 60_500) == "[ada 14 s] "


def test_a_frozen_match_has_no_clock() -> None:
    match = started(e.MatchFrozen("looked into", "operator:o", 1_000))

    assert "frozen" in pending(match, 0, PEOPLE, 60_000)
    assert clock(match, 0, PEOPLE, 60_000) == ""


def test_an_auction_tells_who_leads_and_what_is_next() -> None:
    match = started(
        e.AuctionOpened(6, (1, 2, 0), 1_000),
        e.DeadlineSet("auction", 1, 2, 1, 10_000, 60_000),
        e.BidPlaced(1, 1_000),
    )

    [told] = details(match, 2, PEOPLE)
    assert told == (
        "Auction of light blue 1 (6): bob leads with 1,000, next bid 1,100; in it: bob, Cleo, ada."
    )


def test_a_debt_tells_what_could_raise_it() -> None:
    match = started(
        e.PropertyBought(0, 39, 4_000),
        e.DebtOpened(1, 0, "rent", 20_000, 0, 0, ((1, 20_000),), "RENT-1", ()),
    )

    [told] = details(match, 0, PEOPLE)
    assert told == (
        "You owe bob 20,000 (rent) and have 11,000; selling and mortgaging bring up to 2,000."
    )
    assert list(details(match, 1, PEOPLE)) == []


def test_an_offer_is_told_by_names() -> None:
    match = started(e.TradeOffered(1, 1, 2, e.Side(500), e.Side(0, (6, 8)), 90_000))

    assert offer_told(match.offers[0], match, PEOPLE) == (
        "Offer 1: bob gives Cleo 500 for light blue 1 (6) and light blue 2 (8)."
    )
    assert list(details(match, 0, PEOPLE)) == [offer_told(match.offers[0], match, PEOPLE)]
    assert isinstance(match.offers[0], Offer)


def test_what_is_for_sale_and_what_jail_costs() -> None:
    offered = started(e.TokenMoved(0, 0, 12, "roll"), e.PropertyOffered(0, 12, 1_500))
    offered.phase = phases.BUY
    jailed = started(e.JailEntered(0, "square"))

    board, rules = offered.board, offered.rules
    low, high = board.rents[12]
    [for_sale] = details(offered, 0, PEOPLE)
    [jail] = details(jailed, 0, PEOPLE)
    assert for_sale == (
        f"For sale: utility 1 (12) at {board.price[12]:,}, rent {low} to {high} times the dice."
    )
    assert jail == (
        f"You are in jail: 0 of {rules.jail_attempts} tries failed, bail {rules.bail:,}."
    )


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("Seat 1 rolls 3 and 4.", "bob rolls 3 and 4."),
        ("Seat 0 owes seat 2 and the bank 500 (card).", "ada owes Cleo and the bank 500 (card)."),
        ("The match ends: seats 0, 1 and 2 won.", "The match ends: ada, bob and Cleo won."),
        ("Seat 7 is nobody's.", "Seat 7 is nobody's."),
        ("Seat 0 offers seat 1 1 for 2.", "ada offers bob 1 for 2."),
    ],
)
def test_sentences_are_told_with_names(sentence: str, told: str) -> None:
    assert PEOPLE.told(sentence) == told


def test_names_come_from_anybody() -> None:
    people = People(["bob", "BOB", "\x1b[2Jeve\n", "", "x" * 99])

    assert people.names == ["bob-0", "BOB-1", "[2Jeve", "seat 3", "x" * NAME]
    assert people.told("Seat 3 passes.") == "Seat 3 passes."
    assert [people.seat_of(word) for word in ("bob-1", "0", "4", "5", "bob")] == [
        1,
        0,
        4,
        None,
        None,
    ]


def test_a_story_keeps_what_it_tells_and_the_seed(table: Table) -> None:
    story, match = Story(People(["", "", ""])), Match()
    for stored in table.records:
        record = decode(stored.data)
        apply(match, record.events)
        story.take(record, match)

    assert story.seed == table.seed
    assert story.last(0) == []
    assert story.last(1)[0].sentence.startswith("The match ends in round")
    sequences = [told.sequence for told in story.last(50)]
    assert sequences == sorted(sequences)


def test_a_trade_is_put_together_by_questions() -> None:
    match = started(e.PropertyBought(0, 6, 1_000), e.PropertyBought(1, 8, 1_000))
    dialogue: Dialogue = Composing.of(0, match, PEOPLE)
    questions = []
    for answer in ("bob", "6 cash 100", "8"):
        questions.append(dialogue.question)
        step = dialogue.answer(answer)
        assert step.next is not None
        dialogue = step.next
    offer = c.OfferTrade(0, 1, e.Side(100, (6,)), e.Side(0, (8,)))

    assert questions == [
        "A trade with whom? bob, Cleo; an empty line drops it.",
        "What do you give? 6 light blue 1, cash up to 14,000, or nothing.",
        "What do you take from bob? 8 light blue 2, cash up to 14,000, or nothing.",
    ]
    assert dialogue.question == (
        "You give bob 100 and light blue 1 (6) (worth 1,100) for light blue 2 (8) (worth 1,000). "
        "Offer it? yes or no?"
    )
    assert dialogue.answer("Yes").command == offer
    assert dialogue.answer("perhaps") == DROPPED


def test_a_trade_that_will_be_refused_is_said_to_be_unfair() -> None:
    match = started(e.PropertyBought(1, 39, 4_000))
    dialogue: Dialogue = Composing.of(0, match, PEOPLE)
    for answer in ("1", "cash 5", "39"):
        step = dialogue.answer(answer)
        assert step.next is not None
        dialogue = step.next

    assert "One side is worth less than 50% of the other." in dialogue.question


@pytest.mark.parametrize("answers", [["dora"], ["ada"], ["bob", "40"], ["bob", "2"], ["bob", "x"]])
def test_a_wrong_answer_leaves_the_question(answers: list[str]) -> None:
    dialogue: Dialogue = Composing.of(0, started(), PEOPLE)
    *right, wrong = answers
    for answer in right:
        step = dialogue.answer(answer)
        assert step.next is not None
        dialogue = step.next
    question = dialogue.question

    with pytest.raises(NotUnderstoodError):
        dialogue.answer(wrong)

    assert dialogue.question == question


def test_an_empty_line_drops_a_trade() -> None:
    assert Composing.of(0, started(), PEOPLE).answer("  ") == DROPPED


def test_surrender_is_meant_only_by_yes() -> None:
    asking = Confirming("For good?", c.Surrender(0))

    assert asking.question == "For good? yes or no?"
    assert asking.answer(" YES ").command == c.Surrender(0)
    assert asking.answer("") == asking.answer("surrender") == DROPPED
