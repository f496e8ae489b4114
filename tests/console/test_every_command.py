"""What holds for every command there is, whoever adds one: found from the app, not from a list."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
import typer
from typer.testing import CliRunner

from services.console.app import app
from services.console.asking import PLAYER
from services.console.output import Format
from tests.support.commands import opolyx

UUID: Final = "01900000-0000-7000-8000-000000000000"
NOWHERE: Final = "127.0.0.1:1"

NO_DATA: Final = {
    "serve": "it runs until it is stopped; what it says are logs",
    "play": "a game in a terminal",
    "export": "what it writes is a file",
    "bundle": "what it writes is a file",
    "completion": "what it prints is for a shell",
}
"""Commands that print nothing which a program could read, each with the reason."""


class Found(NamedTuple):
    """A command of the app, by all of its words."""

    name: str
    command: Any


def found(group: Any, words: str = "") -> Iterator[Found]:
    """Go through all commands, those of groups too."""
    for name in group.list_commands(None):
        command, full = group.get_command(None, name), f"{words}{name}"
        if hasattr(command, "list_commands"):
            yield from found(command, f"{full} ")
        else:
            yield Found(full, command)


COMMANDS: Final = list(found(typer.main.get_command(app)))
ASKING: Final = [
    one
    for one in COMMANDS
    if any("--address" in parameter.opts for parameter in one.command.params)
]

ABOUT_A_MATCH: Final = [
    one
    for one in ASKING
    if any("MATCH" in (parameter.metavar or "") for parameter in one.command.params)
    and one.name != "play"  # an operator has no seat to play
]
"""Commands that look at a match, which may be a private one."""

AS_OPERATOR: Final = "admin "
"""How commands begin that nobody but an operator may give: to be somebody else makes no sense."""

each = pytest.mark.parametrize("one", COMMANDS, ids=[one.name for one in COMMANDS])


def words_of(one: Found, folder: Path) -> list[str]:
    """Return what makes a command ask for a match: its name, what it must have, and the match."""
    words = one.name.split()
    for parameter in one.command.params:
        names_match = "MATCH" in (parameter.metavar or "")
        if not parameter.required and not names_match:
            continue
        if parameter.param_type_name == "option":
            words.append(parameter.opts[0])
        words.append(_value(parameter, folder, names_match=names_match))
    return words


def _value(parameter: Any, folder: Path, *, names_match: bool) -> str:
    kind = parameter.type_descriptor.annotation
    if kind is Path and not names_match:
        return str(folder / "out")
    return "1" if kind is int else UUID


@each
def test_it_says_what_it_does_and_what_each_option_is_for(one: Found) -> None:
    first, *_ = (one.command.help or "").splitlines() or [""]
    silent = [
        parameter.opts[-1]
        for parameter in one.command.params
        if parameter.param_type_name == "option" and not parameter.help
    ]

    assert first.endswith(".")
    assert silent == []


@each
def test_what_prints_data_prints_it_for_people_and_for_programs(one: Found) -> None:
    output = next(
        (parameter for parameter in one.command.params if "--output" in parameter.opts), None
    )

    if one.name in NO_DATA:
        assert output is None
        return
    assert output is not None, "give it -o, or name it in NO_DATA with a reason"
    assert output.opts == ["-o", "--output"]
    # One that goes on and on has no whole that could be one JSON.
    assert {*output.type_descriptor.annotation} in ({*Format}, {Format.TABLE, Format.NDJSON})


def test_every_exception_is_still_a_command() -> None:
    assert NO_DATA.keys() <= {one.name for one in COMMANDS}


@each
def test_an_option_that_there_is_not_is_wrong_usage(cli: CliRunner, one: Found) -> None:
    told = cli.invoke(app, [*one.name.split(), "--gamble"])

    assert (told.exit_code, told.stdout) == (2, "")


@pytest.mark.parametrize("one", ASKING, ids=[one.name for one in ASKING])
def test_whoever_asks_a_system_can_say_who_they_are(one: Found) -> None:
    options = {name: parameter for parameter in one.command.params for name in parameter.opts}

    assert options["--token-file"].metavar == "FILE"
    if not one.name.startswith(AS_OPERATOR):
        assert options["--player"].metavar == "NAME"
        assert options["--player"].default == PLAYER


@pytest.mark.parametrize("one", ABOUT_A_MATCH, ids=[one.name for one in ABOUT_A_MATCH])
def test_whoever_looks_at_a_match_can_do_so_as_an_operator(one: Found) -> None:
    options = {name for parameter in one.command.params for name in parameter.opts}

    assert one.name.startswith(AS_OPERATOR) or "--operator" in options


@pytest.mark.slow
@pytest.mark.parametrize("one", ASKING, ids=[one.name for one in ASKING])
def test_where_nothing_answers_one_line_says_so(one: Found, tmp_path: Path) -> None:
    words, data = words_of(one, tmp_path), str(tmp_path / "data")
    told = opolyx(*words, "--address", NOWHERE, OPOLYX_DATA_FOLDER=data)

    assert (told.returncode, told.stdout) == (1, "")
    # The key is new because the folder is; that is told once, and all else is one line.
    made, why = told.stderr.splitlines()
    assert made.startswith(f"a new key for development tokens was made in {data}: ")
    assert why.startswith(f"nothing answers at {NOWHERE}")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "command",
    [["rules", "list"], ["rules", "show", "opolyx.speed@2"], ["board", "show"], ["cards", "show"]],
    ids=" ".join,
)
def test_the_lines_of_ndjson_are_what_json_has(cli: CliRunner, command: list[str]) -> None:
    whole = json.loads(cli.invoke(app, [*command, "-o", "json"]).stdout)
    lines = cli.invoke(app, [*command, "-o", "ndjson"]).stdout.splitlines()

    assert [json.loads(line) for line in lines] == (whole if isinstance(whole, list) else [whole])
