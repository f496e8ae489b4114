"""``opolyx scenario``: play scenario files, or write one from a recorded match."""

import json
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
from services.console.exits import FAILED, NOT_FOUND, USAGE, stop
from services.console.output import Format, FormatOption, render

app = typer.Typer(add_completion=False)

Result = dict[str, Any]


@app.command()
def scenario(
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="FILE...", help="Scenarios, as JSON or YAML.")
    ] = None,
    output: FormatOption = Format.TABLE,
    source: Annotated[
        Path | None,
        typer.Option("--from", metavar="FILE", help="Write a scenario from this export instead."),
    ] = None,
    sequence: Annotated[
        int | None,
        typer.Option("--at", metavar="SEQ", help="The state to lead to; the last by default."),
    ] = None,
) -> None:
    """Play scripted situations on the real rules engine, or write one from a match.

    Exit codes: 0 all as expected, 1 an expectation failed (or no scenario leads to that state of
    the match), 2 a file is wrong or scripts too few draws, 3 there is no such file. Of several the
    greatest counts.
    """
    if source is not None:
        if files:
            raise typer.BadParameter("give either files to play, or --from")
        _write_from(source, sequence)
        return
    if not files or sequence is not None:
        raise typer.BadParameter("give files to play, or --from FILE --at SEQ")
    results = [_play(path) for path in files]
    if output == Format.JSON:
        _write_json([result for result, _ in results])
    else:
        for result, _ in results:
            _print(result)
    raise typer.Exit(max(code for _, code in results))


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
    typer.echo(_printable(f"{path}: {reason}"), err=True)
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
    typer.echo(f"{'ok    ' if result['ok'] else 'FAILED'}  {_printable(result['id'])}")
    for failure in result["failures"]:
        typer.echo(f"        {_printable(failure['text'])}")
    left = [f"{len(draws)} of {kind}" for kind, draws in result["draws_left"].items() if draws]
    if left:
        typer.echo(f"        draws left over: {', '.join(left)}")


def _printable(text: str) -> str:
    """Escape what would steer a terminal, or cannot be encoded: names come from anywhere."""
    return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in text)


def _write_json(value: object) -> None:
    """Write JSON; what is escaped in it stands within texts, and means the same there."""
    for line in render(value).split("\n"):
        typer.echo(_printable(line))


def _write_from(source: Path, sequence: int | None) -> None:
    # Exports need protobuf, and scenarios do not.
    from libs.scenarios.capture import capture  # noqa: PLC0415
    from libs.scenarios.retelling import NotSayableError  # noqa: PLC0415
    from services.console.exports import check_sequence, read_records  # noqa: PLC0415
    from services.console.folding import fold  # noqa: PLC0415

    records = read_records(source)
    at = check_sequence(records, sequence)
    # What is captured is trusted: whatever does not fit has to be found before.
    fold(source, records, at)
    try:
        captured = capture(records, at)
    except NotSayableError as error:
        stop(_printable(f"{source}: {error}"), FAILED)
    start, end = captured.setup_sequence, captured.end_sequence
    typer.echo(f"set up at sequence {start}, steps lead to {end}", err=True)
    if not captured.opens_round:
        typer.echo("it begins within a round, so later rounds would be counted otherwise", err=True)
    _write_json(captured.document)
