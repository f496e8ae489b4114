"""``opolyx completion``: the script, run by a shell as it would at a person's tab key."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from services.console.app import COMMANDS, app
from tests.support.repository import ROOT

BASH = shutil.which("bash")


SCRIPT = """
eval "$(opolyx completion bash)"
COMP_WORDS=(opolyx "$@") COMP_CWORD=$#
_opolyx_completion opolyx
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture
def complete(tmp_path: Path) -> Callable[..., list[str]]:
    """Return what bash would offer after some words, the last of which is not finished."""
    program = tmp_path / "opolyx"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m services.console "$@"\n')
    program.chmod(0o700)

    def offered(*words: str) -> list[str]:
        told = subprocess.run(
            [BASH or "bash", "--norc", "-c", SCRIPT, "bash", *words],
            cwd=ROOT,
            env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"},
            capture_output=True,
            text=True,
            check=True,
        )
        assert told.stderr == ""
        return told.stdout.splitlines()

    return offered


needs_bash = pytest.mark.skipif(BASH is None, reason="there is no bash to complete for")


@needs_bash
def test_bash_completes_commands(complete: Callable[..., list[str]]) -> None:
    assert complete("") == list(COMMANDS)
    assert complete("ver") == ["verify"]
    assert complete("rules", "") == ["list", "show"]


@needs_bash
def test_bash_completes_options_and_what_they_may_be(complete: Callable[..., list[str]]) -> None:
    assert {"--at", "--address", "--output"} <= set(complete("replay", "x", "--"))
    assert complete("replay", "x", "--ou") == ["--output"]
    assert complete("board", "show", "-o", "") == ["table", "json", "ndjson"]


@needs_bash
def test_where_nothing_is_to_be_offered_bash_offers_files(
    complete: Callable[..., list[str]],
) -> None:
    assert complete("verify", "match.o") == [""]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_a_script_for_the_command(cli: CliRunner, shell: str) -> None:
    told = cli.invoke(app, ["completion", shell])

    assert told.exit_code == 0
    assert f"_OPOLYX_COMPLETE=complete_{shell}" in told.stdout


def test_another_shell_is_wrong_usage(cli: CliRunner) -> None:
    assert cli.invoke(app, ["completion", "cmd"]).exit_code == 2


def test_completing_a_command_imports_none() -> None:
    code = (
        "import json, os, sys\n"
        "os.environ |= {'_OPOLYX_COMPLETE': 'complete_bash', 'COMP_WORDS': 'opolyx ',\n"
        "               'COMP_CWORD': '1'}\n"
        "from services.console.__main__ import main\n"
        "try:\n"
        "    main()\n"
        "finally:\n"
        "    commands = {name for name in sys.modules if name.startswith('services.console.')}\n"
        "    print(json.dumps(sorted(commands)), file=sys.stderr)\n"
    )

    told = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert told.stdout.split() == list(COMMANDS)
    loaded = {Path(name).suffix for name in json.loads(told.stderr)}
    assert loaded == {".__main__", ".app", ".completion", ".exits"}
