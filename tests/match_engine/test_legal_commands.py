import pytest
from grpc import StatusCode

from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules.decide import decide as decide_purely
from libs.rules.legal import legal_commands
from libs.rules.refusals import Refusal
from libs.wire.commands import message_of
from libs.wire.refusals import tell
from opolyx.match.v1 import match_service_pb2 as pb
from tests.match_engine.edge_rig import (
    Edge,
    a_player,
    as_bot,
    as_person,
    refusal,
)
from tests.support.builders import ScriptedDraws


class TestLegalCommands:
    async def test_what_is_listed_is_accepted(self, edge: Edge) -> None:
        match_id = await edge.a_match()
        live = await edge.decider.read(match_id)
        seat = live.match.pending_seats()[0]
        request = pb.ListLegalCommandsRequest(match_id=match_id)

        got = await edge.matches_as().ListLegalCommands(request, metadata=as_bot(seat))

        choices = [each.choice.command for each in got.legal_commands if each.HasField("choice")]
        assert (got.seat, got.sequence) == (seat, live.chain.last_seq)
        assert got.answer_count == legal_commands(live.match, seat).answer_count > 0
        for command in choices:
            asked = pb.WhyNotRequest(match_id=match_id, command=command)
            why = await edge.matches_as().WhyNot(asked, metadata=as_bot(seat))
            assert not why.HasField("refused")

    @pytest.mark.parametrize("name", ["ListLegalCommands", "WhyNot"])
    async def test_who_has_no_seat_is_refused(self, edge: Edge, name: str) -> None:
        match_id = await edge.a_match(1)
        call = getattr(edge.matches_as(), name)
        request = (
            pb.WhyNotRequest(match_id=match_id, command=message_of(c.Roll(0)))
            if name == "WhyNot"
            else pb.ListLegalCommandsRequest(match_id=match_id)
        )

        code, reason, _ = await refusal(call(request, metadata=as_person(a_player())))

        assert (code, reason) == (StatusCode.PERMISSION_DENIED, Reason.NOT_SEATED)

    async def test_who_is_asked_nothing_may_surrender_and_has_no_answer(self, edge: Edge) -> None:
        match_id = await edge.a_match()
        other = 1 - (await edge.decider.read(match_id)).match.pending_seats()[0]
        request = pb.ListLegalCommandsRequest(match_id=match_id)

        got = await edge.matches_as().ListLegalCommands(request, metadata=as_bot(other))

        assert got.legal_commands[-1].choice.command == message_of(c.Surrender(other))
        assert got.answer_count == 0

    async def test_of_a_match_that_is_over_there_is_nothing(self, edge: Edge) -> None:
        match_id = await edge.a_match(1)
        await edge.play_to_the_end(match_id)
        request = pb.ListLegalCommandsRequest(match_id=match_id)

        got = await edge.matches_as().ListLegalCommands(request, metadata=as_bot(1))

        assert not got.legal_commands
        assert got.seat == 1


class TestWhyNot:
    async def test_it_tells_what_the_rules_would_say_and_does_nothing(self, edge: Edge) -> None:
        match_id = await edge.a_match()
        live = await edge.decider.read(match_id)
        other = 1 - live.match.pending_seats()[0]
        asked = pb.WhyNotRequest(match_id=match_id, command=message_of(c.Build(other, 1)))

        got = await edge.matches_as().WhyNot(asked, metadata=as_bot(other))

        refused = decide_purely(live.match, c.Build(other, 1), ScriptedDraws(), edge.clock.now_ms())
        assert isinstance(refused, Refusal)
        told = tell(refused)
        assert (got.refused.reason, got.refused.text) == (told.reason, told.text)
        assert dict(got.refused.metadata) == told.metadata
        assert got.sequence == live.chain.last_seq == await edge.head_of(match_id)

    async def test_a_command_that_is_none_is_invalid(self, edge: Edge) -> None:
        match_id = await edge.a_match(1)
        call = edge.matches_as().WhyNot(pb.WhyNotRequest(match_id=match_id), metadata=as_bot(0))

        assert (await refusal(call))[1:] == (Reason.INVALID_REQUEST, {"fields": "command"})

    async def test_what_the_rules_know_to_be_nonsense_names_its_field(self, edge: Edge) -> None:
        match_id = await edge.a_match()
        offer = message_of(c.OfferTrade(0, 7, e.Side(1, ()), e.Side(0, (1,))))
        asked = pb.WhyNotRequest(match_id=match_id, command=offer)

        got = await edge.matches_as().WhyNot(asked, metadata=as_bot(0))

        assert got.refused.reason == Reason.INVALID_REQUEST
        assert [each.field for each in got.refused.violations] == ["command.offer_trade.to"]
