"""Who may see a match: everybody, those who were invited, or those who sit in it (engine)."""

import asyncio
from collections.abc import Callable
from typing import Any, Final

import pytest
from grpc import StatusCode

from libs.chassis.together import end
from libs.kernel.ids import CommandId, MatchId, fresh_id
from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.store.access import Access, Label, Watching
from libs.store.directory import Directory
from libs.store.memory import Fault
from libs.store.ports import Fenced, SealedSeed
from libs.wire.commands import message_of
from opolyx.match.v1 import access_pb2, match_pb2
from opolyx.match.v1 import match_service_pb2 as pb
from services.match_engine import labelling
from tests.match_engine.edge_rig import (
    NOW_MS,
    UNKNOWN,
    Edge,
    a_command,
    a_player,
    as_bot,
    as_nobody,
    as_operator,
    as_person,
    refusal,
)
from tests.match_engine.loads import stream_of
from tests.match_engine.rig import Rig, Table, new_match, refused_as
from tests.match_engine.watched import OTHER, SEATED, create, watched_by
from tests.support.waiting import until

GUEST = a_player()

CALLERS: Final[dict[str, Any]] = {
    "seat": as_person(SEATED),
    "guest": as_person(GUEST),
    "stranger": as_person(a_player()),
    "operator": as_operator(a_player()),
    "nobody": as_nobody(),
    "bot runner": as_bot(0),
}
ALWAYS: Final = {"seat", "operator", "bot runner"}
SEEN_BY: Final = {
    access_pb2.Access.WATCHING_UNSPECIFIED: set(CALLERS),
    access_pb2.Access.WATCHING_EVERYBODY: set(CALLERS),
    access_pb2.Access.WATCHING_INVITED: ALWAYS | {"guest"},
    access_pb2.Access.WATCHING_SEATS: ALWAYS,
    99: ALWAYS,
}
"""Who sees what; nobody knows yet what 99 will mean."""

ROLL: Final = message_of(c.Roll(0))

READS: Final[dict[str, Callable[[str], Any]]] = {
    "GetMatch": lambda match_id: pb.GetMatchRequest(match_id=match_id),
    "ReadEvents": lambda match_id: pb.ReadEventsRequest(match_id=match_id),
    "Explain": lambda match_id: pb.ExplainRequest(match_id=match_id, sequence=1),
    "GetHead": lambda match_id: pb.GetHeadRequest(match_id=match_id),
    "ListLegalCommands": lambda match_id: pb.ListLegalCommandsRequest(match_id=match_id),
    "WhyNot": lambda match_id: pb.WhyNotRequest(match_id=match_id, command=ROLL),
    "SubmitCommand": lambda match_id: pb.SubmitCommandRequest(
        match_id=match_id, command_id=a_command(), command=ROLL
    ),
}
"""Every call about one match; what it is refused with otherwise is not for here."""


async def outcome(edge: Edge, method: str, match_id: str, who: str) -> Any:
    """Call a method about a match; return the refusal, None if there is none."""
    call = getattr(edge.matches_as(), method)(READS[method](match_id), metadata=CALLERS[who])
    try:
        await call
    except Exception:  # noqa: BLE001 - the refusal is read from the call itself
        return await refusal(call)
    return None


async def hidden_from(edge: Edge, method: str, match_id: str) -> set[str]:
    """Return for whom it is as if a match were not there, to the letter."""
    found = set()
    for who in CALLERS:
        told = await outcome(edge, method, match_id, who)
        if told == await outcome(edge, method, UNKNOWN, who):
            assert told[:2] == (StatusCode.NOT_FOUND, Reason.MATCH_NOT_FOUND)
            found.add(who)
    return found


@pytest.mark.parametrize("watching", [*SEEN_BY])
async def test_to_whoever_may_not_see_a_match_it_is_not_there(edge: Edge, watching: int) -> None:
    match_id = await create(edge, watched_by(watching, GUEST))

    hidden = {method: await hidden_from(edge, method, match_id) for method in READS}

    assert hidden == dict.fromkeys(READS, set(CALLERS) - SEEN_BY[watching])


async def test_it_stays_hidden_in_quarantine(edge: Edge) -> None:
    quarantined = await create(edge, watched_by(access_pb2.Access.WATCHING_SEATS))
    edge.matches.drop_all(Reason.NOT_OWNER_OF_SHARD)
    await edge.store.quarantine(quarantined, "a test")

    hidden = {method: await hidden_from(edge, method, quarantined) for method in READS}

    assert hidden == dict.fromkeys(READS, set(CALLERS) - ALWAYS)
    told = await outcome(edge, "GetMatch", quarantined, "seat")
    assert told[1] == Reason.MATCH_QUARANTINED


async def test_it_stays_hidden_where_its_engine_cannot_read_it(edge: Edge) -> None:
    """The key of its seed is not there."""
    match_id = await create(edge, watched_by(access_pb2.Access.WATCHING_SEATS))
    edge.matches.drop_all(Reason.NOT_OWNER_OF_SHARD)
    stream = edge.store._streams[MatchId(match_id)]
    stream.seed = SealedSeed("seal-0099", stream.seed.sealed)

    hidden = {method: await hidden_from(edge, method, match_id) for method in READS}

    assert hidden == dict.fromkeys(READS, set(CALLERS) - ALWAYS)
    told = await outcome(edge, "GetMatch", match_id, "seat")
    assert told[1] == Reason.STORE_UNAVAILABLE


async def test_services_see_everything_and_the_gateway_nothing_as_itself(edge: Edge) -> None:
    match_id = await create(edge, watched_by(access_pb2.Access.WATCHING_SEATS))
    request = pb.ReadEventsRequest(match_id=match_id)
    listing = pb.ListMatchesRequest()
    for service in ("lobby", "timer", "progression", "bot_runner"):
        stub = edge.matches_as(service)
        assert (await stub.ReadEvents(request)).records
        assert [each.match_id for each in (await stub.ListMatches(listing)).matches] == [match_id]

    gateway = edge.matches_as()

    assert (await refusal(gateway.ReadEvents(request)))[1] == Reason.MATCH_NOT_FOUND
    assert not (await gateway.ListMatches(listing)).matches


class TestLists:
    async def ids(self, edge: Edge, who: str, **asked: Any) -> list[str]:
        request, found = pb.ListMatchesRequest(page_size=2, **asked), []
        while True:
            page = await edge.matches_as().ListMatches(request, metadata=CALLERS[who])
            found += [summary.match_id for summary in page.matches]
            if not page.next_page_token:
                return found
            assert len(page.matches) == 2
            request.page_token = page.next_page_token

    @pytest.mark.parametrize("who", [*CALLERS])
    async def test_what_one_may_see_is_listed_in_full_pages(self, edge: Edge, who: str) -> None:
        made = []
        for n in range(9):
            edge.clock.advance(1)
            watching = [*SEEN_BY][n % len(SEEN_BY)]
            made.append((await create(edge, watched_by(watching, GUEST)), watching))
        expected = [match_id for match_id, watching in made[::-1] if who in SEEN_BY[watching]]

        assert sorted(await self.ids(edge, who)) == sorted(expected)
        running = await self.ids(edge, who, status=match_pb2.MatchSummary.STATUS_RUNNING)
        assert sorted(running) == sorted(expected)
        mine = await self.ids(edge, who, mine=True)
        assert len(mine) == (len(made) if who == "seat" else 0)


class TestAdmitGuest:
    async def test_a_guest_sees_the_match_from_then_on(self, edge: Edge) -> None:
        match_id, late = await create(edge, watched_by(2)), a_player()
        request = pb.AdmitGuestRequest(match_id=match_id, player_id=late)
        look = pb.GetMatchRequest(match_id=match_id)
        stub, lobby = edge.matches_as(), edge.matches_as("lobby")
        before = await refusal(stub.GetMatch(look, metadata=as_person(late)))

        for _ in range(2):
            await lobby.AdmitGuest(request)

        assert before[1] == Reason.MATCH_NOT_FOUND
        assert (await stub.GetMatch(look, metadata=as_person(late))).match_id == match_id
        edge.matches.drop_all(Reason.NOT_OWNER_OF_SHARD)
        assert (await stub.GetMatch(look, metadata=as_person(late))).match_id == match_id

    async def test_a_guest_of_a_match_for_its_seats_alone_does_not(self, edge: Edge) -> None:
        match_id, late = await create(edge, watched_by(3)), a_player()
        request = pb.AdmitGuestRequest(match_id=match_id, player_id=late)
        await edge.matches_as("lobby").AdmitGuest(request)
        call = edge.matches_as().GetMatch(
            pb.GetMatchRequest(match_id=match_id), metadata=as_person(late)
        )

        assert (await refusal(call))[1] == Reason.MATCH_NOT_FOUND

    async def test_guests_are_let_into_a_match_in_quarantine(self, edge: Edge) -> None:
        match_id, late = await create(edge, watched_by(2)), a_player()
        edge.matches.drop_all(Reason.NOT_OWNER_OF_SHARD)
        await edge.store.quarantine(match_id, "a test")

        await edge.matches_as("lobby").AdmitGuest(
            pb.AdmitGuestRequest(match_id=match_id, player_id=late)
        )

        assert late in (await kept(edge.store, match_id)).guests

    async def test_there_must_be_a_match_and_a_guest(self, edge: Edge) -> None:
        lobby = edge.matches_as("lobby")
        unknown = pb.AdmitGuestRequest(match_id=UNKNOWN, player_id=GUEST)
        nothing = pb.AdmitGuestRequest()

        assert (await refusal(lobby.AdmitGuest(unknown)))[1] == Reason.MATCH_NOT_FOUND
        assert (await refusal(lobby.AdmitGuest(nothing)))[1:] == (
            Reason.INVALID_REQUEST,
            {"fields": "match_id,player_id"},
        )

    async def test_a_writer_that_was_replaced_admits_nobody(self) -> None:
        table = await private_table()
        await table.at(table.rig.other()).live()

        with refused_as(Reason.NOT_OWNER_OF_SHARD):
            await table.rig.decider.admit(table.match_id, GUEST)

        assert table.rig.matches.loaded() == []
        assert GUEST not in (await kept(table.rig.store, table.match_id)).guests
        assert await table.rig.store.admit(table.match_id, 1, GUEST) == Fenced()


async def kept(store: Directory, match_id: MatchId) -> Access:
    """Return who may see a match, as the store has it."""
    label = await store.label(match_id)
    assert label is not None
    return label.access


async def private_table(rig: Rig | None = None) -> Table:
    rig = rig or Rig()
    request = new_match(MatchId(fresh_id(NOW_MS)))
    request.access.CopyFrom(watched_by(2, OTHER))
    await rig.decider.create(request, CommandId(request.command_id))
    return Table(rig, MatchId(request.match_id))


class TestHowItIsKept:
    async def test_another_engine_that_takes_over_keeps_it(self) -> None:
        table = await private_table()
        await table.rig.decider.admit(table.match_id, GUEST)

        live = await table.at(table.rig.other()).live()

        assert live.access == Access(Watching.INVITED, frozenset({OTHER, GUEST}))
        assert live.access == (await table.live()).access

    @pytest.mark.parametrize("fault", [Fault.LOST_REPLY, Fault.LOST_REQUEST])
    async def test_it_is_there_whenever_the_match_is(self, fault: Fault) -> None:
        rig = Rig()
        rig.faults.plan("create", fault)
        table = await private_table(rig)

        access = await kept(rig.store, table.match_id)

        assert rig.faults.calls[0] == "create"
        assert access == Access(Watching.INVITED, frozenset({OTHER}))

    async def test_a_creation_that_comes_again_with_another_changes_nothing(self) -> None:
        rig = Rig()
        request = new_match(MatchId(fresh_id(NOW_MS)))
        request.access.watching = access_pb2.Access.WATCHING_SEATS
        first = await rig.decider.create(request, CommandId(request.command_id))
        request.access.watching = access_pb2.Access.WATCHING_EVERYBODY

        again = await rig.decider.create(request, CommandId(request.command_id))

        assert again == first
        assert await kept(rig.store, MatchId(request.match_id)) == Access(Watching.SEATS)

    async def test_it_is_no_part_of_the_record(self) -> None:
        table = await private_table()

        assert all(OTHER.encode() not in record.data for record in await table.records())

    @pytest.mark.parametrize(
        ("guests", "field"),
        [
            (["x"], "access.guest_ids[0]"),
            ([max(OTHER, GUEST), min(OTHER, GUEST)], "access.guest_ids[1]"),
            ([GUEST, GUEST], "access.guest_ids[1]"),
            ([GUEST] * 1001, "access.guest_ids"),
        ],
        ids=["no id", "another order", "twice", "too many"],
    )
    async def test_guests_make_sense(self, edge: Edge, guests: list[str], field: str) -> None:
        request = new_match(MatchId(fresh_id(NOW_MS)))
        request.access.guest_ids.extend(guests)

        told = await refusal(edge.matches_as("lobby").CreateMatch(request))

        assert told[1:] == (Reason.INVALID_REQUEST, {"fields": field})


class TestLabelling:
    async def test_matches_of_an_earlier_release_are_labelled_once(self) -> None:
        rig = Rig()
        tables = [await rig.table(people=2, bots=1) for _ in range(3)]
        for table in tables:
            stream_of(table)._label = None
        broken = stream_of(tables[1])._records
        broken[0] = broken[0]._replace(data=b"\xff")

        await labelling.Labelling(rig.store).label_all()

        assert [match_id for match_id, _ in await rig.store.unlabelled()] == [tables[1].match_id]
        for table in (tables[0], tables[2]):
            people = tuple(spec.player for spec in (await table.match()).specs if spec.player)
            expected = Label("opolyx.classic@2", people)
            assert await rig.store.label(table.match_id) == expected
            assert len(people) == 2

    async def test_a_store_that_is_away_is_asked_again(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(labelling, "INTERVAL_S", 0.001)
        rig = Rig()
        table = await rig.table(people=1, bots=1)
        stream_of(table)._label = None
        rig.faults.plan("unlabelled", Fault.UNAVAILABLE)

        async def is_labelled() -> bool:
            return not await rig.store.unlabelled()

        running = asyncio.create_task(labelling.Labelling(rig.far).run())
        await until(is_labelled)
        await end(running)

        assert rig.faults.calls.count("unlabelled") > 1
