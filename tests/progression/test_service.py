"""The whole service: records come in by the log, and profiles go out by gRPC."""

from pathlib import Path

import pytest

from tests.progression.engine import Engine
from tests.progression.served import serving
from tests.support.matches import play_match
from tests.support.waiting import until

pytestmark = pytest.mark.postgres


async def test_a_match_played_to_its_end_is_rewarded(
    emptied: str, tmp_path: Path, engine: Engine
) -> None:
    table = play_match("opolyx.classic@2", 3, seed=2)
    player = table.match.specs[0].player
    async with serving(emptied, tmp_path, engine.address) as served:
        await served.publish(table.chain.match_id, table.records)
        await until(served.has_rewards(player))
        profile = await served.profile(player)

    assert profile.sequence == 2
