"""``opolyx verify``: the verifier, by its exit codes."""

import json
from pathlib import Path

from typer.testing import CliRunner

from services.console.app import app


def test_a_whole_match_verifies(cli: CliRunner, export: Path, keys: Path) -> None:
    told = cli.invoke(app, ["verify", str(export), "--key", str(keys)])

    assert told.exit_code == 0
    assert told.stdout


def test_without_a_key_it_says_what_it_did_not_check(cli: CliRunner, export: Path) -> None:
    told = cli.invoke(app, ["verify", str(export)])

    assert told.exit_code == 0
    assert "--key" in told.stdout


def test_a_changed_byte_is_a_mismatch(cli: CliRunner, export: Path, tmp_path: Path) -> None:
    changed = tmp_path / "changed.opolyx"
    data = bytearray(export.read_bytes())
    data[2_000] ^= 1
    changed.write_bytes(data)

    told = cli.invoke(app, ["verify", str(changed), "-o", "json"])

    assert told.exit_code == 6
    assert json.loads(told.stdout)["ok"] is False


def test_no_file_is_not_found(cli: CliRunner, tmp_path: Path) -> None:
    assert cli.invoke(app, ["verify", str(tmp_path / "none.opolyx")]).exit_code == 3


def test_a_key_file_that_is_none_is_malformed(cli: CliRunner, export: Path, tmp_path: Path) -> None:
    keys = tmp_path / "keys.json"
    keys.write_text("[]")

    assert cli.invoke(app, ["verify", str(export), "--key", str(keys)]).exit_code == 2
