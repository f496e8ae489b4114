import pytest

from libs.kernel.ids import MatchId
from libs.kernel.reasons import Reason
from libs.rules import events as e
from libs.rules.evolve import apply
from libs.rules.explain import explain
from libs.rules.match import Match
from libs.rules.views import view
from libs.store.ports import Snapshot
from libs.wire.record import StoredRecord, decode
from libs.wire.views import match_message
from opolyx.match.v1 import match_service_pb2 as pb
from opolyx.record.v1 import record_pb2
from services.match_engine import reading
from services.match_engine.live import RECENT_MAX
from services.match_engine.snapshots import snapshot_of
from tests.match_engine.edge_rig import (
    UNKNOWN,
    Edge,
    EdgeStore,
    a_bot,
    a_person,
    a_player,
    as_bot,
    as_nobody,
    as_operator,
    as_person,
    refusal,
)


async def history(edge: Edge, match_id: MatchId) -> list[tuple[StoredRecord, list[e.Event]]]:
    records = await edge.store.records(match_id, 0)
    return [(stored, decode(stored.data).events) for stored in records]


class TestGetMatch:
    async def test_it_is_shown_at_its_head(self, edge: Edge) -> None:
        match_id = await edge.a_match()
        live = await edge.decider.read(match_id)

        got = await edge.matches_as().GetMatch(pb.GetMatchRequest(match_id=match_id))

        assert got.sequence == live.chain.last_seq
        assert got.chain_hash == live.chain.last_hash
        assert got.commitment == live.match.commitment
        assert got.server_time_ms == edge.clock.now_ms()
        assert not got.HasField("viewer_seat")

    @pytest.mark.parametrize("keeps_snapshots", [False, True])
    async def test_it_is_shown_as_it_was_at_any_sequence(
        self, edge: Edge, *, keeps_snapshots: bool
    ) -> None:
        match_id = await edge.a_match(2 * RECENT_MAX)
        stub, match, expected = edge.matches_as(), Match(), []
        for stored, events in await history(edge, match_id):
            for number, event in enumerate(events, start=stored.first_seq):
                apply(match, [event])
                chain_hash = stored.hash if number == stored.last_seq else b""
                commitment = match.commitment
                expected.append(
                    match_message(
                        view(match),
                        edge.clock.now_ms(),
                        commitment=commitment,
                        chain_hash=chain_hash,
                    )
                )
            if keeps_snapshots and stored.first_seq % 7 == 0:
                await edge.store.put_snapshot(match_id, snapshot_of(match, match.sequence))
        for sequence in range(1, len(expected) + 1):
            request = pb.GetMatchRequest(match_id=match_id, sequence=sequence)
            assert await stub.GetMatch(request) == expected[sequence - 1]

    async def test_the_nearest_snapshot_saves_reading(self, edge: Edge, store: EdgeStore) -> None:
        match_id = await edge.a_match(250)
        match, records = Match(), await history(edge, match_id)
        for _, events in records[:200]:
            apply(match, events)
        await edge.store.put_snapshot(match_id, snapshot_of(match, match.sequence))
        request = pb.GetMatchRequest(match_id=match_id, sequence=match.sequence + 1)
        store.calls.clear()

        await edge.matches_as().GetMatch(request)

        assert (store.count("snapshot"), store.count("records")) == (1, 2)

    async def test_a_broken_snapshot_costs_time_alone(self, edge: Edge) -> None:
        match_id = await edge.a_match()
        head = await edge.head_of(match_id)
        request = pb.GetMatchRequest(match_id=match_id, sequence=head - 1)
        before = await edge.matches_as().GetMatch(request)
        broken = Snapshot(3, "opolyx.classic@2", 1, b"{}", bytes(32))
        await edge.store.put_snapshot(match_id, broken)

        assert await edge.matches_as().GetMatch(request) == before

    async def test_the_viewer_is_the_callers_seat(self, edge: Edge) -> None:
        player = a_player()
        match_id = await edge.create([a_bot(), a_person(player), a_person()])
        request = pb.GetMatchRequest(match_id=match_id)
        seats = {}
        for name, metadata in {
            "person": as_person(player),
            "operator": as_operator(player),
            "stranger": as_person(a_player()),
            "bot": as_bot(0),
            "no bot": as_bot(1),
            "nobody": as_nobody(),
            "service": (),
        }.items():
            got = await edge.matches_as().GetMatch(request, metadata=metadata)
            seats[name] = got.viewer_seat if got.HasField("viewer_seat") else None

        assert seats == {
            "person": 1,
            "operator": 1,
            "stranger": None,
            "bot": 0,
            "no bot": None,
            "nobody": None,
            "service": None,
        }

    @pytest.mark.parametrize("sequence", [0, -1])
    async def test_sequences_begin_with_1(self, edge: Edge, sequence: int) -> None:
        match_id = await edge.a_match(1)
        request = pb.GetMatchRequest(match_id=match_id, sequence=sequence)

        _, reason, facts = await refusal(edge.matches_as().GetMatch(request))

        assert (reason, facts) == (Reason.INVALID_REQUEST, {"fields": "sequence"})

    async def test_a_sequence_that_is_not_yet_is_stale(
        self, edge: Edge, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(reading, "PATIENCE_S", 0.01)
        match_id = await edge.a_match(1)
        request = pb.GetMatchRequest(match_id=match_id, sequence=999)

        assert (await refusal(edge.matches_as().GetMatch(request)))[1] == Reason.STALE_SEQUENCE


class TestExplain:
    async def test_every_event_is_explained_by_the_match_before_it(self, edge: Edge) -> None:
        match_id = await edge.a_match(40)
        match = Match()
        for stored, events in await history(edge, match_id):
            recorded = record_pb2.Record.FromString(stored.data).events
            for place, event in enumerate(events):
                sequence = stored.first_seq + place
                request = pb.ExplainRequest(match_id=match_id, sequence=sequence)
                got = await edge.matches_as().Explain(request)
                expected = explain(match, event)

                assert got.event == recorded[place]
                assert (tuple(got.rules), got.text) == (expected.rules, expected.text)
                apply(match, [event])

    async def test_an_event_that_is_not_yet_is_stale(
        self, edge: Edge, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(reading, "PATIENCE_S", 0.01)
        match_id = await edge.a_match(1)
        request = pb.ExplainRequest(match_id=match_id, sequence=999)

        assert (await refusal(edge.matches_as().Explain(request)))[1] == Reason.STALE_SEQUENCE

    async def test_an_event_must_be_named(self, edge: Edge) -> None:
        call = edge.matches_as().Explain(pb.ExplainRequest(match_id=UNKNOWN))

        assert (await refusal(call))[1:] == (Reason.INVALID_REQUEST, {"fields": "sequence"})
