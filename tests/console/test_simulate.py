"""``opolyx simulate``: many matches, the same numbers each time."""

import json
import os
import subprocess
import sys
from errno import ENOSPC
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from services.console.app import app
from tests.support.repository import ROOT


def simulate(cli: CliRunner, *arguments: str) -> Result:
    """Simulate three matches of two seats."""
    return cli.invoke(app, ["simulate", "--seats", "2", "--matches", "3", *arguments])


def figures(cli: CliRunner, *arguments: str) -> dict[str, Any]:
    """Return the figures of a simulation."""
    return dict(json.loads(simulate(cli, "-o", "json", *arguments).stdout))


def test_the_figures_are_those_that_are_promised(cli: CliRunner) -> None:
    told = figures(cli)

    assert list(told) == [
        "matches",
        "rounds_mean",
        "dice_moves",
        "events",
        "cpu_seconds",
        "moves_per_cpu_s",
        "matches_per_cpu_s",
        "wins_by_seat",
        "ended_by",
        "final_hash",
    ]
    assert told["matches"] == sum(told["wins_by_seat"]) == sum(told["ended_by"].values()) == 3
    assert len(told["final_hash"]) == 64


@pytest.mark.slow
def test_everything_follows_from_the_seed_whatever_the_jobs(cli: CliRunner) -> None:
    alone, together, other = (
        figures(cli, "--seed", seed, "--jobs", jobs)["final_hash"]
        for seed, jobs in (("5", "1"), ("5", "2"), ("6", "1"))
    )

    assert alone == together
    assert alone != other


def test_people_get_a_table(cli: CliRunner) -> None:
    told = simulate(cli)

    assert told.exit_code == 0
    assert told.stdout.splitlines()[1].split() == ["matches", "3"]
    assert told.stderr == ""


def test_what_is_kept_verifies_with_the_key_that_is_kept(cli: CliRunner, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    plain = figures(cli, "--check", "--bots", "novice,shark")

    told = figures(cli, "--bots", "novice,shark", "--keep", str(kept))

    exports = sorted(kept.glob("*.opolyx"))
    assert told["final_hash"] == plain["final_hash"]
    assert len(exports) == 3
    for export in exports:
        verified = cli.invoke(app, ["verify", str(export), "--key", str(kept / "keys.json")])
        assert verified.exit_code == 0, verified.stdout
        assert cli.invoke(app, ["replay", str(export)]).exit_code == 0
        written = cli.invoke(app, ["scenario", "--from", str(export), "--at", "700"])
        assert written.exit_code == 0, written.stderr


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--rule-set", "opolyx.go@1"], 3),
        (["--bots", "steady,genius"], 3),
        (["--seats", "9"], 2),
        (["--matches", "0"], 2),
        (["--jobs", "0"], 2),
        (["--seed", "x"], 2),
    ],
)
def test_what_cannot_be_simulated_is_told(cli: CliRunner, arguments: list[str], code: int) -> None:
    told = simulate(cli, *arguments)

    assert told.exit_code == code
    assert told.stdout == ""


def test_a_folder_that_cannot_be_made_is_a_failure(cli: CliRunner, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    told = simulate(cli, "--keep", str(tmp_path / "file"))

    assert told.exit_code == 1
    assert "file" in told.stderr


@pytest.mark.parametrize("name", ["match-000000.opolyx", "keys.json", "notes.txt"])
def test_a_folder_that_holds_something_is_left_as_it_is(
    cli: CliRunner, tmp_path: Path, name: str
) -> None:
    (tmp_path / name).write_text("of a run before")

    told = simulate(cli, "--keep", str(tmp_path))

    assert told.exit_code == 1
    assert told.stdout == ""
    assert f"{tmp_path}: the folder is not empty" in told.stderr
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "of a run before"


def test_an_empty_folder_is_used(cli: CliRunner, tmp_path: Path) -> None:
    assert simulate(cli, "--keep", str(tmp_path)).exit_code == 0
    assert (tmp_path / "keys.json").exists()


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a terminal of its own")
def test_progress_is_shown_on_a_terminal_beside_the_data() -> None:
    outside, inside = os.openpty()

    told = subprocess.run(
        [sys.executable, "-m", "services.console", "simulate", "--matches", "5", "-o", "json"],
        cwd=ROOT,
        env=os.environ | {"TERM": "xterm", "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=inside,
        check=True,
    )

    os.close(inside)
    progress = os.read(outside, 1 << 16).decode()
    os.close(outside)
    assert json.loads(told.stdout)["matches"] == 5
    assert "5/5 matches" in progress


def test_a_folder_without_a_name_is_wrong_usage(cli: CliRunner) -> None:
    told = simulate(cli, "--keep", "")

    assert told.exit_code == 2
    assert told.stdout == ""


def test_a_write_that_fails_names_the_file(
    cli: CliRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fill_up(_: Path, __: bytes) -> int:
        raise OSError(ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", fill_up)

    told = simulate(cli, "--keep", str(tmp_path))

    assert told.exit_code == 1
    assert told.stderr == f"{tmp_path / 'keys.json'}: No space left on device\n"
