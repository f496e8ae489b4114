"""``opolyx completion``: what lets a shell complete commands and options."""

from enum import StrEnum
from typing import Annotated

import typer
from typer.completion import get_completion_inspect_parameters, shell_complete

from services.console import app as root

app = typer.Typer(add_completion=False)


class Shell(StrEnum):
    """For which shells there is a script."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


@app.command()
def completion(
    shell: Annotated[Shell, typer.Argument(metavar="bash|zsh|fish", help="Which shell it is.")],
) -> None:
    """Print the script that completes `opolyx` in a shell, to be run at its start.

    For bash, in ~/.bashrc: eval "$(opolyx completion bash)". For zsh, after compinit: eval
    "$(opolyx completion zsh)". For fish: opolyx completion fish > ~/.config/fish/completions/
    opolyx.fish. Exit codes: 0 printed, 2 no such shell.
    """
    know_shells()
    command = typer.main.get_command(root.app)
    shell_complete(command, {}, root.PROGRAM, root.COMPLETE_VARIABLE, f"source_{shell}")


def know_shells() -> None:
    """Make the classes known that speak with each shell."""
    # Typer does so where it offers its own options for it, which we have a command for.
    get_completion_inspect_parameters()
