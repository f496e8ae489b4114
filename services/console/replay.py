"""``opolyx replay``: the state of a recorded match, at its end or at any sequence."""

from typing import Annotated, Any

import typer

from libs.rules.match import Match
from libs.rules.state import describe
from services.console.asking import (
    PLAYER,
    AddressOption,
    Asker,
    OperatorOption,
    PlayerOption,
    TokenFileOption,
)
from services.console.exports import check_sequence
from services.console.folding import fold
from services.console.naming import label, name_seats
from services.console.output import Format, FormatOption, write_json, write_table
from services.console.recorded import SourceArgument, records_of

app = typer.Typer(add_completion=False)

State = dict[str, Any]


@app.command()
def replay(  # noqa: PLR0913 - the options of the command
    file: SourceArgument,
    sequence: Annotated[
        int | None,
        typer.Option("--at", metavar="SEQ", help="Stop after this event; the last by default."),
    ] = None,
    address: AddressOption = None,
    token_file: TokenFileOption = None,
    player: PlayerOption = PLAYER,
    *,
    operator: OperatorOption = False,
    output: FormatOption = Format.TABLE,
) -> None:
    """Rebuild a match from its record and print its state.

    The state has the form that scenarios compare with. Each event must fit the match before it,
    but whether the players might do what they did is not asked. Exit codes: 0 printed, 1 nothing
    answers where the match should be, 2 the file is no export, an event does not fit, or the match
    has no such sequence, 3 there is no such file or match.
    """
    records = records_of(file, Asker(address, token_file, player, operator))
    at = check_sequence(records, sequence)
    match, at_ms = fold(file, records, at)
    state = describe(match, at_ms)
    if output != Format.TABLE:
        write_json(state, output)
    else:
        _print(match, state)


def _print(match: Match, state: State) -> None:
    typer.echo(f"match {match.match_id}, {state['rule_set']}, sequence {match.sequence}")
    turn = "-" if state["turn"] is None else state["turn"]
    typer.echo(f"round {state['round']}, turn of seat {turn}, {state['phase']}")
    if state["winners"]:
        typer.echo(f"won by {name_seats(state['winners'])}")
    typer.echo("")
    header = ("seat", "cash", "net worth", "square", "on", "in jail", "out", "properties")
    write_table(header, (_seat_row(match, seat) for seat in range(len(state["seats"]))))


def _seat_row(match: Match, seat: int) -> tuple[object, ...]:
    square = match.square[seat]
    return (
        seat,
        match.cash[seat],
        match.net_worth(seat),
        square,
        label(match.board, square),
        match.in_jail[seat],
        match.out[seat],
        ", ".join(_spell_property(match, owned) for owned in match.properties_of(seat)) or "-",
    )


def _spell_property(match: Match, square: int) -> str:
    """Write a property as its square, with a plus for each level, or in brackets if mortgaged."""
    if match.mortgaged_round[square]:
        return f"({square})"
    return f"{square}{'+' * match.level[square]}"
