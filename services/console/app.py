"""The root of the command line: which commands there are, and in which module each lives."""

from importlib import import_module
from importlib.metadata import version
from typing import Annotated, Any, Final, NamedTuple

import typer
from typer.core import TyperGroup

PROGRAM: Final = "opolyx"
"""What the whole is called, however it was started."""

COMPLETE_VARIABLE: Final = "_OPOLYX_COMPLETE"
"""By which a shell asks for completions; see `services.console.completion`."""

COMMANDS: Final = {
    "serve": "services.console.serve",
    "token": "services.console.tokens",
    "demo": "services.console.demo",
    "play": "services.console.play",
    "watch": "services.console.watch",
    "quick-match": "services.console.quick_match",
    "rooms": "services.console.rooms",
    "matches": "services.console.matches",
    "profile": "services.console.profile",
    "leaderboard": "services.console.leaderboard",
    "name": "services.console.name",
    "simulate": "services.console.simulate",
    "scenario": "services.console.scenario",
    "replay": "services.console.replay",
    "diff": "services.console.diff",
    "explain": "services.console.explain",
    "verify": "services.console.verify",
    "export": "services.console.exporting",
    "audit": "services.console.audit",
    "keys": "services.console.keys",
    "limits": "services.console.limits",
    "admin": "services.console.admin",
    "rules": "services.console.rules",
    "board": "services.console.board",
    "cards": "services.console.cards",
    "migrate": "services.console.migrate",
    "config": "services.console.config",
    "doctor": "services.console.doctor",
    "bundle": "services.console.bundle",
    "completion": "services.console.completion",
}
"""Every command, in the order of the help, and its module, which has it as ``app``."""

EPILOG: Final = (
    "Data goes to stdout, all else to stderr. Exit codes: 0 all well, 1 failed, 2 wrong usage or a "
    "malformed file, 3 not found, 6 a match does not verify, 130 interrupted. What each means for "
    "which command: services/console/README.md."
)


class Completion(NamedTuple):
    """A word that a shell may put in, as typer's completion takes it."""

    value: str
    help: str | None = None


class LazyGroup(TyperGroup):
    """The commands, each imported when it is asked for: what is not needed costs no start-up."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - typer's
        """Return the names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002 - typer's
        """Return a command by its name, None where there is none."""
        if cmd_name not in COMMANDS:
            return None
        return typer.main.get_command(import_module(COMMANDS[cmd_name]).app)

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Return what may stand here; no command is imported for it, since somebody waits."""
        names = [Completion(name) for name in COMMANDS if name.startswith(incomplete)]
        # What a command without others beneath it returns: the options alone.
        options: list[Any] = super(TyperGroup, self).shell_complete(ctx, incomplete)
        return [*names, *options]


app = typer.Typer(
    cls=LazyGroup,
    help="An online property-trading board game: its rules, bots, records and proofs.",
    epilog=EPILOG,
    no_args_is_help=True,
    add_completion=False,
    # A traceback of a bug is for whoever mends it: whole, plain, and without the values of locals.
    pretty_exceptions_enable=False,
)


def _show_version(asked: bool) -> None:  # noqa: FBT001 - typer's
    if asked:
        typer.echo(version("opolyx"))
        raise typer.Exit


@app.callback()
def root(
    *,
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Take the options that stand before any command."""
