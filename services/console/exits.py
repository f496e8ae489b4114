"""The exit codes of every command, and how a command ends early.

A command that returns ends with 0, whatever it returns: typer takes no return value for a code.
"""

from typing import Final, NoReturn

import typer

FAILED: Final = 1
"""It was done, and the answer is no: an expectation does not hold, or it cannot be done."""
USAGE: Final = 2
"""The arguments, or a file that they name, make no sense."""
NOT_FOUND: Final = 3
"""What the arguments name does not exist."""
MISMATCH: Final = 6
"""A match does not verify."""
INTERRUPTED: Final = 130
"""Somebody pressed Ctrl+C: 128, and the number of that signal."""


def stop(message: str, code: int) -> NoReturn:
    """Say on stderr why a command ends here, and end it with *code*."""
    typer.echo(message, err=True)
    raise typer.Exit(code)
