"""The command line as a process: its help, its codes, and what it imports."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from services.console.app import COMMANDS, app
from tests.support.commands import opolyx
from tests.support.repository import ROOT


def test_the_help_names_every_command_and_the_exit_codes(cli: CliRunner) -> None:
    shown = cli.invoke(app, ["--help"])

    assert shown.exit_code == 0
    assert all(name in shown.output for name in COMMANDS)
    assert "6 a match does not verify" in " ".join(shown.output.split())


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(cli: CliRunner, name: str) -> None:
    shown = cli.invoke(app, [name, "--help"])

    assert shown.exit_code == 0
    assert f"Usage: opolyx {name}" in shown.output.replace("root", "opolyx")


def _options(group: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Go through all commands, those of groups too, with each of their options."""
    for name in group.list_commands(None):
        command, full = group.get_command(None, name), f"{path}{name}"
        if hasattr(command, "list_commands"):
            yield from _options(command, f"{full} ")
        else:
            yield full, ""
            yield from ((full, option.opts[-1]) for option in command.params)


@pytest.mark.parametrize("guide", ["README.md", "services/console/README.md"])
def test_the_tables_name_every_command_with_its_options(guide: str) -> None:
    text = (ROOT / guide).read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    missing = [
        f"{command} {option}"
        for command, option in _options(typer.main.get_command(app))
        if option not in ("--output", "--help")
        and not any(
            f"{command} " in f"{row.replace('`', ' ')} "
            and (not option.startswith("-") or option in row)
            for row in rows
        )
    ]

    assert not missing


def test_no_command_offers_to_complete_itself() -> None:
    """Only `opolyx` as a whole could be completed by a shell, never a part of it."""
    modules = {name: import_module(module).app for name, module in COMMANDS.items()}
    apps = {"opolyx": app, **modules}
    options = [
        (name, option)
        for name, part in apps.items()
        for parameter in typer.main.get_command(part).params
        for option in parameter.opts
    ]

    assert [found for found in options if "completion" in found[1]] == []


def test_the_changelog_names_every_command() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    names = [name for name, option in _options(typer.main.get_command(app)) if not option]

    assert [name for name in names if f"{name}`" not in text] == []


def test_without_a_command_the_help_is_shown(cli: CliRunner) -> None:
    assert "Usage" in cli.invoke(app, []).output


@pytest.mark.parametrize(
    "arguments", [["gamble"], ["--gamble"], ["rules"], ["board", "show", "-x"]]
)
def test_wrong_usage_is_2(cli: CliRunner, arguments: list[str]) -> None:
    assert cli.invoke(app, arguments).exit_code == 2


def test_the_process_exits_with_the_codes_of_its_commands(export: Path, tmp_path: Path) -> None:
    """A command that returned its code instead of raising it would end with 0."""
    wrong = tmp_path / "wrong.json"
    wrong.write_text("{}")

    assert opolyx("rules", "show", "opolyx.classic@2").returncode == 0
    assert opolyx("rules", "show", "opolyx.classic@9").returncode == 3
    assert opolyx("scenario", str(wrong)).returncode == 2
    assert opolyx("verify", str(export)).returncode == 0


def test_data_goes_to_stdout_and_all_else_to_stderr() -> None:
    told = opolyx("rules", "show", "opolyx.classic@9")

    assert told.stdout == ""
    assert "opolyx.classic@2" in told.stderr


def test_looking_at_the_rules_loads_nothing_that_takes_time() -> None:
    code = (
        "import sys\n"
        "from services.console.app import app\n"
        "try:\n"
        "    app(['rules', 'show', 'opolyx.classic@2'])\n"
        "finally:\n"
        "    heavy = {'google.protobuf', 'cryptography', 'rich.live', 'yaml'} & set(sys.modules)\n"
        "    assert not heavy, heavy\n"
    )

    told = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert told.stderr == ""
    assert told.returncode == 0


SHOWN = [
    ["--help"],
    ["--version"],
    ["board", "show"],
    ["cards", "show", "-o", "json"],
    ["rules", "list"],
    ["simulate", "--seats", "2", "--matches", "1"],
    pytest.param(
        ["demo", "--seats", "2", "--pace", "0"], marks=[pytest.mark.slow, pytest.mark.postgres]
    ),
]


def complain(redirection: str, arguments: list[str]) -> tuple[int, list[str]]:
    """Run a command with its output redirected by a shell; return its code and its stderr."""
    command = (sys.executable, "-m", "services.console", *arguments)
    told = subprocess.run(
        ["sh", "-c", f'exec "$@" {redirection}', "sh", *command],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    return told.returncode, told.stderr.splitlines()


@pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="this system has no full disk to write to"
)
@pytest.mark.parametrize("arguments", SHOWN, ids=lambda arguments: arguments[0])
def test_a_full_disk_is_told_in_one_line(arguments: list[str]) -> None:
    code, lines = complain(">/dev/full", arguments)

    assert code == 1
    assert lines == ["the output cannot be written: No space left on device"]


@pytest.mark.parametrize("arguments", [["--help"], ["board", "show"]])
def test_a_closed_output_is_told_in_one_line(arguments: list[str]) -> None:
    assert complain(">&-", arguments) == (
        1,
        ["the output has nowhere to go: stdout is closed"],
    )


@pytest.mark.parametrize("command", ["verify", "scenario"])
def test_a_name_that_is_no_text_is_escaped_in_json(command: str) -> None:
    told = subprocess.run(
        [sys.executable, "-m", "services.console", command, b"/none/\xfe", "-o", "json"],
        cwd=ROOT,
        env=os.environ | {"PYTHONIOENCODING": "utf-8:strict"},
        capture_output=True,
        check=False,
    )

    assert told.returncode == 3
    assert b"/none/\\udcfe" in told.stdout
    assert json.loads(told.stdout)
