import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from grpc import StatusCode

from libs.kernel.clock import ManualClock
from libs.kernel.ids import MatchId
from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules.board import SQUARES
from libs.rules.decide import decide
from libs.rules.evolve import apply
from libs.rules.explain import explain
from libs.rules.match import Match
from libs.rules.refusals import Refusal
from libs.rules.rule_sets import BOARDS, RULE_SETS
from libs.rules.views import view
from libs.store.memory import Fault, MemoryMatchStore
from libs.store.ports import Snapshot
from libs.wire.commands import message_of
from libs.wire.heads import head_message
from libs.wire.record import StoredRecord, decode
from libs.wire.refusals import tell
from libs.wire.views import match_message
from opolyx.match.v1 import match_pb2
from opolyx.match.v1 import match_service_pb2 as pb
from opolyx.record.v1 import record_pb2
from services.match_engine import listing, reading
from services.match_engine.live import RECENT_MAX
from services.match_engine.snapshots import snapshot_of
from tests.chassis.answers import answer
from tests.match_engine.edge_rig import (
    NOW_MS,
    Edge,
    a_bot,
    a_person,
    a_player,
    as_bot,
    as_nobody,
    as_operator,
    as_person,
    opened,
)
from tests.support.builders import ScriptedDraws
from tests.support.waiting import until

UNKNOWN = "0190a000-0000-7000-8000-000000000000"
NO_TOKEN = "x"  # noqa: S105 - of a page

Running = match_pb2.MatchSummary.STATUS_RUNNING
Ended = match_pb2.MatchSummary.STATUS_ENDED
Frozen = match_pb2.MatchSummary.STATUS_FROZEN
Quarantined = match_pb2.MatchSummary.STATUS_QUARANTINED


class CountingStore(MemoryMatchStore):
    """A store that counts what is read from it."""

    def __init__(self, clock: ManualClock) -> None:
        super().__init__(clock, self._count)
        self.calls: dict[str, int] = {}
        self.is_away = False

    async def _count(self, method: str) -> Fault | None:
        self.calls[method] = self.calls.get(method, 0) + 1
        return Fault.UNAVAILABLE if self.is_away else None


@pytest.fixture
def store() -> CountingStore:
    return CountingStore(ManualClock(NOW_MS))


@pytest.fixture
async def edge(tmp_path: Path, store: CountingStore) -> AsyncIterator[Edge]:
    async with opened(tmp_path, store) as edge:
        yield edge


async def refusal(call: Any) -> tuple[StatusCode, str, dict[str, str]]:
    got = await answer(call)
    assert got.told is not None, got
    return got.code, got.told.reason, got.told.metadata


async def a_match(edge: Edge, records: int = 12) -> MatchId:
    match_id = await edge.create([a_bot(), a_bot()])
    await edge.play(match_id, records)
    return match_id


async def history(edge: Edge, match_id: MatchId) -> list[tuple[StoredRecord, list[e.Event]]]:
    records = await edge.store.records(match_id, 0)
    return [(stored, decode(stored.data).events) for stored in records]


async def head_of(edge: Edge, match_id: MatchId) -> int:
    return (await edge.decider.read(match_id)).chain.last_seq


EVERY_READ = [
    ("GetMatch", pb.GetMatchRequest),
    ("ListLegalCommands", pb.ListLegalCommandsRequest),
    ("ReadEvents", pb.ReadEventsRequest),
    ("Explain", pb.ExplainRequest),
    ("WhyNot", pb.WhyNotRequest),
    ("GetHead", pb.GetHeadRequest),
]


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
        match_id = await a_match(edge)
        edge.is_ours = False

        code, reason, _ = await refusal(a_read(edge, name, kind, match_id))

        assert (code, reason) == (StatusCode.UNAVAILABLE, Reason.NOT_OWNER_OF_SHARD)

    @pytest.mark.parametrize(("name", "kind"), EVERY_READ)
    async def test_a_match_in_quarantine_is_not_told(
        self, edge: Edge, name: str, kind: Any
    ) -> None:
        match_id = await a_match(edge)
        edge.matches.drop(match_id, Reason.MATCH_QUARANTINED)
        await edge.store.quarantine(match_id, "a test")

        code, reason, _ = await refusal(a_read(edge, name, kind, match_id))

        assert (code, reason) == (StatusCode.FAILED_PRECONDITION, Reason.MATCH_QUARANTINED)

    @pytest.mark.parametrize(
        ("name", "kind"), [entry for entry in EVERY_READ if entry[0] != "Explain"]
    )
    async def test_what_the_match_has_not_got_to_is_stale_after_a_while(
        self, edge: Edge, monkeypatch: pytest.MonkeyPatch, name: str, kind: Any
    ) -> None:
        monkeypatch.setattr(reading, "PATIENCE_S", 0.01)
        match_id = await a_match(edge)
        head = await head_of(edge, match_id)

        got = await refusal(a_read(edge, name, kind, match_id, min_sequence=head + 1))
        below = await refusal(a_read(edge, name, kind, match_id, min_sequence=-1))
        await a_read(edge, name, kind, match_id, min_sequence=head)

        assert got[:2] == (StatusCode.ABORTED, Reason.STALE_SEQUENCE)
        assert got[2] == {"asked": str(head + 1), "head": str(head)}
        assert below[1:] == (Reason.INVALID_REQUEST, {"fields": "min_sequence"})

    @pytest.mark.parametrize(
        ("name", "kind"), [entry for entry in EVERY_READ if entry[0] != "Explain"]
    )
    async def test_a_read_waits_for_what_is_about_to_be(
        self, edge: Edge, monkeypatch: pytest.MonkeyPatch, name: str, kind: Any
    ) -> None:
        monkeypatch.setattr(reading, "PATIENCE_S", 20)
        match_id = await a_match(edge)
        head = await head_of(edge, match_id)
        waiting = asyncio.ensure_future(a_read(edge, name, kind, match_id, min_sequence=head + 1))
        async with asyncio.timeout(20):
            await until(lambda: match_id in edge.pushes._followers)
            await edge.play(match_id, 1)
            await waiting

        assert match_id not in edge.pushes._followers

    async def test_a_read_does_not_wait_for_a_match_that_goes(
        self, edge: Edge, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(reading, "PATIENCE_S", 20)
        match_id = await a_match(edge)
        name, kind = EVERY_READ[0]
        waiting = asyncio.ensure_future(a_read(edge, name, kind, match_id, min_sequence=999))
        async with asyncio.timeout(10):
            await until(lambda: match_id in edge.pushes._followers)
            edge.is_ours = False
            edge.matches.drop(match_id, Reason.NOT_OWNER_OF_SHARD)

            assert (await refusal(waiting))[1] == Reason.NOT_OWNER_OF_SHARD


class TestGetMatch:
    async def test_it_is_shown_at_its_head(self, edge: Edge) -> None:
        match_id = await a_match(edge)
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
        match_id = await a_match(edge, 2 * RECENT_MAX)
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

    async def test_the_nearest_snapshot_saves_reading(
        self, edge: Edge, store: CountingStore
    ) -> None:
        match_id = await a_match(edge, 250)
        match, records = Match(), await history(edge, match_id)
        for _, events in records[:200]:
            apply(match, events)
        await edge.store.put_snapshot(match_id, snapshot_of(match, match.sequence))
        request = pb.GetMatchRequest(match_id=match_id, sequence=match.sequence + 1)
        store.calls.clear()

        await edge.matches_as().GetMatch(request)

        assert store.calls == {"snapshot": 1, "records": 2}

    async def test_a_broken_snapshot_costs_time_alone(self, edge: Edge) -> None:
        match_id = await a_match(edge)
        head = await head_of(edge, match_id)
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
        match_id = await a_match(edge, 1)
        request = pb.GetMatchRequest(match_id=match_id, sequence=sequence)

        _, reason, facts = await refusal(edge.matches_as().GetMatch(request))

        assert (reason, facts) == (Reason.INVALID_REQUEST, {"fields": "sequence"})

    async def test_a_sequence_that_is_not_yet_is_stale(
        self, edge: Edge, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(reading, "PATIENCE_S", 0.01)
        match_id = await a_match(edge, 1)
        request = pb.GetMatchRequest(match_id=match_id, sequence=999)

        assert (await refusal(edge.matches_as().GetMatch(request)))[1] == Reason.STALE_SEQUENCE


class TestLegalCommands:
    async def test_what_is_listed_is_accepted(self, edge: Edge) -> None:
        match_id = await a_match(edge)
        live = await edge.decider.read(match_id)
        seat = live.match.pending_seats()[0]
        request = pb.ListLegalCommandsRequest(match_id=match_id)

        got = await edge.matches_as().ListLegalCommands(request, metadata=as_bot(seat))

        choices = [each.choice.command for each in got.legal_commands if each.HasField("choice")]
        assert (got.seat, got.sequence) == (seat, live.chain.last_seq)
        assert choices
        for command in choices:
            asked = pb.WhyNotRequest(match_id=match_id, command=command)
            why = await edge.matches_as().WhyNot(asked, metadata=as_bot(seat))
            assert not why.HasField("refused")

    @pytest.mark.parametrize("name", ["ListLegalCommands", "WhyNot"])
    async def test_who_has_no_seat_is_refused(self, edge: Edge, name: str) -> None:
        match_id = await a_match(edge, 1)
        call = getattr(edge.matches_as(), name)
        request = (
            pb.WhyNotRequest(match_id=match_id, command=message_of(c.Roll(0)))
            if name == "WhyNot"
            else pb.ListLegalCommandsRequest(match_id=match_id)
        )

        code, reason, _ = await refusal(call(request, metadata=as_person(a_player())))

        assert (code, reason) == (StatusCode.PERMISSION_DENIED, Reason.NOT_SEATED)

    async def test_of_a_match_that_is_over_there_is_nothing(self, edge: Edge) -> None:
        match_id = await a_match(edge, 1)
        await edge.play_to_the_end(match_id)
        request = pb.ListLegalCommandsRequest(match_id=match_id)

        got = await edge.matches_as().ListLegalCommands(request, metadata=as_bot(1))

        assert not got.legal_commands
        assert got.seat == 1


class TestWhyNot:
    async def test_it_tells_what_the_rules_would_say_and_does_nothing(self, edge: Edge) -> None:
        match_id = await a_match(edge)
        live = await edge.decider.read(match_id)
        other = 1 - live.match.pending_seats()[0]
        asked = pb.WhyNotRequest(match_id=match_id, command=message_of(c.Build(other, 1)))

        got = await edge.matches_as().WhyNot(asked, metadata=as_bot(other))

        refused = decide(live.match, c.Build(other, 1), ScriptedDraws(), edge.clock.now_ms())
        assert isinstance(refused, Refusal)
        told = tell(refused)
        assert (got.refused.reason, got.refused.text) == (told.reason, told.text)
        assert dict(got.refused.metadata) == told.metadata
        assert got.sequence == live.chain.last_seq == await head_of(edge, match_id)

    async def test_a_command_that_is_none_is_invalid(self, edge: Edge) -> None:
        match_id = await a_match(edge, 1)
        call = edge.matches_as().WhyNot(pb.WhyNotRequest(match_id=match_id), metadata=as_bot(0))

        assert (await refusal(call))[1:] == (Reason.INVALID_REQUEST, {"fields": "command"})


class TestReadEvents:
    @pytest.mark.parametrize("size", [1, 7, 0])
    async def test_pages_come_without_a_gap(self, edge: Edge, size: int) -> None:
        match_id = await a_match(edge, 2 * RECENT_MAX)
        request = pb.ReadEventsRequest(match_id=match_id, page_size=size)
        found, pages, head = [], 0, await head_of(edge, match_id)
        while True:
            page = await edge.matches_as().ReadEvents(request)
            found += page.records
            pages += 1
            assert page.head_sequence == head
            if not page.next_page_token:
                break
            assert len(page.records) == size or size == 0
            request.page_token = page.next_page_token

        stored = await edge.store.records(match_id, 0)
        assert [StoredRecord(r.first_seq, r.last_seq, r.hash, r.data) for r in found] == stored
        assert pages == (-(-len(stored) // (size or 50)))

    async def test_a_page_has_200_at_most(self, edge: Edge) -> None:
        match_id = await a_match(edge, 210)
        request = pb.ReadEventsRequest(match_id=match_id, page_size=5_000)

        assert len((await edge.matches_as().ReadEvents(request)).records) == 200

    async def test_only_what_begins_in_between_is_read(self, edge: Edge) -> None:
        match_id = await a_match(edge, 2 * RECENT_MAX)
        records = await edge.store.records(match_id, 0)
        # From inside the fourth record to inside the hundredth.
        longest = next(r for r in records[90:] if r.last_seq > r.first_seq)
        request = pb.ReadEventsRequest(
            match_id=match_id,
            after_sequence=records[3].last_seq - 1,
            last_sequence=longest.first_seq,
            page_size=60,
        )
        first = await edge.matches_as().ReadEvents(request)
        request.page_token = first.next_page_token
        second = await edge.matches_as().ReadEvents(request)

        got = [record.first_seq for record in (*first.records, *second.records)]
        last = records.index(longest)
        assert got == [record.first_seq for record in records[3 : last + 1]]
        assert not second.next_page_token

    async def test_behind_the_head_there_is_nothing_and_beyond_it_it_is_stale(
        self, edge: Edge, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(reading, "PATIENCE_S", 0.01)
        match_id = await a_match(edge, 2)
        head, stub = await head_of(edge, match_id), edge.matches_as()

        none = await stub.ReadEvents(pb.ReadEventsRequest(match_id=match_id, after_sequence=head))
        beyond = await refusal(
            stub.ReadEvents(pb.ReadEventsRequest(match_id=match_id, after_sequence=head + 1))
        )

        assert (list(none.records), none.next_page_token) == ([], "")
        assert none.head_sequence == head
        assert beyond[1] == Reason.STALE_SEQUENCE

    async def test_records_are_decoded_for_people(self, edge: Edge) -> None:
        match_id = await a_match(edge, 3)
        plain = await edge.matches_as().ReadEvents(pb.ReadEventsRequest(match_id=match_id))
        request = pb.ReadEventsRequest(match_id=match_id, decode=True)

        got = await edge.matches_as().ReadEvents(request)

        assert not plain.decoded
        assert list(got.records) == list(plain.records)
        assert list(got.decoded) == [record_pb2.Record.FromString(r.data) for r in got.records]

    @pytest.mark.parametrize("is_decoded", [False, True])
    async def test_a_page_ends_before_it_is_too_large(
        self, edge: Edge, monkeypatch: pytest.MonkeyPatch, *, is_decoded: bool
    ) -> None:
        match_id = await a_match(edge, 30)
        monkeypatch.setattr(reading, "PAGE_BYTES_MAX", 2_000)
        request = pb.ReadEventsRequest(match_id=match_id, decode=is_decoded)
        found, sizes = [], []
        while True:
            page = await edge.matches_as().ReadEvents(request)
            found += page.records
            page_token, page.next_page_token = page.next_page_token, ""
            sizes.append((len(page.records), page.ByteSize()))
            if not page_token:
                break
            request.page_token = page_token

        stored = await edge.store.records(match_id, 0)
        assert [record.first_seq for record in found] == [record.first_seq for record in stored]
        assert all(size <= 2_100 or count == 1 for count, size in sizes)
        assert len(sizes) > 2

    async def test_one_record_comes_however_large_it_is(
        self, edge: Edge, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        match_id = await a_match(edge, 3)
        monkeypatch.setattr(reading, "PAGE_BYTES_MAX", 1)
        request = pb.ReadEventsRequest(match_id=match_id)

        page = await edge.matches_as().ReadEvents(request)

        assert len(page.records) == 1
        assert page.next_page_token

    def test_a_page_with_all_about_it_is_below_one_mebibyte(self) -> None:
        assert reading.PAGE_BYTES_MAX < 1024 * 1024

    @pytest.mark.parametrize(
        ("changes", "fields"),
        [
            ({"after_sequence": -1}, "after_sequence"),
            ({"last_sequence": -1}, "last_sequence"),
            ({"page_size": -1}, "page_size"),
            ({"page_token": "x"}, "page_token"),
        ],
    )
    async def test_what_makes_no_sense_is_told_by_field(
        self, edge: Edge, changes: dict[str, Any], fields: str
    ) -> None:
        request = pb.ReadEventsRequest(match_id=UNKNOWN, **changes)

        _, reason, facts = await refusal(edge.matches_as().ReadEvents(request))

        assert (reason, facts) == (Reason.INVALID_REQUEST, {"fields": fields})

    async def test_a_token_is_good_for_its_own_request(self, edge: Edge) -> None:
        match_id, other = await a_match(edge, 5), await a_match(edge, 5)
        stub = edge.matches_as()
        page = await stub.ReadEvents(pb.ReadEventsRequest(match_id=match_id, page_size=1))
        stolen = pb.ReadEventsRequest(match_id=other, page_token=page.next_page_token)

        assert (await refusal(stub.ReadEvents(stolen)))[1] == Reason.INVALID_REQUEST


class TestExplain:
    async def test_every_event_is_explained_by_the_match_before_it(self, edge: Edge) -> None:
        match_id = await a_match(edge, 40)
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
        match_id = await a_match(edge, 1)
        request = pb.ExplainRequest(match_id=match_id, sequence=999)

        assert (await refusal(edge.matches_as().Explain(request)))[1] == Reason.STALE_SEQUENCE

    async def test_an_event_must_be_named(self, edge: Edge) -> None:
        call = edge.matches_as().Explain(pb.ExplainRequest(match_id=UNKNOWN))

        assert (await refusal(call))[1:] == (Reason.INVALID_REQUEST, {"fields": "sequence"})


def is_signed(edge: Edge, head: match_pb2.SignedHead) -> bool:
    """Tell whether a head has a signature that is good."""
    (key,) = [key.public_key for key in edge.keys.public() if key.key_id == head.key_id]
    message = head_message(MatchId(head.match_id), head.sequence, head.chain_hash, ended=head.ended)
    Ed25519PublicKey.from_public_bytes(key).verify(head.signature, message)
    return True


class TestGetHead:
    async def test_it_is_signed_wherever_a_record_ends(self, edge: Edge) -> None:
        match_id = await a_match(edge, RECENT_MAX + 5)
        records = await edge.store.records(match_id, 0)
        stub = edge.matches_as()
        last = await stub.GetHead(pb.GetHeadRequest(match_id=match_id))

        heads = [
            await stub.GetHead(pb.GetHeadRequest(match_id=match_id, sequence=stored.last_seq))
            for stored in records
        ]

        assert [(head.sequence, head.chain_hash) for head in heads] == [
            (stored.last_seq, stored.hash) for stored in records
        ]
        assert all(is_signed(edge, head) and not head.ended for head in heads)
        assert heads[-1] == last

    async def test_inside_a_record_it_is_invalid(self, edge: Edge) -> None:
        match_id = await a_match(edge, 5)
        inside = next(
            record.first_seq
            for record in await edge.store.records(match_id, 0)
            if record.last_seq > record.first_seq
        )
        request = pb.GetHeadRequest(match_id=match_id, sequence=inside)

        _, reason, facts = await refusal(edge.matches_as().GetHead(request))

        assert (reason, facts) == (Reason.INVALID_REQUEST, {"fields": "sequence"})

    async def test_of_a_match_that_is_over_it_is_the_stored_one(self, edge: Edge) -> None:
        match_id = await a_match(edge, 5)
        before = await head_of(edge, match_id)
        await edge.play_to_the_end(match_id)
        stub, head = edge.matches_as(), await edge.store.head(match_id)

        last = await stub.GetHead(pb.GetHeadRequest(match_id=match_id))
        earlier = await stub.GetHead(pb.GetHeadRequest(match_id=match_id, sequence=before))

        assert head is not None
        assert head.signed is not None
        assert (last.signature, last.key_id) == (head.signed.signature, head.signed.key_id)
        assert last.ended
        assert is_signed(edge, last)
        assert not earlier.ended
        assert is_signed(edge, earlier)


class TestListMatches:
    async def ids(self, edge: Edge, metadata: Any = (), **asked: Any) -> list[str]:
        """Return the ids of all pages."""
        request, found = pb.ListMatchesRequest(**asked), []
        while True:
            page = await edge.matches_as().ListMatches(request, metadata=metadata)
            found += [summary.match_id for summary in page.matches]
            if not page.next_page_token:
                return found
            request.page_token = page.next_page_token

    async def test_the_newest_come_first_with_what_they_are(self, edge: Edge) -> None:
        player = a_player()
        older = await edge.create([a_person(player), a_bot()])
        edge.clock.advance(1000)
        newer = await edge.create([a_bot(), a_bot(), a_bot()], "opolyx.speed@2")
        await edge.play(newer, 2)

        page = await edge.matches_as().ListMatches(pb.ListMatchesRequest())

        first, second = page.matches
        assert (first.match_id, second.match_id) == (newer, older)
        assert (first.rule_set, second.rule_set) == ("opolyx.speed@2", "opolyx.classic@2")
        assert (first.created_ms, second.created_ms) == (NOW_MS + 1000, NOW_MS)
        assert first.sequence == await head_of(edge, newer)
        assert [len(first.seats), len(second.seats)] == [3, 2]
        assert second.seats[0].player == player

    async def test_collection_cards_are_left_out(self, edge: Edge) -> None:
        await edge.create([e.SeatSpec(e.PERSON, a_player(), "", ((1, "rare"),)), a_bot()])

        page = await edge.matches_as().ListMatches(pb.ListMatchesRequest())

        assert not page.matches[0].seats[0].cards

    async def test_they_are_listed_by_how_far_they_are(self, edge: Edge) -> None:
        running, frozen, ended, broken = [await a_match(edge, 1) for _ in range(4)]
        await edge.submit(frozen, c.Freeze("a test", f"operator:{a_player()}"))
        await edge.play_to_the_end(ended)
        await edge.store.quarantine(broken, "a test")

        by_status = {
            status: await self.ids(edge, status=status)
            for status in (Running, Frozen, Ended, Quarantined)
        }

        assert by_status == {
            Running: [running],
            Frozen: [frozen],
            Ended: [ended],
            Quarantined: [broken],
        }
        assert len(await self.ids(edge)) == 4

    @pytest.mark.parametrize("size", [1, 2, 3, 200])
    async def test_pages_come_without_a_gap(
        self, edge: Edge, monkeypatch: pytest.MonkeyPatch, size: int
    ) -> None:
        monkeypatch.setattr(listing, "PAGE", 2)
        made = [await edge.create([a_bot(), a_bot()]) for _ in range(5)]

        assert await self.ids(edge, page_size=size) == sorted(made, reverse=True)

    async def test_one_lists_ones_own(self, edge: Edge, monkeypatch: pytest.MonkeyPatch) -> None:
        # Few are looked at for a page: those that hold none of mine are empty, and not the last.
        monkeypatch.setattr(listing, "PAGE", 1)
        monkeypatch.setattr(listing, "LOOKED_AT_MAX", 2)
        player = a_player()
        mine = []
        for n in range(9):
            edge.clock.advance(1)
            if n % 4 == 0:
                mine.append(await edge.create([a_bot(), a_person(player)]))
            else:
                await edge.create([a_person(), a_bot()])
        first = await edge.matches_as().ListMatches(
            pb.ListMatchesRequest(mine=True), metadata=as_person(player)
        )

        assert await self.ids(edge, as_person(player), mine=True) == mine[::-1]
        assert await self.ids(edge, as_operator(player), mine=True) == mine[::-1]
        assert [summary.match_id for summary in first.matches] == mine[-1:]
        assert first.next_page_token
        for nobody in (as_person(a_player()), as_person(""), as_bot(0), as_nobody()):
            assert await self.ids(edge, nobody, mine=True) == []

    async def test_it_is_told_by_field_what_makes_no_sense(self, edge: Edge) -> None:
        request = pb.ListMatchesRequest(page_size=-1, page_token=NO_TOKEN)
        request.MergeFrom(pb.ListMatchesRequest.FromString(b"\x08\x63"))  # a status of 99

        _, reason, facts = await refusal(edge.matches_as().ListMatches(request))

        assert reason == Reason.INVALID_REQUEST
        assert facts == {"fields": "page_size,status,page_token"}

    async def test_a_store_that_is_away_is_told(self, edge: Edge, store: CountingStore) -> None:
        store.is_away = True
        call = edge.matches_as().ListMatches(pb.ListMatchesRequest())

        assert (await refusal(call))[1] == Reason.STORE_UNAVAILABLE


class TestTheSameForAll:
    async def test_rule_sets_are_listed_in_pages_and_found(self, edge: Edge) -> None:
        request, found = pb.ListRuleSetsRequest(page_size=2), []
        while True:
            page = await edge.matches_as().ListRuleSets(request)
            found += page.rule_sets
            if not page.next_page_token:
                break
            request.page_token = page.next_page_token
        asked = [pb.GetRuleSetRequest(rule_set_id=name) for name in RULE_SETS]

        assert [rules.rule_set_id for rules in found] == list(RULE_SETS)
        assert [await edge.matches_as().GetRuleSet(each) for each in asked] == found

    async def test_a_board_is_found(self, edge: Edge) -> None:
        (board_id,) = BOARDS
        board = await edge.matches_as().GetBoard(pb.GetBoardRequest(board_id=board_id))

        assert board.board_id == board_id
        assert len(board.squares) == SQUARES

    async def test_what_is_not_known_is_invalid(self, edge: Edge) -> None:
        stub = edge.matches_as()
        rules = await refusal(stub.GetRuleSet(pb.GetRuleSetRequest(rule_set_id="x")))
        board = await refusal(stub.GetBoard(pb.GetBoardRequest()))

        assert rules[1:] == (Reason.INVALID_REQUEST, {"fields": "rule_set_id"})
        assert board[1:] == (Reason.INVALID_REQUEST, {"fields": "board_id"})

    async def test_keys_are_listed(self, edge: Edge) -> None:
        got = await edge.matches_as().ListKeys(pb.ListKeysRequest())

        assert [(key.key_id, key.public_key) for key in got.keys] == list(edge.keys.public())
        assert got.keys
        assert not got.next_page_token

    @pytest.mark.parametrize("name", ["ListRuleSets", "ListKeys"])
    async def test_what_is_no_page_is_invalid(self, edge: Edge, name: str) -> None:
        kind = getattr(pb, f"{name}Request")
        call = getattr(edge.matches_as(), name)

        _, reason, facts = await refusal(call(kind(page_size=-1, page_token=NO_TOKEN)))

        assert (reason, facts) == (Reason.INVALID_REQUEST, {"fields": "page_size,page_token"})
