from typing import Any

import pytest
from grpc import StatusCode

from libs.chassis.channels import on_behalf
from libs.kernel.command_ids import bot_id
from libs.kernel.ids import MatchId, fresh_id
from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.wire.writers import spec_message
from opolyx.match.v1 import match_service_pb2 as pb
from opolyx.record.v1 import event_pb2
from services.match_engine.allowed import MATCH_SERVICE
from services.match_engine.submitting import COMMAND_BYTES_MAX
from tests.chassis.answers import answer
from tests.match_engine.edge_rig import (
    NOW_MS,
    UNKNOWN,
    Edge,
    a_bot,
    a_command,
    a_person,
    a_player,
    as_bot,
    as_nobody,
    as_operator,
    as_person,
    refusal,
    submission,
)
from tests.match_engine.frames import (
    seed,
)

VERSION_4 = "0190a000-0000-4000-8000-000000000000"
VERSION_5 = "0190a000-0000-5000-8000-000000000000"

NO_PLAYER = event_pb2.SeatSpec(kind=event_pb2.SeatSpec.KIND_PERSON)
NO_STRENGTH = event_pb2.SeatSpec(kind=event_pb2.SeatSpec.KIND_BOT)


class TestSubmitCommand:
    async def test_a_persons_command_is_that_of_their_seat(self, edge: Edge) -> None:
        player = a_player()
        match_id = await edge.create([a_bot(), a_person(player)])
        asked = submission(match_id, seed())

        got = await edge.matches_as().SubmitCommand(asked, metadata=as_person(player))

        (stored,) = await edge.store.records(match_id, got.first_sequence - 1)
        assert (got.first_sequence, got.sequence) == (stored.first_seq, stored.last_seq)
        assert (got.chain_hash, got.at_ms) == (stored.hash, NOW_MS)
        assert b"seat:1" in stored.data

    async def test_the_same_again_has_the_same_reply_and_another_content_is_refused(
        self, edge: Edge
    ) -> None:
        player = a_player()
        match_id = await edge.create([a_person(player), a_person()])
        stub, command_id = edge.matches_as(), a_command()
        asked = submission(match_id, seed(), command_id)
        other = submission(match_id, c.ContributeSeed(0, b""), command_id)

        first = await stub.SubmitCommand(asked, metadata=as_person(player))
        again = await stub.SubmitCommand(asked, metadata=as_person(player))
        reused = await refusal(stub.SubmitCommand(other, metadata=as_person(player)))

        assert again == first
        assert reused[:2] == (StatusCode.INVALID_ARGUMENT, Reason.COMMAND_ID_REUSED)
        assert len(await edge.store.records(match_id, 0)) == 2

    async def test_an_operator_at_the_table_plays_as_anybody(self, edge: Edge) -> None:
        player = a_player()
        match_id = await edge.create([a_person(player), a_person()])

        got = await edge.matches_as().SubmitCommand(
            submission(match_id, seed()), metadata=as_operator(player)
        )

        assert got.sequence

    @pytest.mark.parametrize(
        "metadata", [as_person(a_player()), as_operator(a_player()), as_bot(0), as_nobody(), ()]
    )
    async def test_who_has_no_seat_is_refused(self, edge: Edge, metadata: Any) -> None:
        match_id = await edge.create([a_person(), a_bot()])
        call = edge.matches_as().SubmitCommand(submission(match_id, seed()), metadata=metadata)

        code, reason, _ = await refusal(call)

        assert (code, reason) == (StatusCode.PERMISSION_DENIED, Reason.NOT_SEATED)
        assert len(await edge.store.records(match_id, 0)) == 1

    async def test_a_person_cannot_use_an_id_that_is_a_services(self, edge: Edge) -> None:
        player = a_player()
        match_id = await edge.create([a_person(player), a_person()])
        asked = submission(match_id, seed(), VERSION_5)

        code, reason, facts = await refusal(
            edge.matches_as().SubmitCommand(asked, metadata=as_person(player))
        )

        assert (code, reason) == (StatusCode.INVALID_ARGUMENT, Reason.INVALID_REQUEST)
        assert facts == {"fields": "command_id"}

    async def test_a_bot_uses_one(self, edge: Edge) -> None:
        match_id = await edge.create([a_bot(), a_bot()])
        live = await edge.decider.read(match_id)
        seat, head = live.match.turn, live.chain.last_seq
        asked = submission(
            match_id, c.Roll(0), bot_id(match_id, head, seat), expected_sequence=head
        )

        got = await edge.matches_as().SubmitCommand(asked, metadata=as_bot(seat))

        assert got.first_sequence == head + 1

    async def test_what_is_missing_is_told_before_anything_is_asked_of_the_match(
        self, edge: Edge
    ) -> None:
        got = await answer(edge.matches_as().SubmitCommand(pb.SubmitCommandRequest()))
        no_command = pb.SubmitCommandRequest(match_id=UNKNOWN, command_id=a_command())
        half = pb.SubmitCommandRequest(match_id=UNKNOWN, command_id=a_command())
        half.command.build.SetInParent()

        assert got.told is not None
        assert [fault.field for fault in got.told.violations] == ["match_id", "command_id"]
        for asked, field in ((no_command, "command"), (half, "command.build.square")):
            _, reason, facts = await refusal(edge.matches_as().SubmitCommand(asked))
            assert (reason, facts) == (Reason.INVALID_REQUEST, {"fields": field})

    async def test_four_kibibytes_are_enough(self, edge: Edge) -> None:
        asked = submission(UNKNOWN, c.ContributeSeed(0, b"s" * COMMAND_BYTES_MAX))

        _, reason, _ = await refusal(edge.matches_as().SubmitCommand(asked))

        assert reason == Reason.INVALID_REQUEST

    async def test_an_unknown_match_is_not_found(self, edge: Edge) -> None:
        call = edge.matches_as().SubmitCommand(submission(UNKNOWN, seed()))

        code, reason, _ = await refusal(call)

        assert (code, reason) == (StatusCode.NOT_FOUND, Reason.MATCH_NOT_FOUND)

    async def test_a_stale_sequence_is_aborted(self, edge: Edge) -> None:
        player = a_player()
        match_id = await edge.create([a_person(player), a_person()])
        asked = submission(match_id, seed(), expected_sequence=1)

        code, reason, _ = await refusal(
            edge.matches_as().SubmitCommand(asked, metadata=as_person(player))
        )

        assert (code, reason) == (StatusCode.ABORTED, Reason.STALE_SEQUENCE)

    async def test_what_a_service_says_of_its_caller_must_be_readable(self, edge: Edge) -> None:
        call = edge.matches_as().SubmitCommand(
            submission(UNKNOWN, seed()), metadata=on_behalf(b"\xff\xff")
        )

        code, reason, _ = await refusal(call)

        assert (code, reason) == (StatusCode.PERMISSION_DENIED, Reason.NOT_ALLOWED)


def a_request(**changes: Any) -> pb.CreateMatchRequest:
    values: dict[str, Any] = {
        "command_id": a_command(),
        "match_id": fresh_id(NOW_MS),
        "rule_set": "opolyx.classic@2",
        "seats": [spec_message(a_person()), spec_message(a_bot())],
        **changes,
    }
    return pb.CreateMatchRequest(**values)


class TestCreateMatch:
    async def test_the_lobby_makes_a_match_once(self, edge: Edge) -> None:
        stub, asked = edge.matches_as("lobby"), a_request()

        first = await stub.CreateMatch(asked)
        again = await stub.CreateMatch(asked)

        (stored,) = await edge.store.records(MatchId(asked.match_id), 0)
        assert first == again
        assert (first.sequence, first.chain_hash) == (stored.last_seq, stored.hash)

    async def test_another_commands_match_exists(self, edge: Edge) -> None:
        stub, asked = edge.matches_as("lobby"), a_request()
        await stub.CreateMatch(asked)
        other = a_request(match_id=asked.match_id)

        code, reason, _ = await refusal(stub.CreateMatch(other))

        assert (code, reason) == (StatusCode.ALREADY_EXISTS, Reason.MATCH_EXISTS)

    @pytest.mark.parametrize(
        ("changes", "fields"),
        [
            ({"command_id": ""}, "command_id"),
            ({"match_id": "x"}, "match_id"),
            ({"match_id": VERSION_4}, "match_id"),
            ({"rule_set": ""}, "rule_set"),
            ({"seats": []}, "seats"),
            (
                {"seats": [NO_PLAYER, spec_message(a_bot())]},
                "seats[0].player",
            ),
            ({"seats": [NO_STRENGTH, spec_message(a_bot())]}, "seats[0].strength"),
            ({"seats": [spec_message(a_person(UNKNOWN))] * 2}, "seats[1].player"),
        ],
    )
    async def test_what_no_match_can_be_made_of_is_told_by_field(
        self, edge: Edge, changes: dict[str, Any], fields: str
    ) -> None:
        asked = a_request(**changes)

        code, reason, facts = await refusal(edge.matches_as("lobby").CreateMatch(asked))

        assert (code, reason) == (StatusCode.INVALID_ARGUMENT, Reason.INVALID_REQUEST)
        assert facts == {"fields": fields}

    @pytest.mark.parametrize(
        "changes",
        [{"rule_set": "opolyx.unheard@1"}, {"seats": [spec_message(a_bot())]}],
    )
    async def test_what_the_rules_do_not_allow_is_invalid(
        self, edge: Edge, changes: dict[str, Any]
    ) -> None:
        call = edge.matches_as("lobby").CreateMatch(a_request(**changes))

        code, reason, _ = await refusal(call)

        assert (code, reason) == (StatusCode.INVALID_ARGUMENT, Reason.INVALID_REQUEST)


class TestWhoMayCall:
    @pytest.mark.parametrize("method", [method.name for method in MATCH_SERVICE.methods])
    @pytest.mark.parametrize("service", ["gateway", "lobby", "timer", "progression"])
    async def test_each_method_is_for_its_services(
        self, edge: Edge, method: str, service: str
    ) -> None:
        only = {
            "SubmitCommand": {"gateway"},
            "CreateMatch": {"lobby"},
            "AdmitGuest": {"lobby"},
            "FireDeadline": {"timer"},
            "Fire": {"timer"},
            "WatchMatch": set[str](),
            "PlayMatch": set[str](),
        }
        call = getattr(edge.matches_as(service), method)
        described = MATCH_SERVICE.methods_by_name[method]
        streams = described.client_streaming or described.server_streaming

        got: Any = None
        if described.client_streaming:
            got = call()
            await got.done_writing()
        else:
            got = call(getattr(pb, described.input_type.name)())
        if streams:
            got = got.read()
        refused = None
        try:
            await got
        except Exception as error:  # noqa: BLE001 - whatever it is, it is looked at
            refused = await answer(_raise(error))

        is_allowed = service in only.get(method, {service})
        is_refused = refused is not None and refused.code is StatusCode.PERMISSION_DENIED
        assert is_refused is not is_allowed

    async def test_nobody_but_the_gateway_calls_on_behalf(self, edge: Edge) -> None:
        call = edge.matches_as("lobby").GetMatch(
            pb.GetMatchRequest(match_id=UNKNOWN), metadata=as_person(a_player())
        )

        assert (await refusal(call))[1] == Reason.NOT_ALLOWED


async def _raise(error: Exception) -> None:
    raise error
