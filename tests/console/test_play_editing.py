"""The line that is typed is never torn by what is shown meanwhile, whatever the keys say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from services.console.terminal.editing import Editor
from services.console.terminal.words import LINE_MAX


def typed(editor: Editor, *chunks: str) -> list[str]:
    """Return the lines that keys have finished."""
    return [line for chunk in chunks for _, line in editor.typed(chunk) if line is not None]


def editor(width: int = 80, prompt: str = "> ") -> Editor:
    made = Editor(lambda: width)
    made.prompt = prompt
    return made


@pytest.mark.parametrize(
    ("chunks", "lines"),
    [
        (["buy\n"], ["buy"]),
        (["b", "u", "y", "\r"], ["buy"]),
        (["buz\x7fy\n"], ["buy"]),
        (["\x7f\x7fbuy\n"], ["buy"]),
        (["nonsense\x15buy\n"], ["buy"]),
        (["build 6 8\x17\x17 8\n"], ["build  8"]),
        (["one\ntwo\nthr", "ee\n"], ["one", "two", "three"]),
        (["b\x1b[Au\x1b[1;5Cy\x1bOP\x1bx\n"], ["buy"]),
        (["bu\x1b", "[", "Dy\n"], ["buy"]),
        (["b\x00\x07\tuy\n"], ["buy"]),
        (["grüße\n"], ["grüße"]),
        (["x" * 1000 + "\n"], ["x" * LINE_MAX]),
        (["buy\x04\n"], ["buy"]),
    ],
)
def test_keys_make_lines(chunks: list[str], lines: list[str]) -> None:
    assert typed(editor(), *chunks) == lines


def test_the_end_is_told_on_an_empty_line_alone() -> None:
    line = editor()

    assert typed(line, "a\x04") == []
    assert not line.is_at_end
    assert typed(line, "\x7f\x04never\n") == []
    assert line.is_at_end


def test_what_was_typed_is_drawn_again_below_what_was_shown() -> None:
    line = editor(prompt="[12 s] > ")
    typed(line, "bui")

    assert line.hidden() == "\r\x1b[K"
    assert line.drawn() == "\r\x1b[K[12 s] > bui"
    line.prompt = "[11 s] > "
    assert line.drawn() == "\r\x1b[K[11 s] > bui"


def test_a_finished_line_stays_where_it_was_typed() -> None:
    written = "".join(shown for shown, _ in editor().typed("buy\n"))

    assert written == "\r\x1b[K> buy\n\r\x1b[K> "


@given(keys=st.text(max_size=200), width=st.integers(2, 90))
def test_whatever_is_typed_the_line_is_one_line_and_steers_nothing(keys: str, width: int) -> None:
    line = editor(width)
    finished = typed(line, keys)
    drawn = line.drawn().removeprefix("\r\x1b[K")

    assert cell_len(drawn) < width
    assert drawn.isprintable()
    assert all(one.isprintable() for one in finished)
