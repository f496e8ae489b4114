from typing import Any

import pytest

from libs.kernel.command_ids import bot_id
from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.store.memory import Fault
from opolyx.engine.v1.caller_pb2 import Caller
from tests.match_engine.edge_rig import (
    NOW_MS,
    Edge,
    EdgeStore,
    Open,
    a_bot,
    a_command,
    a_player,
)
from tests.match_engine.frames import (
    frame,
    seed,
    two_people,
)


class TestResults:
    async def test_an_accepted_command_is_durable_and_its_result_says_where(
        self, edge: Edge, decide: Open
    ) -> None:
        seats, wire = await two_people(edge), await decide()
        sent = seats.frame(1, seed())
        await wire.send(sent)
        result = await wire.read("result")

        (stored,) = await edge.store.records(seats.match_id, result.accepted.first_sequence - 1)
        assert result.tag == sent.command.tag
        assert result.accepted.sequence == stored.last_seq
        assert result.accepted.chain_hash == stored.hash
        assert result.accepted.at_ms == NOW_MS
        assert b"seat:1" in stored.data

    async def test_the_same_again_has_the_same_result(self, edge: Edge, decide: Open) -> None:
        seats, wire = await two_people(edge), await decide()
        command_id = a_command()
        for _ in range(2):
            await wire.send(seats.frame(0, seed(), command_id=command_id))
        first, again = [await wire.read("result") for _ in range(2)]

        assert first.accepted == again.accepted
        assert first.tag != again.tag

    async def test_what_the_rules_refuse_is_told_with_its_facts(
        self, edge: Edge, decide: Open
    ) -> None:
        seats, wire = await two_people(edge), await decide()
        await wire.send(seats.frame(0, seed()))
        await wire.send(seats.frame(0, seed()))
        await wire.send(seats.frame(0, c.Roll(0)))
        results = [await wire.read("result") for _ in range(3)]

        assert results[0].HasField("accepted")
        assert [result.refused.reason for result in results[1:]] == [
            Reason.SEED_TOO_LATE,
            Reason.MATCH_NOT_STARTED,
        ]
        assert results[1].refused.metadata["rule"] == "FAIR-1"
        assert not results[1].refused.HasField("retry_after_ms")

    async def test_a_stale_sequence_is_refused(self, edge: Edge, decide: Open) -> None:
        seats, wire = await two_people(edge), await decide()
        head = (await edge.decider.read(seats.match_id)).chain.last_seq
        await wire.send(seats.frame(0, seed(), expected_sequence=head - 1))
        await wire.send(seats.frame(0, seed(), expected_sequence=head))
        stale, good = [await wire.read("result") for _ in range(2)]

        assert stale.refused.reason == Reason.STALE_SEQUENCE
        assert good.HasField("accepted")

    @pytest.mark.parametrize(
        ("more", "fields"),
        [
            ({"match_id": "x"}, "match_id"),
            ({"match_id": "é"}, "match_id"),
            ({"command_id": ""}, "command_id"),
            ({"command_id": "0190a000-0000-5000-8000-000000000000"}, "command_id"),
            ({"command": None}, "command"),
            ({"expected_sequence": -1}, "expected_sequence"),
        ],
    )
    async def test_what_makes_no_sense_is_told_by_field_and_hurts_no_other(
        self, edge: Edge, decide: Open, more: dict[str, Any], fields: str
    ) -> None:
        seats, wire = await two_people(edge), await decide()
        await wire.send(seats.frame(0, seed(), **more))
        await wire.send(seats.frame(0, seed()))
        wrong, right = [await wire.read("result") for _ in range(2)]

        assert wrong.refused.reason == Reason.INVALID_REQUEST
        assert wrong.refused.metadata == {"fields": fields}
        assert [violation.field for violation in wrong.refused.violations] == [fields]
        assert right.HasField("accepted")

    async def test_who_has_no_seat_is_told(self, edge: Edge, decide: Open) -> None:
        seats, wire = await two_people(edge), await decide()
        callers = [
            Caller(player_id=a_player()),
            Caller(operator_id=a_player()),
            Caller(bot_seat=0),
            Caller(service="timer"),
            Caller(),
        ]
        for caller in callers:
            await wire.send(frame(seats.match_id, caller, seed()))
        results = [await wire.read("result") for _ in callers]

        assert {result.refused.reason for result in results} == {Reason.NOT_SEATED}

    async def test_a_bot_acts_once_under_an_id_of_its_own(self, edge: Edge, decide: Open) -> None:
        match_id = await edge.create([a_bot(), a_bot()])
        live = await edge.decider.read(match_id)
        seat, head = live.match.turn, live.chain.last_seq
        wire = await decide()
        for _ in range(2):
            sent = frame(
                match_id,
                Caller(bot_seat=seat),
                c.Roll(0),
                command_id=bot_id(match_id, head, seat),
                expected_sequence=head,
            )
            await wire.send(sent)
        first, again = [await wire.read("result") for _ in range(2)]

        assert first.accepted.first_sequence == head + 1
        assert again.accepted == first.accepted

    async def test_an_unknown_match_is_told(self, decide: Open) -> None:
        wire = await decide()
        await wire.send(frame("0190a000-0000-7000-8000-000000000000", Caller(bot_seat=0), seed()))

        assert (await wire.read("result")).refused.reason == Reason.MATCH_NOT_FOUND

    async def test_another_engines_match_is_told_with_when_to_try_again(
        self, edge: Edge, decide: Open
    ) -> None:
        seats, wire = await two_people(edge), await decide()
        edge.is_ours = False
        await wire.send(seats.frame(0, seed()))
        refused = (await wire.read("result")).refused

        assert refused.reason == Reason.NOT_OWNER_OF_SHARD
        assert refused.retry_after_ms > 0

    async def test_a_store_that_is_away_is_told(
        self, edge: Edge, store: EdgeStore, decide: Open
    ) -> None:
        seats, wire = await two_people(edge), await decide()
        store.fault = Fault.UNAVAILABLE
        await wire.send(seats.frame(0, seed()))

        assert (await wire.read("result")).refused.reason == Reason.STORE_UNAVAILABLE

    async def test_a_bug_is_told_as_one_and_hurts_no_other(
        self, edge: Edge, store: EdgeStore, decide: Open
    ) -> None:
        seats, wire = await two_people(edge), await decide()
        store.has_bug = True
        await wire.send(seats.frame(0, seed()))
        broken = await wire.read("result")
        store.has_bug = False
        await wire.send(seats.frame(0, seed()))

        assert broken.refused.reason == "INTERNAL"
        assert "ZeroDivision" not in broken.refused.text
        assert (await wire.read("result")).HasField("accepted")
