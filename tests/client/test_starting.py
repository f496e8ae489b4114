"""From nothing to a match in one call, and nothing left behind by one that is refused."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from libs.client import ConnectionLostError, RefusedError
from tests.support.system import System, running_system

pytestmark = [pytest.mark.slow, pytest.mark.postgres]


@pytest.fixture(scope="module")
async def system() -> AsyncIterator[System]:
    async with running_system() as system:
        yield system


async def test_a_match_starts_with_the_caller_on_seat_0(system: System) -> None:
    async with system.client("ann") as client:
        match_id = await client.start_match("opolyx.classic@2", ["steady", "novice"])
        async with client.play(match_id) as table:
            turn = await anext(table.turns(b"sixteen bytes at"))

            assert turn.seat == 0
            assert [spec.strength for spec in table.match.specs] == ["", "steady", "novice"]
            assert table.match.client_seeds[0] == b"sixteen bytes at"


async def test_everybody_may_look_on(system: System) -> None:
    async with system.client("dee") as client, system.client("onlooker") as other:
        match_id = await client.start_match()
        async with other.watch(match_id) as table:
            await anext(table)

            assert table.match.match_id == match_id


async def test_what_is_refused_leaves_its_caller_free(system: System) -> None:
    async with system.client("bob") as client:
        with pytest.raises(RefusedError) as error:
            await client.start_match(bots=["nobody"])
        match_id = await client.start_match(bots=["steady"])

    assert (error.value.reason, error.value.metadata) == ("INVALID_REQUEST", {"fields": "strength"})
    assert match_id


async def test_who_is_in_a_match_is_told_in_which(system: System) -> None:
    async with system.client("eve") as client:
        match_id = await client.start_match()
        with pytest.raises(RefusedError) as error:
            await client.start_match()
        async with client.play(error.value.metadata["match_id"]) as table:
            await anext(table)

    assert error.value.reason == "ALREADY_IN_MATCH"
    assert error.value.metadata["match_id"] == match_id


async def test_two_who_want_the_same_find_each_other_for_a_quick_match(system: System) -> None:
    async with system.client("fay") as fay, system.client("gil") as gil:
        found = await asyncio.gather(*(who.quick_match(seats=2) for who in (fay, gil)))
        async with fay.play(found[0]) as table:
            await anext(table)

            assert found[0] == found[1]
            assert [spec.strength for spec in table.match.specs] == ["", ""]


async def test_bots_come_to_a_quick_match_where_nobody_else_does(system: System) -> None:
    async with system.client("hal") as client:
        match_id = await client.quick_match("opolyx.speed@2", 3)
        async with client.play(match_id) as table:
            await anext(table)

            assert [bool(spec.strength) for spec in table.match.specs].count(True) == 2


async def test_who_gives_a_quick_match_up_is_free(system: System) -> None:
    async with system.client("ida") as client:
        with pytest.raises(ConnectionLostError):
            await client.quick_match("opolyx.speed@1", 3, timeout_s=0.5)

        assert await client.start_match()
