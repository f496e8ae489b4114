"""``opolyx verify``: whether the export of a match is whole and its chance was fair."""

from pathlib import Path
from typing import Annotated

import typer

from libs import verify as verifier
from services.console.output import Format, FormatOption, write_json

app = typer.Typer(add_completion=False)


@app.command()
def verify(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An export of a match.")],
    key: Annotated[
        Path | None,
        typer.Option("--key", metavar="KEYFILE", help="Public keys, to authenticate the head."),
    ] = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Check hashes, sequence, every draw and the signed head of a match, offline.

    Exit codes: 0 all well, 6 a mismatch (the first is named), 3 no such file, 2 the key file is
    none.
    """
    report = verifier.verify(file, key)
    if output != Format.TABLE:
        write_json({"ok": report.code == verifier.OK, "lines": list(report.lines)}, output)
    else:
        for line in report.lines:
            typer.echo(line.encode("ascii", "backslashreplace"))
    raise typer.Exit(report.code)
