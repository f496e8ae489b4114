"""What the README of the client says that a turn shows is what it shows."""

import re
from typing import Any, Final, get_args

import pytest

from libs.client import Turn, commands
from libs.rules import commands as c
from libs.rules.legal import LegalCommands
from libs.rules.match import Match
from libs.rules.views import View
from tests.docs.reading import blocks
from tests.support.repository import ROOT
from tests.support.spec import given

PAGE: Final = ROOT / "libs" / "client" / "README.md"
NAMED: Final = re.compile(r"`(turn|legal|view)\.(\w+)((?:\[\w+\])*)(\(?)")
ROW: Final = re.compile(r"^\| (`(?:turn|legal|view)\..+?) \| ", re.MULTILINE)


def turn_of(match: Match) -> Turn:
    async def submit(*_: Any, **__: Any) -> Any:
        raise AssertionError("nothing is played")

    return Turn(match, 0, submit)


def told() -> list[tuple[str, str, str, str]]:
    """Return what the tables name: of what, its name, how it is indexed, whether it is called."""
    rows = ROW.findall(PAGE.read_text(encoding="utf-8"))
    return [named for row in rows for named in NAMED.findall(row)]


def public(shown: Any) -> set[str]:
    return {name for name in dir(shown) if not name.startswith("_")}


@pytest.mark.parametrize(
    ("name", "kind"), [("turn", Turn), ("legal", LegalCommands), ("view", View)]
)
def test_the_tables_name_all_that_there_is_and_nothing_else(name: str, kind: type) -> None:
    turn = turn_of(given().match)
    shown = {"turn": turn, "legal": turn.legal, "view": turn.view}[name]
    names = [told_name for of, told_name, _, _ in told() if of == name]

    assert isinstance(shown, kind)
    assert set(names) == public(shown)
    assert len(names) == len(set(names)), "each stands there once"


def test_what_is_shown_by_seat_square_or_group_is_indexed_by_it() -> None:
    table = given(seats=4)
    turn = turn_of(table.match)
    sizes = {"seat": 4, "square": 40, "group": len(table.match.board.groups)}
    indexed = [(name, re.findall(r"\w+", by)) for of, name, by, _ in told() if of == "view" and by]

    assert len(indexed) > 10
    for name, by in indexed:
        found = getattr(turn.view, name)
        for index in by:
            assert len(found) == sizes[index], name
            found = found[0]


def test_what_is_called_is_a_method_and_what_is_not_is_none() -> None:
    turn = turn_of(given().match)
    shown = {"turn": turn, "legal": turn.legal, "view": turn.view}

    for of, name, _, call in told():
        assert callable(getattr(shown[of], name)) == bool(call), name


def test_a_program_is_given_the_commands_of_seats_alone() -> None:
    kinds = {kind.__name__: kind for kind in get_args(c.SeatCommand)}

    assert set(commands.__all__) == {*kinds, "SeatCommand", "Side"}
    assert all(getattr(commands, name) is kind for name, kind in kinds.items())
    assert not [kind for kind in get_args(c.SystemCommand) if hasattr(commands, kind.__name__)]


def test_the_request_of_the_example_is_where_it_says() -> None:
    [example] = blocks(PAGE, "python")
    lines = [line for line in example.splitlines() if "await" not in line]
    names: dict[str, Any] = {"match_id": "0190a000-0000-7000-8000-000000000000"}

    exec("\n".join(lines), names)  # noqa: S102 - the README's own

    assert names["request"].match_id == names["match_id"]
