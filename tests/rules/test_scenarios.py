"""Every scenario file of the rules, played; which rules a file shows is said in the file."""

from pathlib import Path
from typing import Final

import pytest

from libs.scenarios.files import read_file
from libs.scenarios.running import run

FILES: Final = sorted((Path(__file__).parent / "scenarios").glob("*.json"))


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_scenario(path: Path) -> None:
    scenario = read_file(path)

    outcome = run(scenario)

    assert [str(failure) for failure in outcome.failures] == []
    assert scenario.scenario_id == path.stem
