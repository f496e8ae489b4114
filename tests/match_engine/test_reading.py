import asyncio
from typing import Any

import pytest
from grpc import StatusCode

from libs.kernel.reasons import Reason
from opolyx.match.v1 import match_service_pb2 as pb
from services.match_engine import reading
from tests.match_engine.edge_rig import (
    UNKNOWN,
    Edge,
    as_bot,
    refusal,
)
from tests.support.waiting import until

EVERY_READ = [
    ("GetMatch", pb.GetMatchRequest),
    ("ListLegalCommands", pb.ListLegalCommandsRequest),
    ("ReadEvents", pb.ReadEventsRequest),
    ("Explain", pb.ExplainRequest),
    ("WhyNot", pb.WhyNotRequest),
    ("GetHead", pb.GetHeadRequest),
]
OF_THE_HEAD = [entry for entry in EVERY_READ if entry[0] != "Explain"]
"""Those that say how far the match must have got at least."""


def a_read(edge: Edge, name: str, kind: Any, match_id: str, **values: Any) -> Any:
    request = kind(match_id=match_id, **values)
    if name == "Explain":
        request.sequence = request.sequence or 1
    if name == "WhyNot":
        request.command.roll.SetInParent()
    return getattr(edge.matches_as(), name)(request, metadata=as_bot(0))


class TestEveryRead:
    @pytest.mark.parametrize(("name", "kind"), EVERY_READ)
    async def test_an_unknown_match_is_not_found(self, edge: Edge, name: str, kind: Any) -> None:
        code, reason, _ = await refusal(a_read(edge, name, kind, UNKNOWN))

        assert (code, reason) == (StatusCode.NOT_FOUND, Reason.MATCH_NOT_FOUND)

    @pytest.mark.parametrize(("name", "kind"), EVERY_READ)
    async def test_what_is_no_id_is_invalid(self, edge: Edge, name: str, kind: Any) -> None:
        _, reason, facts = await refusal(a_read(edge, name, kind, "é"))

        assert (reason, facts) == (Reason.INVALID_REQUEST, {"fields": "match_id"})

    @pytest.mark.parametrize(("name", "kind"), EVERY_READ)
    async def test_an_engine_without_its_lease_tells_nothing(
        self, edge: Edge, name: str, kind: Any
    ) -> None:
        match_id = await edge.a_match()
        edge.is_ours = False

        code, reason, _ = await refusal(a_read(edge, name, kind, match_id))

        assert (code, reason) == (StatusCode.UNAVAILABLE, Reason.NOT_OWNER_OF_SHARD)

    @pytest.mark.parametrize(("name", "kind"), EVERY_READ)
    async def test_a_match_in_quarantine_is_not_told(
        self, edge: Edge, name: str, kind: Any
    ) -> None:
        match_id = await edge.a_match()
        edge.matches.drop(match_id, Reason.MATCH_QUARANTINED)
        await edge.store.quarantine(match_id, "a test")

        code, reason, _ = await refusal(a_read(edge, name, kind, match_id))

        assert (code, reason) == (StatusCode.FAILED_PRECONDITION, Reason.MATCH_QUARANTINED)

    @pytest.mark.parametrize(("name", "kind"), OF_THE_HEAD)
    async def test_what_the_match_has_not_got_to_is_stale_after_a_while(
        self, edge: Edge, monkeypatch: pytest.MonkeyPatch, name: str, kind: Any
    ) -> None:
        monkeypatch.setattr(reading, "PATIENCE_S", 0.01)
        match_id = await edge.a_match()
        head = await edge.head_of(match_id)

        got = await refusal(a_read(edge, name, kind, match_id, min_sequence=head + 1))
        below = await refusal(a_read(edge, name, kind, match_id, min_sequence=-1))
        await a_read(edge, name, kind, match_id, min_sequence=head)

        assert got[:2] == (StatusCode.ABORTED, Reason.STALE_SEQUENCE)
        assert got[2] == {"asked": str(head + 1), "head": str(head)}
        assert below[1:] == (Reason.INVALID_REQUEST, {"fields": "min_sequence"})

    @pytest.mark.parametrize(("name", "kind"), OF_THE_HEAD)
    async def test_a_read_waits_for_what_is_about_to_be(
        self, edge: Edge, monkeypatch: pytest.MonkeyPatch, name: str, kind: Any
    ) -> None:
        monkeypatch.setattr(reading, "PATIENCE_S", 20)
        match_id = await edge.a_match()
        head = await edge.head_of(match_id)
        waiting = asyncio.ensure_future(a_read(edge, name, kind, match_id, min_sequence=head + 1))
        async with asyncio.timeout(20):
            await until(lambda: match_id in edge.pushes._followers)
            await edge.play(match_id, 1)
            await waiting

        assert match_id not in edge.pushes._followers

    @pytest.mark.parametrize(("name", "kind"), OF_THE_HEAD)
    async def test_nothing_is_waited_for_in_a_match_that_is_over(
        self, edge: Edge, monkeypatch: pytest.MonkeyPatch, name: str, kind: Any
    ) -> None:
        monkeypatch.setattr(reading, "PATIENCE_S", 3_600)
        match_id = await edge.a_match()
        await edge.play_to_the_end(match_id)
        head = await edge.head_of(match_id)

        async with asyncio.timeout(20):
            got = await refusal(a_read(edge, name, kind, match_id, min_sequence=head + 1))

        assert got[1:] == (Reason.STALE_SEQUENCE, {"asked": str(head + 1), "head": str(head)})

    async def test_who_waits_is_answered_when_the_match_ends(
        self, edge: Edge, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(reading, "PATIENCE_S", 3_600)
        match_id = await edge.a_match()
        name, kind = EVERY_READ[0]
        waiting = asyncio.ensure_future(a_read(edge, name, kind, match_id, min_sequence=99_999))
        async with asyncio.timeout(20):
            await until(lambda: match_id in edge.pushes._followers)
            await edge.play_to_the_end(match_id)

            assert (await refusal(waiting))[1] == Reason.STALE_SEQUENCE

    async def test_a_read_does_not_wait_for_a_match_that_goes(
        self, edge: Edge, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(reading, "PATIENCE_S", 20)
        match_id = await edge.a_match()
        name, kind = EVERY_READ[0]
        waiting = asyncio.ensure_future(a_read(edge, name, kind, match_id, min_sequence=999))
        async with asyncio.timeout(10):
            await until(lambda: match_id in edge.pushes._followers)
            edge.is_ours = False
            edge.matches.drop(match_id, Reason.NOT_OWNER_OF_SHARD)

            assert (await refusal(waiting))[1] == Reason.NOT_OWNER_OF_SHARD
