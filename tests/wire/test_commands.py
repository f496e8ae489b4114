"""Commands cross the wire as they are; what can't be one is told by the names of its fields."""

import contextlib
from typing import Any, get_args

import pytest
from google.protobuf.message import DecodeError
from hypothesis import given, settings
from hypothesis import strategies as st

from libs.rules import commands as c
from libs.rules import events as e
from libs.rules.decide import decide
from libs.wire.commands import (
    command_of,
    message_of,
    name_of,
    new_match_of,
    system_message_of,
)
from libs.wire.requests import MalformedError
from opolyx.engine.v1 import system_command_pb2 as engine_pb
from opolyx.match.v1 import command_pb2 as pb
from opolyx.match.v1 import match_service_pb2 as service_pb
from opolyx.record.v1 import event_pb2 as record_pb
from tests.support.builders import COMMITMENT, MATCH_ID, people
from tests.support.events import instances
from tests.support.strategies import walks

SEATED = get_args(c.SeatCommand)
SYSTEM = get_args(c.SystemCommand)


@pytest.mark.parametrize("kind", SEATED, ids=name_of)
@settings(max_examples=30)
@given(st.data())
def test_every_command_of_a_seat_comes_back_as_it_was(kind: Any, data: st.DataObject) -> None:
    command = data.draw(instances(kind))
    message = pb.Command.FromString(message_of(command).SerializeToString())

    assert message.WhichOneof("command") == name_of(kind)
    assert command_of(message, command.seat) == command


@pytest.mark.parametrize("kind", SEATED, ids=name_of)
def test_no_request_names_its_seat(kind: Any) -> None:
    case = pb.Command.DESCRIPTOR.fields_by_name[name_of(kind)]
    assert case.message_type is not None

    assert "seat" not in case.message_type.fields_by_name


def test_the_oneof_has_the_commands_of_seats_and_no_others() -> None:
    cases = pb.Command.DESCRIPTOR.oneofs_by_name["command"].fields

    assert [case.name for case in cases] == [name_of(kind) for kind in SEATED]


@pytest.mark.parametrize("kind", SYSTEM, ids=name_of)
@settings(max_examples=20)
@given(st.data())
def test_every_command_of_a_service_has_its_case(kind: Any, data: st.DataObject) -> None:
    command = data.draw(instances(kind))
    message = system_message_of(command)
    name = message.WhichOneof("command")
    assert name == name_of(kind)
    inner = getattr(message, name)

    for field in inner.DESCRIPTOR.fields:
        if field.name != "seats":
            assert getattr(inner, field.name) == getattr(command, field.name)


def test_the_two_oneofs_share_no_number() -> None:
    """So that no command of a seat is ever taken for a service's by its encoding."""
    seated = {field.number for field in pb.Command.DESCRIPTOR.fields}
    system = {field.number for field in engine_pb.SystemCommand.DESCRIPTOR.fields}

    assert not seated & system


class TestWhatIsMalformed:
    def test_nothing_at_all(self) -> None:
        assert _wrong(pb.Command()) == {"command": "is missing"}

    @pytest.mark.parametrize("kind", SEATED, ids=name_of)
    def test_a_required_field_that_is_missing(self, kind: Any) -> None:
        """0 is a square and a seat; a field that was forgotten must not be taken for it."""
        name = name_of(kind)
        case = pb.Command.DESCRIPTOR.fields_by_name[name]
        assert case.message_type is not None
        numbers = [field.name for field in case.message_type.fields if field.cpp_type == 1]
        message = pb.Command()
        getattr(message, name).SetInParent()
        required = [number for number in numbers if number != "numbers"]

        if required:
            assert _wrong(message) == {
                f"command.{name}.{field}": "is missing" for field in required
            }
        else:
            assert command_of(message, 3).seat == 3

    def test_a_command_that_is_not_known_here(self) -> None:
        message = pb.Command.FromString(bytes.fromhex("ba3e00"))

        assert list(_wrong(message)) == ["command.#999"]

    def test_a_field_that_is_not_known_here(self) -> None:
        message = pb.Command.FromString(bytes.fromhex("32040801 1005".replace(" ", "")))

        assert list(_wrong(message)) == ["command.build.#2"]

    def test_a_field_that_is_not_known_here_deep_inside(self) -> None:
        give = record_pb.Side.FromString(bytes.fromhex("0805 2801".replace(" ", "")))
        message = pb.Command(offer_trade=pb.OfferTrade(to=1, give=give))

        assert list(_wrong(message)) == ["command.offer_trade.give.#5"]

    def test_everything_that_is_wrong_is_told_at_once_and_where(self) -> None:
        message = pb.Command(build=pb.Build())

        with pytest.raises(MalformedError) as caught:
            command_of(message, 0, path="request.command")

        assert caught.value.violations == (("request.command.build.square", "is missing"),)


class TestWhatIsAllowed:
    def test_square_0_and_seat_0_are_values_like_any_other(self) -> None:
        teleport = pb.Command(choose_teleport=pb.ChooseTeleport(square=0))
        offer = pb.Command(offer_trade=pb.OfferTrade(to=0, take=record_pb.Side(squares=[5])))

        assert command_of(teleport, 1) == c.ChooseTeleport(1, 0)
        assert command_of(offer, 1) == c.OfferTrade(1, 0, e.Side(), e.Side(0, (5,)))

    def test_no_client_seed_declines(self) -> None:
        message = pb.Command(contribute_seed=pb.ContributeSeed())

        assert command_of(message, 2) == c.ContributeSeed(2, b"")


@settings(max_examples=300)
@given(walks(steps=40), st.data())
def test_whatever_comes_is_a_command_that_the_rules_can_answer_or_malformed(
    walk: Any, data: st.DataObject
) -> None:
    """No number that fits into a field, however absurd, is more than refused."""
    int32 = st.integers(-(2**31), 2**31 - 1) | st.integers(-2, 41)
    int64 = st.integers(-(2**63), 2**63 - 1) | st.integers(-1, 20_000)
    sides = st.builds(record_pb.Side, cash=int64, squares=st.lists(int32, max_size=3))
    name = data.draw(st.sampled_from([name_of(kind) for kind in SEATED]))
    case = pb.Command.DESCRIPTOR.fields_by_name[name]
    assert case.message_type is not None
    values: dict[str, Any] = {}
    for field in case.message_type.fields:
        if field.is_repeated:
            values[field.name] = data.draw(st.lists(int32, max_size=4))
        elif field.message_type is not None:
            values[field.name] = data.draw(sides)
        else:
            values[field.name] = data.draw(st.binary(max_size=40) if field.type == 12 else int32)
    message = pb.Command()
    getattr(message, name).CopyFrom(getattr(pb, case.message_type.name)(**values))

    command = command_of(message, data.draw(st.integers(0, len(walk.match.specs) - 1)))

    decide(walk.match, command, walk.draws, walk.now)


@given(
    st.sampled_from(SEATED).flatmap(instances), st.binary(max_size=6), st.integers(0, 40), st.data()
)
def test_damaged_commands_never_do_worse_than_to_be_malformed(
    command: c.SeatCommand, noise: bytes, at: int, data: st.DataObject
) -> None:
    written = message_of(command).SerializeToString()
    kept = data.draw(st.integers(at, at + len(noise)))
    try:
        message = pb.Command.FromString(written[:at] + noise + written[kept:])
    except DecodeError:
        return  # bytes that are no message at all are refused by the edge
    with contextlib.suppress(MalformedError):
        read = command_of(message, 0)
        assert command_of(message_of(read), 0) == read


class TestANewMatch:
    def test_it_takes_the_seats_from_the_request_and_the_commitment_from_the_engine(self) -> None:
        command = c.CreateMatch(MATCH_ID, "opolyx.classic@2", people(3), COMMITMENT)
        create = system_message_of(command).create_match
        request = service_pb.CreateMatchRequest(
            match_id=create.match_id, rule_set=create.rule_set, seats=create.seats
        )

        assert new_match_of(request, COMMITMENT) == command

    def test_a_seat_of_no_kind_and_a_card_of_no_rarity_are_named(self) -> None:
        person = record_pb.SeatSpec.KIND_PERSON
        seats = [
            record_pb.SeatSpec(kind=person),
            record_pb.SeatSpec(),
            record_pb.SeatSpec(kind=person, cards=[record_pb.CollectionCard(square=1)]),
        ]

        with pytest.raises(MalformedError) as caught:
            new_match_of(service_pb.CreateMatchRequest(seats=seats), COMMITMENT)

        assert [field for field, _ in caught.value.violations] == ["seats[1]", "seats[2]"]


def _wrong(message: pb.Command) -> dict[str, str]:
    with pytest.raises(MalformedError) as caught:
        command_of(message, 0)
    return dict(caught.value.violations)
