"""Many matches: the same outcome on any number of cores, under any hash seed, each time."""

import json
import os
import pickle
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from libs.rules import commands as c
from libs.rules.rule_sets import UnknownRuleSetError
from libs.simulation.keeping import KEY_FILE
from libs.simulation.playing import BrokenPlayError, set_up
from libs.simulation.simulating import InvalidOrderError, Order, Outcome, simulate
from libs.wire.chain import follow, rebuild
from libs.wire.export import read_export
from tests.support.builders import RULE_SETS
from tests.support.repository import ROOT

ORDER = Order(rule_set="opolyx.speed@2", seats=4, matches=6, seed=3)

PROGRAM = """
import dataclasses, json, pathlib, sys
from libs.simulation.simulating import Order, simulate
if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1])
    order = Order(rule_set="opolyx.speed@2", seats=4, matches=6, seed=3, keep=folder)
    print(json.dumps(dataclasses.asdict(simulate(order, jobs=int(sys.argv[2])))))
"""


def timeless(outcome: dict[str, object]) -> dict[str, object]:
    """Leave out what depends on the machine."""
    return {name: value for name, value in outcome.items() if "cpu" not in name}


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_the_outcome_counts_what_was_played() -> None:
    told: list[int] = []
    outcome = simulate(ORDER, on_progress=told.append)

    assert sum(told) == outcome.matches == 6
    assert sum(outcome.wins_by_seat) == 6
    assert len(outcome.wins_by_seat) == 4
    assert sum(outcome.ended_by.values()) == 6
    assert outcome.events > outcome.dice_moves > outcome.rounds_mean * 6
    assert outcome.moves_per_cpu_s > 0
    assert len(bytes.fromhex(outcome.final_hash)) == 32


def test_in_teams_everybody_of_a_side_wins() -> None:
    outcome = simulate(Order(rule_set="opolyx.teams@2", seats=6, matches=4))

    assert sum(outcome.wins_by_seat) == 4 * 3
    assert outcome.wins_by_seat[0] == outcome.wins_by_seat[2] == outcome.wins_by_seat[4]


def test_another_seed_gives_another_outcome() -> None:
    other = Order(rule_set="opolyx.speed@2", seats=4, matches=6, seed=4)

    assert simulate(ORDER).final_hash == simulate(ORDER).final_hash
    assert simulate(ORDER).final_hash != simulate(other).final_hash


def test_no_matches_at_all_are_no_trouble() -> None:
    outcome = simulate(Order(rule_set="opolyx.classic@2", seats=2, matches=0))

    assert (outcome.matches, outcome.rounds_mean, outcome.wins_by_seat) == (0, 0.0, [0, 0])


def run(folder: Path, hash_seed: str, jobs: int) -> dict[str, object]:
    """Simulate in a process of its own, with a hash seed of its own."""
    program = folder / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    paths = os.pathsep.join([str(ROOT), str(ROOT / "protos/gen")])
    done = subprocess.run(
        [sys.executable, str(program), str(folder / "kept"), str(jobs)],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": paths},
    )
    outcome: dict[str, object] = json.loads(done.stdout)
    return timeless(outcome)


def test_neither_processes_nor_hash_seeds_change_anything(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("one", "two", "three")]
    for folder in folders:
        folder.mkdir()
    first = run(folders[0], "1", jobs=1)
    others = [run(folders[1], "2", jobs=2), run(folders[2], "3", jobs=3)]
    expected: Outcome = simulate(ORDER)

    assert first == timeless(asdict(expected))
    assert others == [first, first]
    assert contents(folders[0] / "kept") == contents(folders[1] / "kept")
    assert contents(folders[0] / "kept") == contents(folders[2] / "kept")


@pytest.mark.parametrize("rule_set", RULE_SETS)
def test_kept_matches_are_whole_exports(rule_set: str, tmp_path: Path) -> None:
    simulate(Order(rule_set=rule_set, seats=4, matches=2, keep=tmp_path))
    names = sorted(path.name for path in tmp_path.iterdir())
    export = read_export((tmp_path / names[1]).read_bytes())
    records = list(follow(export.records))
    match = rebuild(export.records)
    key = json.loads((tmp_path / KEY_FILE).read_text(encoding="ascii"))["keys"][0]

    assert names == [KEY_FILE, "match-000000.opolyx", "match-000001.opolyx"]
    assert export.head.ended
    assert export.head.key_id == key["key_id"]
    assert match.winners
    assert match.sequence == export.head.last_seq
    assert records[0].actor == "system"
    assert {record.actor for record in records[1:]} <= {"system", *(f"seat:{n}" for n in range(4))}
    assert len({record.command_id for record in records}) == len(records)


def test_keeping_and_checking_change_no_outcome(tmp_path: Path) -> None:
    watched = Order(
        rule_set="opolyx.speed@2", seats=4, matches=6, seed=3, keep=tmp_path, check=True
    )

    assert timeless(asdict(simulate(watched))) == timeless(asdict(simulate(ORDER)))


@pytest.mark.parametrize(
    ("rule_set", "seats", "strengths"),
    [
        ("opolyx.teams@2", 5, ("steady",)),
        ("opolyx.classic@2", 1, ("steady",)),
        ("opolyx.classic@2", 7, ("steady",)),
        ("opolyx.classic@2", 4, ("steady", "reckless")),
        ("opolyx.classic@2", 4, ()),
    ],
)
def test_what_cannot_be_played_cannot_be_ordered(
    rule_set: str, seats: int, strengths: tuple[str, ...]
) -> None:
    with pytest.raises(InvalidOrderError):
        Order(rule_set=rule_set, seats=seats, matches=1, strengths=strengths)


def test_an_unknown_rule_set_cannot_be_ordered() -> None:
    with pytest.raises(UnknownRuleSetError):
        Order(rule_set="opolyx.chess@1", seats=2, matches=1)


@pytest.mark.parametrize("matches", [-1, -100])
def test_a_negative_number_of_matches_cannot_be_ordered(matches: int) -> None:
    with pytest.raises(InvalidOrderError):
        Order(rule_set="opolyx.classic@2", seats=2, matches=matches)


def test_what_broke_in_another_process_is_told_in_full() -> None:
    setup = set_up("opolyx.classic@2", 4, 1, 0)
    broken = BrokenPlayError(setup, 7, c.Roll(0))
    arrived = pickle.loads(pickle.dumps(broken))  # noqa: S301 - as processes do

    assert isinstance(arrived, BrokenPlayError)
    assert arrived.args == (setup, 7, c.Roll(0))
