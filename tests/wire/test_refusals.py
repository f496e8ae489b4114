"""Every refusal is told as a reason, facts as text, and a sentence that holds them all."""

import re

import pytest

from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules.decide import play
from libs.rules.match import Match
from libs.rules.refusals import Fact, Refusal
from libs.rules.rule_sets import RULE_SETS
from libs.wire.commands import message_of
from libs.wire.refusals import Told, refused_message, tell, tell_malformed, told_of
from libs.wire.requests import MalformedError, Violation
from opolyx.match.v1 import refused_pb2 as pb
from opolyx.match.v1.match_service_pb2 import CreateMatchRequest
from tests.support.builders import CLASSIC_2, ScriptedDraws, bots
from tests.support.nonsense import anything
from tests.support.spec import given
from tests.support.walks import Dice, Walk

METADATA_KEY = re.compile(r"[a-z][a-zA-Z0-9_-]{0,63}")
"""What `google.rpc.ErrorInfo` allows."""


def test_numbers_are_decimal_and_several_are_separated_by_commas() -> None:
    facts: dict[str, Fact] = {"needed": 12_500, "phase": "roll", "mortgaged": (1, 3), "totals": ()}

    told = tell(Refusal(Reason.GROUP_MORTGAGED, "BUILD-1", facts))

    assert told.reason == "GROUP_MORTGAGED"
    assert told.metadata == {
        "rule": "BUILD-1",
        "needed": "12500",
        "phase": "roll",
        "mortgaged": "1,3",
        "totals": "",
    }
    assert told.text == (
        "A street of the group is mortgaged. "
        "(BUILD-1; needed 12,500, phase roll, mortgaged 1/3, totals none)"
    )


def test_the_rules_own_refusal_names_its_rule() -> None:
    table = given(seats=3).cash({0: 100}).dice((1, 2))
    table.when(c.Roll(0))

    told = tell(table.refused(c.Buy(0)))

    assert told.metadata == {"rule": "TURN-5", "needed": "600", "cash": "100"}
    assert told.text == "There is not enough cash for it. (TURN-5; needed 600, cash 100)"


@pytest.mark.parametrize(
    ("offered", "field", "value"),
    [
        (c.OfferTrade(0, 7, e.Side(1, ()), e.Side(0, (5,))), "to", "7"),
        (c.OfferTrade(0, 1, e.Side(-2, ()), e.Side(0, (5,))), "give.cash", "-2"),
        (c.OfferTrade(0, 1, e.Side(0, (5,)), e.Side(-3, ())), "take.cash", "-3"),
    ],
)
def test_what_the_rules_alone_know_to_be_nonsense_names_its_field(
    offered: c.OfferTrade, field: str, value: str
) -> None:
    told = tell(given().refused(offered))

    assert told.reason == Reason.INVALID_REQUEST
    assert told.violations == (Violation(f"command.offer_trade.{field}", f"cannot be {value}"),)
    names = message_of(offered).offer_trade.DESCRIPTOR.fields_by_name
    assert field.partition(".")[0] in names


def test_a_match_that_no_rules_know_names_its_fields_too() -> None:
    people = bots(2)
    known = {descriptor.name for descriptor in CreateMatchRequest.DESCRIPTOR.fields}
    nobody = (*people, e.SeatSpec("ghost", ""))
    for rule_set, seats in [("none@1", people), (CLASSIC_2, people[:1]), (CLASSIC_2, nobody)]:
        command = c.CreateMatch("m", rule_set, seats, bytes(32))
        refused = play(Match(), command, ScriptedDraws(), 0)
        assert isinstance(refused, Refusal)

        assert known.issuperset(field for field, _ in tell(refused).violations)
        assert tell(refused).violations


def test_what_no_rule_of_the_game_refuses_names_none() -> None:
    plain = tell(Refusal(Reason.MATCH_QUARANTINED, ""))
    stale = tell(Refusal(Reason.STALE_SEQUENCE, "", {"head_sequence": 130}))

    assert plain == Told(
        "MATCH_QUARANTINED", {}, "The match is being looked into and takes no commands."
    )
    assert stale.metadata == {"head_sequence": "130"}
    assert stale.text == "It does not stand at the sequence that you named. (head sequence 130)"


@pytest.mark.parametrize("rule_set", RULE_SETS)
def test_whatever_the_rules_refuse_can_be_told(rule_set: str) -> None:
    walk, dice = Walk(rule_set, seats=4, seed=11).deal(60), Dice(5)
    told: dict[str, Told] = {}
    while not walk.is_over and len(walk.steps) < 150:
        for _ in range(25):
            decision = play(walk.match.copy(), anything(walk.match, dice), walk.draws, walk.now)
            if isinstance(decision, Refusal):
                told[decision.reason] = tell(decision)
        walk.step()

    assert len(told) > 20
    assert Reason.INVALID_REQUEST in told
    for refusal in told.values():
        assert bool(refusal.violations) == (refusal.reason == Reason.INVALID_REQUEST)
        assert re.fullmatch(r"[A-Z0-9]+-\d", refusal.metadata["rule"])
        assert all(METADATA_KEY.fullmatch(name) for name in refusal.metadata)
        assert told_of(_sent(refused_message(refusal))) == refusal


class TestARequestThatCannotBeUnderstood:
    ERROR = MalformedError(
        [Violation("command.build.square", "is missing"), Violation("", "is odd")]
    )

    def test_it_names_the_fields(self) -> None:
        told = tell_malformed(self.ERROR)

        assert told.reason == "INVALID_REQUEST"
        assert told.metadata == {"fields": "command.build.square"}
        assert told.violations == self.ERROR.violations
        assert told.text == (
            "The request is not one that can be understood. "
            "(command.build.square: is missing; is odd)"
        )

    def test_it_crosses_the_wire(self) -> None:
        told = tell_malformed(self.ERROR)

        assert told_of(_sent(refused_message(told))) == told

    def test_as_a_whole_it_has_no_fields_to_name(self) -> None:
        assert tell_malformed(MalformedError([Violation("", "is no message")])).metadata == {}


def test_when_to_come_again_is_said_only_where_it_helps() -> None:
    told = tell(Refusal(Reason.OVERLOADED, ""))

    assert refused_message(told, retry_after_ms=250).retry_after_ms == 250
    assert not refused_message(told).HasField("retry_after_ms")


def test_a_reason_that_is_newer_than_the_reader_is_read_all_the_same() -> None:
    assert told_of(pb.Refused(reason="MOON_IS_FULL", text="Wait.")).reason == "MOON_IS_FULL"


def _sent(message: pb.Refused) -> pb.Refused:
    return pb.Refused.FromString(message.SerializeToString())
