"""``opolyx board``: the boards that matches are played on."""

from typing import Annotated, Final

import typer

from libs.rules.board import Board
from libs.rules.boards.classic import CLASSIC
from libs.rules.rule_sets import BOARDS
from services.console.exits import NOT_FOUND, stop
from services.console.output import Format, FormatOption, write_json, write_table

app = typer.Typer(name="board", no_args_is_help=True)

HEADER: Final = ("square", "name", "kind", "group", "price", "level", "rents")


@app.callback()
def boards() -> None:
    """Look at the board that matches are played on."""


@app.command()
def show(
    board_id: Annotated[str, typer.Argument(metavar="[ID]")] = CLASSIC.board_id,
    output: FormatOption = Format.TABLE,
) -> None:
    """Print every square: kind, group, price, cost of a level, rents.

    Exit codes: 0 printed, 3 there is no such board.
    """
    board = BOARDS.get(board_id)
    if board is None:
        stop(f"no board is called {board_id}; known are {', '.join(BOARDS)}", NOT_FOUND)
    if output == Format.JSON:
        write_json(describe_board(board))
    else:
        write_table(HEADER, (_row(board, number) for number in range(len(board.squares))))


def describe_board(board: Board) -> dict[str, object]:
    """Return a board as plain values."""
    return {
        "board_id": board.board_id,
        "squares": [
            {
                "square": number,
                "name": board.label(number),
                "kind": here.kind,
                "group": here.group or None,
                "price": here.price,
                "build_cost": here.build_cost,
                "rents": list(here.rents),
            }
            for number, here in enumerate(board.squares)
        ],
        "groups": [
            {"group": name, "squares": list(squares)}
            for name, squares in zip(board.group_names, board.groups, strict=True)
        ],
    }


def _row(board: Board, number: int) -> tuple[object, ...]:
    here = board.squares[number]
    rents = " / ".join(f"{rent:,}" for rent in here.rents) or "-"
    if here.kind == "utility":
        rents = f"dice x {rents}"
    return (
        number,
        board.label(number),
        here.kind,
        here.group or "-",
        here.price or None,
        here.build_cost or None,
        rents,
    )
