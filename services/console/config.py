"""``opolyx config``: the settings that are in force."""

import os

import typer

from libs.chassis.settings import SettingsError, Shown, shown
from services.console.exits import USAGE, stop
from services.console.fleet import SERVICES, load_settings
from services.console.output import Format, FormatOption, write_json, write_table

app = typer.Typer(name="config", no_args_is_help=True, add_completion=False)


@app.callback()
def config() -> None:
    """Look at the settings."""


@app.command()
def show(output: FormatOption = Format.TABLE) -> None:
    """Print every setting of every service: its variable, its value, and whether that was given.

    Secrets are hidden. Exit codes: 0 printed, 2 a setting is wrong.
    """
    settings = in_force()
    if output != Format.TABLE:
        write_json([line._asdict() for line in settings], output)
    else:
        rows = [(s.variable, s.value, "" if s.is_default else "given", s.meaning) for s in settings]
        write_table(("variable", "value", "", "meaning"), rows)


def in_force() -> list[Shown]:
    """Return all settings, each once, those that services share first."""
    try:
        settings = load_settings(SERVICES, os.environ)
    except SettingsError as error:
        stop(str(error), USAGE)
    return list(dict.fromkeys(line for each in settings.values() for line in shown(each)))
