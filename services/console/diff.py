"""``opolyx diff``: what changed in a match between two of its moments."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Final, NamedTuple

import typer

from libs.rules.board import Board
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
from services.console.naming import label
from services.console.output import Format, FormatOption, spell_plain, write_json, write_table
from services.console.recorded import SourceArgument, records_of

app = typer.Typer(add_completion=False)

DUE: Final = "due_s"
DUE_WORD: Final = "due"
_LEFT: Final = frozenset({"in_s", "expires_in_s"})
"""What a state calls the seconds that are left. Between two moments it is not the time that is left
that changes but when it ends, so that is what is compared, as `DUE`: in seconds since 1970 UTC."""


class Change(NamedTuple):
    """One thing that is not as it was; *path* leads to it in the state that `replay` prints."""

    path: tuple[str, ...]
    before: Any
    after: Any


@app.command()
def diff(  # noqa: PLR0913, PLR0917 - the options of the command
    source: SourceArgument,
    first: Annotated[int, typer.Argument(metavar="SEQ", help="The moment after this event,")],
    second: Annotated[int, typer.Argument(metavar="SEQ", help="and the one after that.")],
    address: AddressOption = None,
    token_file: TokenFileOption = None,
    player: PlayerOption = PLAYER,
    *,
    operator: OperatorOption = False,
    output: FormatOption = Format.TABLE,
) -> None:
    """Print what changed in a match from one moment to another.

    That is cash, positions, jail, owners, levels, mortgages, phase, turn, deadlines, debts, auction
    and offers. A moment is that after an event, as for `replay --at`; the later one may come first.
    Exit codes: 0 printed (also where nothing changed), 1 nothing answers where the match should be,
    2 the file is no export, or the match has no such sequence, 3 there is no such file or match.
    """
    records = records_of(source, Asker(address, token_file, player, operator))
    before, after = (
        fold(source, records, check_sequence(records, at, "SEQ"))[0] for at in (first, second)
    )
    found = changes(before, after)
    if output != Format.TABLE:
        write_json([_describe(change) for change in found], output)
        return
    typer.echo(f"match {after.match_id}, from sequence {first} to {second}")
    typer.echo("" if found else "nothing changed")
    if found:
        rows = [(_spell_path(change.path, after.board), *_spell(change)) for change in found]
        write_table(("what", "before", "after"), rows)


def changes(before: Match, after: Match) -> list[Change]:
    """Return all that differs between two states of a match, in the order of a state."""
    return list(_compare((), _comparable(before), _comparable(after)))


def _comparable(match: Match) -> dict[str, Any]:
    """Return a state in which the same thing has the same name at any moment."""
    # At time 0 the seconds until a deadline are when it is.
    state: dict[str, Any] = _with_due(describe(match, 0))
    state["seats"] = {str(number): seat for number, seat in enumerate(state["seats"])}
    state["offers"] = {str(offer["id"]): offer for offer in state["offers"]}
    return {"sequence": match.sequence, "frozen": match.frozen_at >= 0} | state


def _with_due(value: Any) -> Any:
    if isinstance(value, dict):
        return {DUE if key in _LEFT else key: _with_due(part) for key, part in value.items()}
    return [_with_due(part) for part in value] if isinstance(value, list) else value


def _compare(path: tuple[str, ...], before: Any, after: Any) -> Iterator[Change]:
    if before == after:
        return
    if not (isinstance(before, dict) and isinstance(after, dict)):
        yield Change(path, before, after)
        return
    for key in dict.fromkeys((*before, *after)):
        yield from _compare((*path, key), before.get(key), after.get(key))


def _describe(change: Change) -> dict[str, Any]:
    return {"what": ".".join(change.path), "before": change.before, "after": change.after}


def _spell_path(path: Sequence[str], board: Board) -> str:
    """Write a path as people would: ``seat 1 cash``, ``39 (dark_blue 2) owner``."""
    collection, *rest = path
    if collection == "properties" and rest:
        square, *rest = rest
        named = f"{square} ({label(board, int(square))})"
        return " ".join((named, *rest)).replace("_round", " in round")
    rest = [DUE_WORD if name == DUE else name for name in rest]
    one = {"seats": "seat", "offers": "offer"}.get(collection, collection)
    return " ".join((one, *rest)).replace("_", " ")


def _spell(change: Change) -> tuple[str, str]:
    key = change.path[-1]
    before, after = (spell_plain(_timed(key, value)) for value in (change.before, change.after))
    return before, after


def _timed(key: str, value: Any) -> Any:
    """Return a value with its times as people write them."""
    if key == DUE and value is not None:
        moment = datetime.fromtimestamp(value, UTC).isoformat(sep=" ", timespec="milliseconds")
        return moment.removesuffix("+00:00") + " UTC"
    if isinstance(value, dict):
        return {DUE_WORD if k == DUE else k: _timed(k, part) for k, part in value.items()}
    return [_timed("", part) for part in value] if isinstance(value, list) else value
