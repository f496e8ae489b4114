"""Whatever is sent is answered by a typed error, and touches nobody. `python -m tests.fuzz` does
the same with ten thousand of each.
"""

from collections.abc import AsyncIterator

import pytest

from tests.e2e.rig import Stage, on_stage
from tests.fuzz.commands import fuzz_commands
from tests.fuzz.mutating import mutated
from tests.fuzz.running import FAMILIES, SETTINGS, fuzz_all
from tests.support.system import running_system
from tests.support.walks import Dice

COUNT = 300


@pytest.fixture(scope="module")
async def stage() -> AsyncIterator[Stage]:
    """Return a whole system that runs."""
    async with running_system(**SETTINGS) as system, on_stage(system) as stage:
        yield stage


@pytest.mark.slow
@pytest.mark.postgres
async def test_nonsense_is_refused_in_so_many_words_and_touches_nobody(stage: Stage) -> None:
    found = [each async for each in fuzz_all(stage, COUNT, seed=7)]

    assert [each.outcome.wrong for each in found] == [[]] * len(found)
    assert {each.family for each in found} == set(FAMILIES)
    assert {each.outcome.sent for each in found} == {COUNT}
    reasons = {reason for each in found for reason in each.outcome.refused}
    assert reasons >= {"INVALID_REQUEST", "MATCH_NOT_FOUND"}
    assert "rpc_failed" not in stage.system.log.read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.postgres
async def test_random_commands_are_refused_or_are_in_the_record_once(stage: Stage) -> None:
    played = await fuzz_commands(stage, COUNT, seed=7)

    assert played.sent >= COUNT
    assert played.accepted + sum(played.refused.values()) == played.sent
    assert len(played.refused) > 3


def test_a_request_that_was_changed_is_hardly_ever_the_same() -> None:
    data = bytes(range(40))
    changed = [mutated(data, Dice(seed)) for seed in range(200)]

    assert sum(each == data for each in changed) < 10
    assert len(set(changed)) > 150
    assert changed == [mutated(data, Dice(seed)) for seed in range(200)]


def test_nothing_can_be_changed_too() -> None:
    assert {mutated(b"", Dice(seed)) for seed in range(50)} > {b""}
