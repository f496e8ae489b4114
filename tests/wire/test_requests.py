"""What comes from outside is understood, or refused by the names of its fields."""

import contextlib

import pytest
from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st

from libs.kernel.command_ids import bot_id
from libs.kernel.ids import MatchId
from libs.wire.requests import (
    VIOLATIONS_MAX,
    Checks,
    MalformedError,
    Violation,
    check_known,
)
from opolyx.lobby.v1 import lobby_service_pb2 as lobby_pb
from opolyx.match.v1 import command_pb2, match_service_pb2
from opolyx.record.v1 import event_pb2 as record_pb
from tests.support.builders import MATCH_ID

Request = match_service_pb2.SubmitCommandRequest


def test_a_request_of_which_all_is_known_is_let_through() -> None:
    check_known(Request(match_id=MATCH_ID, command=command_pb2.Command(roll=command_pb2.Roll())))


@given(st.binary(max_size=80))
def test_arbitrary_bytes_are_no_message_or_known_or_malformed(data: bytes) -> None:
    with contextlib.suppress(DecodeError, MalformedError):
        check_known(Request.FromString(data))


def test_an_unknown_field_is_named_by_its_number() -> None:
    with pytest.raises(MalformedError) as caught:
        check_known(Request.FromString(b"\x98\x06\x01"))

    assert [field for field, _ in caught.value.violations] == ["#99"]


def test_unknown_fields_and_values_are_found_at_any_depth() -> None:
    request = match_service_pb2.CreateMatchRequest(
        seats=[
            record_pb.SeatSpec(kind=7),  # type: ignore[arg-type]
            record_pb.SeatSpec(cards=[record_pb.CollectionCard.FromString(b"\x28\x01")]),
        ]
    )

    with pytest.raises(MalformedError) as caught:
        check_known(request)

    assert [field for field, _ in caught.value.violations] == [
        "seats[0].kind",
        "seats[1].cards[0].#5",
    ]


def test_a_single_value_of_an_enum_must_be_known_too() -> None:
    request = lobby_pb.CreateRoomRequest(visibility=9)  # type: ignore[arg-type]

    with pytest.raises(MalformedError) as caught:
        check_known(request, "room")

    assert caught.value.violations[0].field == "room.visibility"


class TestChecks:
    def test_what_is_well_passes(self) -> None:
        checks = Checks()
        checks.uuid("match_id", MATCH_ID)
        checks.command_id("command_id", MATCH_ID)
        checks.text("rule_set", "opolyx.classic@2")
        checks.least("after_sequence", 0, 0)

        checks.finish()

    def test_all_that_is_wrong_is_told_at_once_in_order(self) -> None:
        checks = Checks()
        checks.uuid("match_id", "")
        checks.uuid("room_id", MATCH_ID.replace("-", ""))
        checks.text("rule_set", "")
        checks.text("issuer", "x" * 9, size_max=8)
        checks.least("sequence", 0, 1)
        checks.page_size(-1)

        with pytest.raises(MalformedError) as caught:
            checks.finish()

        assert caught.value.violations == (
            ("match_id", "is missing"),
            ("room_id", "must be a UUID in 36 lower-case characters"),
            ("rule_set", "is missing"),
            ("issuer", "must have at most 8 characters"),
            ("sequence", "must be 1 or more"),
            ("page_size", "must be 0 or more"),
        )

    @pytest.mark.parametrize(("asked", "given"), [(0, 50), (1, 1), (200, 200), (201, 200)])
    def test_a_page_has_50_entries_unless_told_and_200_at_most(
        self, asked: int, given: int
    ) -> None:
        assert Checks().page_size(asked) == given

    def test_ids_of_version_5_are_those_of_services(self) -> None:
        """W3: people could use up the ids of deadlines otherwise."""
        derived = bot_id(MatchId(MATCH_ID), 12, 3)
        of_person, of_service = Checks(), Checks()
        of_person.command_id("command_id", derived)
        of_service.command_id("command_id", derived, of_service=True)

        of_service.finish()
        with pytest.raises(MalformedError, match="version 5"):
            of_person.finish()


def test_so_many_faults_are_told_and_each_once() -> None:
    many = [Violation(f"#{number}", "is not known here") for number in range(500)]

    error = MalformedError([*many[:1], *many])

    assert error.violations == tuple(many[:VIOLATIONS_MAX])
    assert str(error).count("is not known here") == VIOLATIONS_MAX
