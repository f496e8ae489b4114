"""Real matches, played by bots to their end: they verify, and nothing else does."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from libs.bots.strengths import STRENGTHS
from libs.rules.rule_sets import RULE_SETS
from libs.simulation.keeping import Recording
from libs.simulation.playing import run_match, set_up
from libs.verify import MISMATCH, OK, verify
from libs.wire.heads import key_file
from tests.support.forging import KEY

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("rule_set", RULE_SETS)
def test_a_whole_match_verifies_and_a_thousand_mutated_ones_do_not(
    rule_set: str, tmp_path: Path
) -> None:
    setup = set_up(rule_set, 4, 17, 0, tuple(STRENGTHS))
    recording = Recording(setup)
    run_match(setup, recording)
    export = recording.export(KEY)
    path, keys = tmp_path / "match.opolyx", tmp_path / "keys.json"
    path.write_bytes(export)
    keys.write_text(key_file([KEY]))
    assert verify(path, keys).code == OK

    @settings(max_examples=1_000, database=None)
    @given(st.integers(0, len(export) - 1), st.integers(0, 2), st.binary(max_size=2))
    def mutate(at: int, cut: int, more: bytes) -> None:
        mutated = export[:at] + more + export[at + cut :]
        path.write_bytes(mutated)
        assert mutated == export or verify(path, keys).code == MISMATCH

    mutate()
