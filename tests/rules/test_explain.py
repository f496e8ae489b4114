"""Explanations of events, and of why a command would be refused."""

import re
from dataclasses import fields
from typing import get_args

import pytest

from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules.explain import explain, sentence, why_not
from libs.rules.match import Match
from libs.rules.refusals import Fact, Refusal
from libs.rules.sentences import SENTENCES
from libs.rules.telling_property import PROPERTY
from libs.rules.telling_turns import TURNS
from tests.architecture.rule_ids import SPECIFIED
from tests.support.builders import (
    CLASSIC_1,
    CLASSIC_2,
    COMMITMENT,
    MATCH_ID,
    SPEED_2,
    ScriptedDraws,
    bots,
    created,
    everything,
    people,
)
from tests.support.spec import Table, given, only


def test_every_event_is_explained() -> None:
    assert {*TURNS, *PROPERTY} == set(get_args(e.Event))


def test_a_rent_is_explained_with_its_doubling_and_its_tax() -> None:
    """RENT-1, TAX-1."""
    table = given().round(200).group(0, "brown").turn(1).standing({1: 38}).dice((1, 2))
    before = table.match.copy()

    explanation = explain(before, only(table.when(c.Roll(1)), e.DebtOpened))

    assert explanation.rules == ("RENT-1", "TAX-1", "DEBT-1")
    assert explanation.text == (
        "RENT-1: base rent 20 of square 1 (brown 1), doubled because the whole group is held; "
        "TAX-1: withholds 99 % = 39; "
        "DEBT-1: the match waits for seat 1 to pay 40 to seat 0"
    )


def test_bail_is_explained_by_the_revision() -> None:
    """JAIL-2, JAIL-3."""
    paid = e.BailPaid(0, 500)

    assert explain(given(CLASSIC_1).match, paid).rules == ("JAIL-2",)
    assert explain(given(CLASSIC_2).match, paid).rules == ("JAIL-3",)
    assert explain(given(CLASSIC_1).match, e.JailLeft(0, "bail")).rules == ("JAIL-2",)


def test_doubles_are_explained_by_where_they_were_rolled() -> None:
    """JAIL-5, TURN-2."""
    rolled = e.DiceRolled(0, 3, 3, 0, 12, 1)
    jailed, third = given().jailed(0).match, given().match
    third.doubles = 2

    assert "JAIL-5: doubles in jail free and give no further roll" in explain(jailed, rolled).text
    assert "TURN-2: the third doubles of the turn lead to jail" in explain(third, rolled).text
    third.doubles = 1
    assert "TURN-2: doubles number 2 of the turn" in explain(third, rolled).text


def test_an_accepted_offer_that_is_not_known_is_explained_by_its_number() -> None:
    """TRADE-3."""
    assert explain(given().match, e.TradeAccepted(7)).text == "TRADE-3: offer 7 is accepted"


def test_every_event_of_whole_turns_is_explained_by_rules_that_exist() -> None:
    table = given(SPEED_2).round(7).standing({0: 36}).dice((2, 2, e.X), (3, 4, 1)).owned(1, 39)
    before = table.match.copy()
    for command in (c.Roll(0), c.Surrender(1)):
        for event in table.when(command):
            explanation = explain(before, event)

            assert explanation.rules
            assert [rule for rule in explanation.rules if rule not in SPECIFIED] == []


def test_a_command_that_would_be_accepted_has_no_reason_not_to_be() -> None:
    table = given()
    before = everything(table.match)

    assert why_not(table.match, c.Roll(0), table.now) is None
    assert everything(table.match) == before, "and nothing was rolled"


def test_why_a_command_would_be_refused_is_told_without_giving_it() -> None:
    table = given()

    refusal = why_not(table.match, c.Roll(1), table.now)

    assert refusal == table.refused(c.Roll(1))


@pytest.mark.parametrize(
    ("command", "dice"),
    [
        (c.Roll(0), ()),
        (c.BetJackpot(0, (1, 2)), (1, 2)),
        (c.Surrender(0), ()),
        (c.Abort("x", "operator:1"), ()),
    ],
    ids=lambda value: type(value).__name__,
)
def test_chance_never_refuses_a_command(command: c.Command, dice: tuple[int, ...]) -> None:
    """FAIR-1: made-up draws will do."""
    table = given(seats=2).standing({0: 17})
    if dice:
        table.dice(dice).when(c.Roll(0))

    assert why_not(table.match, command, table.now) is None


def test_the_last_seed_and_a_new_match_can_be_asked_about() -> None:
    """FAIR-1, SETUP-3."""
    draws = ScriptedDraws()
    table = Table(created(CLASSIC_2, people(2), draws), draws)
    table.when(c.ContributeSeed(0, b""))
    create = c.CreateMatch(MATCH_ID, CLASSIC_2, bots(2), COMMITMENT)

    assert why_not(table.match, c.ContributeSeed(1, b""), table.now) is None
    assert why_not(Match(), create, 0) is None


def test_a_deadline_is_asked_about_at_its_time() -> None:
    """CLOCK-1."""
    table = given()
    fire = c.FireDeadline("roll:0:1")

    early = why_not(table.match, fire, table.now)

    assert early is not None
    assert early.reason is Reason.DEADLINE_NOT_DUE
    assert why_not(table.match, fire, table.now + 75_000) is None


@pytest.mark.parametrize("reason", Reason)
def test_every_reason_has_a_sentence_of_its_own(reason: Reason) -> None:
    assert re.fullmatch(r"[A-Z][^.]+\.", SENTENCES[reason])
    assert list(SENTENCES.values()).count(SENTENCES[reason]) == 1


def test_a_sentence_tells_the_rule_and_the_facts() -> None:
    """JAIL-2."""
    refused = given(CLASSIC_1).jailed(0).cash({0: 120}).refused(c.PayBail(0))

    assert sentence(refused) == ("There is not enough cash for it. (JAIL-2; needed 500, cash 120)")


def test_a_sentence_without_facts_tells_the_rule() -> None:
    assert sentence(Refusal(Reason.TRADE_WITH_SELF, "TRADE-1")) == "A trade takes two. (TRADE-1)"


def test_facts_are_spelt_by_their_kind() -> None:
    facts: dict[str, Fact] = {
        "could_raise": 12_345,
        "squares": (5, 12),
        "phase": "buy",
        "numbers": (),
    }

    assert sentence(Refusal(Reason.WRONG_PHASE, "TURN-1", facts)) == (
        "Another decision is pending. "
        "(TURN-1; could raise 12,345, squares 5/12, phase buy, numbers none)"
    )


def test_every_number_of_an_event_is_in_its_explanation() -> None:
    for event in (
        e.SalaryPaid(1, 2_000),
        e.LevelBuilt(1, 39, 3, 1_234),
        e.CashCollected(4, 5, 678, 6),
        e.BidPlaced(3, 4_100),
        e.MortgageReminded(3, 25, 8),
        e.JackpotRolled(2, 6, 3_000, 77, 1),
    ):
        numbers = [f"{getattr(event, field.name):,}" for field in fields(event)]
        text = explain(given().match, event).text

        assert [number for number in numbers if number not in text] == []
