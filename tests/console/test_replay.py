"""``opolyx replay``: any state of a recorded match."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from libs.rules.state import describe
from libs.wire.record import decode
from services.console.app import app
from services.console.folding import state_at
from tests.support.matches import Table


def test_the_end_is_the_state_that_the_match_was_left_in(
    cli: CliRunner, export: Path, table: Table
) -> None:
    told = cli.invoke(app, ["replay", str(export), "-o", "json"])

    assert told.exit_code == 0
    assert json.loads(told.stdout) == describe(table.match, table.now)


def test_the_first_sequence_is_before_anybody_plays(cli: CliRunner, export: Path) -> None:
    told = cli.invoke(app, ["replay", str(export), "--at", "1", "-o", "json"])

    state = json.loads(told.stdout)
    assert (state["phase"], state["turn"], state["round"]) == ("seeding", None, 0)
    assert len(state["properties"]) == 28


def test_any_event_is_a_place_to_stop(table: Table) -> None:
    records = [decode(stored.data) for stored in table.records[:60]]

    for sequence in range(1, records[-1].last_seq + 1):
        match, at_ms = state_at(records, sequence)

        assert match.sequence == sequence
        assert json.dumps(describe(match, at_ms))


def test_people_get_a_table(cli: CliRunner, export: Path, table: Table) -> None:
    told = cli.invoke(app, ["replay", str(export)])

    lines = told.stdout.splitlines()
    assert (
        lines[0] == f"match {table.chain.match_id}, opolyx.speed@2, sequence {table.chain.last_seq}"
    )
    assert lines[2].startswith("won by seat ")
    assert lines[4].split()[:2] == ["seat", "cash"]
    assert len(lines) == 5 + 3


@pytest.mark.parametrize("sequence", ["0", "-5", "99999999", "last"])
def test_a_sequence_that_the_match_does_not_have_is_wrong_usage(
    cli: CliRunner, export: Path, sequence: str
) -> None:
    assert cli.invoke(app, ["replay", str(export), "--at", sequence]).exit_code == 2


def test_no_file_is_not_found(cli: CliRunner, tmp_path: Path) -> None:
    assert cli.invoke(app, ["replay", str(tmp_path / "none.opolyx")]).exit_code == 3


@pytest.mark.parametrize("damage", ["nothing", "a cut", "a byte", "a folder", "an event less"])
def test_what_is_no_export_is_malformed(
    cli: CliRunner, export: Path, tmp_path: Path, damage: str
) -> None:
    path = tmp_path / "damaged.opolyx"
    data = export.read_bytes()
    if damage == "nothing":
        path.write_bytes(b"")
    elif damage == "a cut":
        path.write_bytes(data[: len(data) // 2])
    elif damage == "a byte":
        path.write_bytes(data[:5_000] + bytes([data[5_000] ^ 1]) + data[5_001:])
    elif damage == "a folder":
        path.mkdir()
    else:
        lines = data.split(b"\n")
        path.write_bytes(b"\n".join(lines[:20] + lines[21:]))

    told = cli.invoke(app, ["replay", str(path)])

    assert told.exit_code == 2
    assert told.stdout == ""
    assert str(path) in told.stderr


@pytest.mark.parametrize("command", [["replay"], ["scenario", "--from"]])
@pytest.mark.parametrize("part", [0, 1, 2, 3], ids=["first", "last", "hash", "bytes"])
def test_the_first_bad_line_is_named_as_the_verifier_names_it(
    cli: CliRunner, export: Path, tmp_path: Path, command: list[str], part: int
) -> None:
    path = tmp_path / "damaged.opolyx"
    lines = export.read_text().split("\n")
    parts = lines[41].split(" ")
    parts[part] = ("7" if parts[part][0] != "7" else "8") + parts[part][1:]
    path.write_text("\n".join([*lines[:41], " ".join(parts), *lines[42:]]))

    told = cli.invoke(app, [*command, str(path)])
    verified = cli.invoke(app, ["verify", str(path)])

    assert told.exit_code == 2
    assert told.stderr == f"{path}: {verified.stdout.splitlines()[0]}\n"
    assert "line 42" in told.stderr
