"""``opolyx board``: the boards that matches are played on."""

from typing import Annotated, Final

import typer

from libs.rules.board import Board
from libs.rules.boards.classic import CLASSIC
from libs.rules.rule_sets import BOARDS, RULE_SETS
from services.console.exits import NOT_FOUND, stop
from services.console.naming import label
from services.console.output import Format, FormatOption, write_json, write_table
from services.console.playing import DEFAULT_RULE_SET

app = typer.Typer(name="board", no_args_is_help=True, add_completion=False)

HEADER: Final = ("square", "name", "kind", "price", "mortgage", "redeem", "level", "tax", "rents")
WHOLE_PERCENT: Final = 100


@app.callback()
def boards() -> None:
    """Look at the board that matches are played on."""


@app.command()
def show(
    board_id: Annotated[str, typer.Argument(metavar="[ID]")] = CLASSIC.board_id,
    rule_set: Annotated[
        str, typer.Option("--rule-set", metavar="ID", help="Whose fee redeeming costs.")
    ] = DEFAULT_RULE_SET,
    output: FormatOption = Format.TABLE,
) -> None:
    """Print every square: price, mortgage and what lifts it, cost of a level, tax, rents.

    Rents are by level, of stations by how many the owner has; utilities take so many times the
    dice. Exit codes: 0 printed, 3 there is no such board or rule set.
    """
    board = BOARDS.get(board_id)
    if board is None:
        stop(f"no board is called {board_id}; known are {', '.join(BOARDS)}", NOT_FOUND)
    rules = RULE_SETS.get(rule_set)
    if rules is None:
        stop(f"no rule set is called {rule_set}; known are {', '.join(RULE_SETS)}", NOT_FOUND)
    if output != Format.TABLE:
        write_json(describe_board(board, rules.redeem_fee_percent), output)
        return
    numbers = range(len(board.squares))
    write_table(HEADER, (_row(board, number, rules.redeem_fee_percent) for number in numbers))


def describe_board(board: Board, fee_percent: int) -> dict[str, object]:
    """Return a board as plain values, with the fee on redeeming that a rule set takes."""
    return {
        "board_id": board.board_id,
        "squares": [
            describe_square(board, number, fee_percent) for number in range(len(board.squares))
        ],
        "groups": [
            {"group": name, "squares": list(squares)}
            for name, squares in zip(board.group_names, board.groups, strict=True)
        ],
    }


def describe_square(board: Board, number: int, fee_percent: int) -> dict[str, object]:
    """Return a square as plain values; what it does not have is None, and *rents* is empty."""
    here = board.squares[number]
    is_property = board.is_property(number)
    mortgage = board.mortgage_value[number] if is_property else None
    return {
        "square": number,
        "name": label(board, number),
        "kind": here.kind,
        "group": here.group if is_property else None,
        "price": here.price if is_property else None,
        "amount": here.price if here.kind == "tax" else None,
        "mortgage": mortgage,
        # The fee on the half price is rounded up (MORT-2).
        "redeem": mortgage and mortgage - (-mortgage * fee_percent // WHOLE_PERCENT),
        "build_cost": here.build_cost or None,
        "rents": list(here.rents),
    }


def _row(board: Board, number: int, fee_percent: int) -> tuple[object, ...]:
    square = describe_square(board, number, fee_percent)
    here = board.squares[number]
    rents = " / ".join(f"{rent:,}" for rent in here.rents) or "-"
    if here.kind == "utility":
        rents = f"dice x {rents}"
    shown = ("square", "name", "kind", "price", "mortgage", "redeem", "build_cost", "amount")
    return (*(square[name] for name in shown), rents)
