"""The same command of the same actor is known again, however it was sent (W3)."""

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libs.rules import commands as c
from libs.rules import events as e
from libs.wire.commands import command_of, name_of
from libs.wire.record import SYSTEM
from libs.wire.request_hash import actor_of, operator_actor, request_hash
from opolyx.match.v1 import command_pb2 as pb
from opolyx.record.v1 import event_pb2 as record_pb
from tests.support.builders import COMMITMENT, MATCH_ID, PLAYER_IDS, people
from tests.support.events import instances

ANY_COMMAND: st.SearchStrategy[c.Command] = st.sampled_from(get_args(c.Command)).flatmap(instances)
OPERATOR = operator_actor(PLAYER_IDS[0])
OFFER = c.OfferTrade(1, 2, e.Side(500, ()), e.Side(0, (5, 15)))


@given(ANY_COMMAND)
def test_a_command_always_has_the_same_hash(command: c.Command) -> None:
    assert request_hash(command) == request_hash(command)
    assert len(request_hash(command)) == 32


@given(ANY_COMMAND, ANY_COMMAND)
def test_different_commands_have_different_hashes(one: c.Command, other: c.Command) -> None:
    if _told(one) != _told(other):
        assert request_hash(one) != request_hash(other)


def test_the_seat_counts_though_no_request_names_it() -> None:
    assert request_hash(c.Roll(0)) != request_hash(c.Roll(1))


def test_how_a_request_was_encoded_does_not_matter() -> None:
    """Fields in another order, lists unpacked, numbers longer than they need be."""
    strange = bytes.fromhex(
        "92 01 0f 1a 04 10 05 10 0f 12 04 08 f4 83 00 08 82 00".replace(" ", "")
    )
    message = pb.Command.FromString(strange)
    assert message.SerializeToString(deterministic=True) != strange

    assert command_of(message, 1) == OFFER
    assert request_hash(command_of(message, 1)) == request_hash(OFFER)


def test_nothing_given_and_an_empty_side_are_the_same_request() -> None:
    with_side = pb.Command(offer_trade=pb.OfferTrade(to=1, give=record_pb.Side()))
    without = pb.Command(offer_trade=pb.OfferTrade(to=1))

    assert request_hash(command_of(with_side, 0)) == request_hash(command_of(without, 0))


def test_the_commitment_of_a_new_match_does_not_matter() -> None:
    """Each try to make a match draws another seed, and is the same request all the same."""
    one = c.CreateMatch(MATCH_ID, "opolyx.classic@2", people(2), COMMITMENT)
    other = c.CreateMatch(MATCH_ID, "opolyx.classic@2", people(2), bytes(32))
    third = c.CreateMatch(MATCH_ID, "opolyx.classic@2", people(3), COMMITMENT)

    assert request_hash(one) == request_hash(other)
    assert request_hash(one) != request_hash(third)


@pytest.mark.parametrize("kind", get_args(c.Command), ids=name_of)
@given(data=st.data())
def test_the_actor_is_the_one_that_records_name(kind: Any, data: st.DataObject) -> None:
    command = data.draw(instances(kind))
    actor = actor_of(command)

    if kind in get_args(c.SeatCommand):
        assert actor == f"seat:{command.seat}"
    elif kind in (c.Freeze, c.Resume, c.Abort):
        assert actor == command.actor
    else:
        assert actor == SYSTEM


GOLDEN: list[tuple[c.Command, str]] = [
    (c.Roll(0), "c21ea560af78a3daf391d4cf3d174f90294533b5efed0a74002e0ff51d70cbc9"),
    (c.Build(3, 39), "701eb847b04de8bebfdcaf7567337826b7039f1f5161f9b778893873e47b35ba"),
    (
        c.BetJackpot(1, (1, 2, 6)),
        "be8db0bf98ba8c12c930890fe85784f416e86e5304a1df790537c029858ccb36",
    ),
    (OFFER, "870c198ab533d7a22fca19f0dfc8a4fdcffb51269d94ec12262f6ae4c4ca9d3b"),
    (
        c.ContributeSeed(2, bytes(range(16))),
        "fa1f0014a0e93d7b7add98f43e0c51b56ff8656f8dbc29e858420e32279b379f",
    ),
    (
        c.CreateMatch(MATCH_ID, "opolyx.classic@2", people(2), COMMITMENT),
        "3ce86e75376b8d63d47d6099f4eb0f593caf992c369185f4cc3380de2c074c46",
    ),
    (
        c.FireDeadline("roll:2:57"),
        "5c1eb6ccd12ecd76ceb3896f63faaf71e4b37fe2a2a9027eef00cb07a9f108b2",
    ),
    (
        c.ExtendDeadlines(12_000, 3),
        "d92063d794fccc0b06dd410536b3aa77c67efdd129523d355c0089cc693f2868",
    ),
    (
        c.Abort("they left", OPERATOR),
        "9e39e4c99a4f17441c11fa4db9e32cc2069f5364130c53dacf624f68cc565855",
    ),
]


@pytest.mark.parametrize(("command", "hashed"), GOLDEN, ids=[name_of(type(v)) for v, _ in GOLDEN])
def test_hashes_never_change(command: c.Command, hashed: str) -> None:
    """They are stored beside command ids for ever. Never edit one: add the next."""
    assert request_hash(command).hex() == hashed


def _told(command: c.Command) -> Any:
    """Return what of a command is told: all of it but a commitment."""
    if isinstance(command, c.CreateMatch):
        return command.match_id, command.rule_set, command.seats
    return command
