from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from libs.rules import commands as c
from tests.match_engine.edge_rig import (
    Edge,
    a_bot,
    a_person,
    a_player,
    as_person,
    opened,
    submission,
)


@pytest.fixture
async def edge(tmp_path: Path) -> AsyncIterator[Edge]:
    async with opened(tmp_path) as edge:
        yield edge


async def test_a_persons_command_is_that_of_their_seat(edge: Edge) -> None:
    player = a_player()
    match_id = await edge.create([a_bot(), a_person(player)])
    asked = submission(match_id, c.ContributeSeed(0, b"x" * 16))

    got = await edge.matches_as().SubmitCommand(asked, metadata=as_person(player))

    (stored,) = await edge.store.records(match_id, got.first_sequence - 1)
    assert (got.first_sequence, got.sequence) == (stored.first_seq, stored.last_seq)
    assert got.chain_hash == stored.hash
    assert b"seat:1" in stored.data
