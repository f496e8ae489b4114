"""Matches are made, once, each with a seed that it commits to (FAIR-1, W3, W6)."""

import asyncio

import pytest

from libs.kernel.chance import commitment
from libs.kernel.ids import CommandId, MatchId, fresh_id
from libs.kernel.reasons import Reason
from libs.rules import events as e
from libs.rules import phases
from libs.store.memory import Fault
from libs.store.ports import FIRST_FENCE, StoreUnavailableError
from libs.wire.record import SYSTEM, decode
from libs.wire.requests import MalformedError
from opolyx.match.v1 import match_service_pb2 as pb
from opolyx.record.v1 import event_pb2
from services.match_engine.creating import ATTEMPTS
from services.match_engine.deciding import Accepted
from tests.match_engine.rig import START_MS, Gate, Rig, Table, a_command_id, new_match, refused_as


def a_match_id() -> MatchId:
    return MatchId(fresh_id(START_MS))


async def create(rig: Rig, request: pb.CreateMatchRequest) -> Accepted:
    return await rig.decider.create(request, CommandId(request.command_id))


async def test_a_match_of_bots_starts_at_once() -> None:
    rig = Rig()
    request = new_match(a_match_id(), bots=3)
    accepted = await create(rig, request)
    table = Table(rig, MatchId(request.match_id))
    (stored,) = await table.records()
    record = decode(stored.data)

    assert accepted == (1, stored.last_seq, stored.hash, START_MS)
    assert (record.command_id, record.actor) == (request.command_id, SYSTEM)
    assert record.fence == FIRST_FENCE
    assert (await table.match()).phase == phases.ROLL
    assert rig.heard.records == [stored]
    assert rig.faults.calls == ["create"]


async def test_a_match_of_people_waits_for_their_seeds() -> None:
    table = await Rig().table(people=2, bots=0)

    assert (await table.match()).phase == phases.SEEDING
    assert (await table.deadline()).due == START_MS + (await table.match()).rules.seeding_ms


async def test_the_seed_is_committed_to_sealed_and_nowhere_else() -> None:
    table = await Rig().table()
    sealed = await table.rig.store.seed(table.match_id)
    assert sealed is not None
    seed = table.rig.seeds.unseal(table.match_id, sealed)
    created = (await table.events())[0]

    assert isinstance(created, e.MatchCreated)
    assert created.commitment == commitment(table.match_id, seed)
    assert seed not in sealed.sealed
    assert all(seed not in record.data for record in await table.records())


async def test_each_match_has_a_seed_of_its_own() -> None:
    rig = Rig()
    matches = [await (await rig.table()).match() for _ in range(3)]

    assert len({match.commitment for match in matches}) == 3


class TestRepeats:
    async def test_the_same_again_gets_the_same_reply(self) -> None:
        rig = Rig()
        request = new_match(a_match_id())
        first = await create(rig, request)

        assert await create(rig, request) == first
        assert await create(rig.other(), request) == first
        assert rig.heard.records[1:] == []

    async def test_also_when_the_match_has_gone_on(self) -> None:
        rig = Rig()
        request = new_match(a_match_id())
        first = await create(rig, request)
        table = Table(rig, MatchId(request.match_id))
        live = await table.live()
        for _ in range(5):
            await table.act()

        assert await create(rig, request) == first
        assert await table.live() is live

    async def test_two_at_once_are_one(self) -> None:
        rig = Rig()
        request = new_match(a_match_id())
        first, second = await asyncio.gather(create(rig, request), create(rig.other(), request))

        assert first == second
        assert len(await Table(rig, MatchId(request.match_id)).records()) == 1

    async def test_other_seats_under_the_same_id_are_refused(self) -> None:
        rig = Rig()
        request = new_match(a_match_id())
        await create(rig, request)
        request.seats.append(request.seats[0])
        with refused_as(Reason.COMMAND_ID_REUSED):
            await create(rig, request)

    async def test_even_seats_that_no_rules_would_allow(self) -> None:
        rig = Rig()
        request = new_match(a_match_id())
        await create(rig, request)
        del request.seats[1:]
        with refused_as(Reason.COMMAND_ID_REUSED):
            await create(rig, request)

    async def test_the_same_match_under_another_id_is_refused(self) -> None:
        rig = Rig()
        request = new_match(a_match_id())
        await create(rig, request)
        request.command_id = a_command_id()
        with refused_as(Reason.MATCH_EXISTS) as told:
            await create(rig, request)

        assert told == {"match_id": request.match_id}


class TestWhatNoMatchCanBe:
    @pytest.mark.parametrize("bots", [0, 1, 7])
    async def test_seats_that_the_rules_do_not_allow(self, bots: int) -> None:
        rig = Rig()
        with refused_as(Reason.INVALID_REQUEST) as told:
            await create(rig, new_match(a_match_id(), bots=bots))

        assert told == {"rule": "SETUP-1", "seats": str(bots)}
        assert await rig.store.match_ids() == []

    async def test_an_unknown_rule_set(self) -> None:
        with refused_as(Reason.INVALID_REQUEST):
            await create(Rig(), new_match(a_match_id(), rule_set="opolyx.chess@1"))

    async def test_a_seat_of_no_kind(self) -> None:
        request = new_match(a_match_id())
        request.seats.append(event_pb2.SeatSpec())
        with pytest.raises(MalformedError):
            await create(Rig(), request)


class TestOutcomes:
    """W6."""

    async def test_an_answer_that_was_lost(self) -> None:
        rig = Rig()
        rig.faults.plan("create", Fault.LOST_REPLY)
        request = new_match(a_match_id())
        accepted = await create(rig, request)
        table = Table(rig, MatchId(request.match_id))
        (stored,) = await table.records()

        assert accepted.chain_hash == stored.hash
        assert (await table.act()).first_sequence == accepted.sequence + 1

    async def test_a_request_that_was_lost(self) -> None:
        rig = Rig()
        rig.faults.plan("create", Fault.LOST_REQUEST)
        request = new_match(a_match_id())
        accepted = await create(rig, request)

        assert await create(rig, request) == accepted
        assert rig.faults.calls[:2] == ["create", "create"]

    async def test_a_store_that_never_answers_is_given_up(self) -> None:
        rig = Rig()
        rig.faults.plan("create", *[Fault.LOST_REQUEST] * ATTEMPTS)
        with refused_as(Reason.STORE_UNAVAILABLE):
            await create(rig, new_match(a_match_id()))

    async def test_a_store_that_is_away(self) -> None:
        rig = Rig()
        rig.faults.plan("create", Fault.UNAVAILABLE)
        request = new_match(a_match_id())
        with pytest.raises(StoreUnavailableError):
            await create(rig, request)
        await create(rig, request)

    async def test_a_cancelled_caller_cancels_no_commit(self) -> None:
        rig = Rig()
        gate = Gate(rig.faults, "create")
        request = new_match(a_match_id())
        creating = asyncio.create_task(create(rig, request))
        await gate.reached.wait()
        creating.cancel()
        with pytest.raises(asyncio.CancelledError):
            await creating
        gate.open.set()
        await rig.decider.settle()

        assert await rig.store.match_ids() == [request.match_id]

    async def test_a_shard_that_was_lost_meanwhile(self) -> None:
        """The match is made, and whoever owns the shard now plays it."""
        rig = Rig()
        gate = Gate(rig.faults, "create")
        request = new_match(a_match_id())
        creating = asyncio.create_task(create(rig, request))
        await gate.reached.wait()
        rig.shards.owned = False
        gate.open.set()
        await creating

        assert rig.matches.loaded() == []
        assert (await Table(rig.other(), MatchId(request.match_id)).act()).sequence > 5
