"""``opolyx scenario``: play scenario files, or write one from a recorded match."""

from pathlib import Path
from typing import Annotated, Any

import typer

from libs.rules.state import THIRD_FACES
from libs.scenarios.comparing import ABSENT
from libs.scenarios.files import read_file
from libs.scenarios.plain import describe_event
from libs.scenarios.reading import MalformedError
from libs.scenarios.running import Failure, Outcome, run
from libs.scenarios.scenario import Script
from services.console.asking import (
    PLAYER,
    AddressOption,
    Asker,
    OperatorOption,
    PlayerOption,
    TokenFileOption,
)
from services.console.exits import FAILED, NOT_FOUND, USAGE
from services.console.output import Format, FormatOption, json_lines, printable

app = typer.Typer(add_completion=False)

Result = dict[str, Any]


@app.command()
def scenario(  # noqa: PLR0913, PLR0917 - the options of the command
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="FILE...", help="Scenarios, as JSON or YAML.")
    ] = None,
    output: FormatOption = Format.TABLE,
    source: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="FILE|MATCH",
            help="Write a scenario from this export, or from a match of a running system, instead.",
        ),
    ] = None,
    sequence: Annotated[
        int | None,
        typer.Option("--at", metavar="SEQ", help="The state to lead to; the last by default."),
    ] = None,
    address: AddressOption = None,
    token_file: TokenFileOption = None,
    player: PlayerOption = PLAYER,
    *,
    operator: OperatorOption = False,
) -> None:
    """Play scripted situations on the real rules engine, or write one from a match.

    Exit codes: 0 all as expected, 1 an expectation failed (or no scenario leads to that state of
    the match, or nothing answers where it should be), 2 a file is wrong or scripts too few draws, 3
    there is no such file or match. Of several the greatest counts.
    """
    asker = Asker(address, token_file, player, operator)
    if source is not None:
        if files:
            raise typer.BadParameter("give either files to play, or --from")
        _capture(source, asker, sequence, output)
        return
    if not files or sequence is not None or asker != Asker():
        raise typer.BadParameter("give files to play, or --from FILE|MATCH --at SEQ")
    results = [_play(path) for path in files]
    if output != Format.TABLE:
        _write_json([result for result, _ in results], output)
    else:
        for result, _ in results:
            _print(result)
    raise typer.Exit(max(code for _, code in results))


def _capture(source: Path, asker: Asker, sequence: int | None, output: Format) -> None:
    # Exports need protobuf, and scenarios do not.
    from services.console.capturing import capture_scenario  # noqa: PLC0415
    from services.console.recorded import records_of  # noqa: PLC0415

    records = records_of(source, asker)
    # A scenario is a file: people get it as programs do.
    form = Format.JSON if output == Format.TABLE else output
    _write_json(capture_scenario(source, records, sequence), form)


def _play(path: Path) -> tuple[Result, int]:
    """Play one file; returns what came of it, and its exit code."""
    try:
        outcome = run(read_file(path))
    except MalformedError as error:
        return _wrong(path, str(error)), USAGE
    except FileNotFoundError:
        return _wrong(path, "there is no such file"), NOT_FOUND
    except OSError as error:
        return _wrong(path, f"cannot be read: {error.strerror}"), USAGE
    code = USAGE if outcome.ran_out else 0 if outcome.ok else FAILED
    return _describe(path, outcome), code


def _wrong(path: Path, reason: str) -> Result:
    typer.echo(printable(f"{path}: {reason}"), err=True)
    return {"file": str(path), "id": None, "ok": False, "error": reason, "failures": []}


def _describe(path: Path, outcome: Outcome) -> Result:
    return {
        "file": str(path),
        "id": outcome.scenario.scenario_id,
        "ok": outcome.ok,
        "failures": [_describe_failure(failure) for failure in outcome.failures],
        "steps": [
            {"step": step, "events": [describe_event(event) for event in events]}
            for step, events in enumerate(outcome.events, start=1)
        ],
        "draws_left": _describe_draws(outcome.left),
        "state": outcome.state,
    }


def _describe_failure(failure: Failure) -> Result:
    return {
        "step": failure.step,
        "what": failure.what,
        "expected": failure.expected,
        "found": None if failure.found is ABSENT else failure.found,
        "text": str(failure),
    }


def _describe_draws(left: Script) -> Result:
    return {
        "dice": [list(roll) for roll in left.dice],
        "third_die": [THIRD_FACES[face] for face in left.third_die],
        "jackpot_die": list(left.jackpot_die),
    }


def _print(result: Result) -> None:
    if "error" in result:
        return
    typer.echo(f"{'ok    ' if result['ok'] else 'FAILED'}  {printable(result['id'])}")
    for failure in result["failures"]:
        typer.echo(f"        {printable(failure['text'])}")
    left = [f"{len(draws)} of {kind}" for kind, draws in result["draws_left"].items() if draws]
    if left:
        typer.echo(f"        draws left over: {', '.join(left)}")


def _write_json(value: object, output: Format) -> None:
    """Write JSON; what is escaped in it stands within texts, and means the same there."""
    for line in json_lines(value, output):
        typer.echo(printable(line))
