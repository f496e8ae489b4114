"""``opolyx migrate``: the schemas of all services, brought up to date."""

import asyncio
import os
from importlib import import_module
from pathlib import Path
from typing import Annotated, Final

import asyncpg
import typer

from libs.chassis.foundation import NodeSettings
from libs.chassis.settings import SettingsError, load
from libs.eventlog.postgres import MIGRATIONS, SCHEMA
from libs.store.embedded import EmbeddedServerError, serving
from libs.store.migrate import MigrationError, migrate, pending, read_migrations
from libs.telemetry import logs
from services.console.exits import FAILED, USAGE, stop
from services.console.fleet import SERVICES
from services.console.output import Format, FormatOption, write_json, write_table

app = typer.Typer(add_completion=False)

FOLDER: Final = "migrations"


@app.command("migrate")
def run(
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what is to be done, and do nothing.")
    ] = False,
    output: FormatOption = Format.TABLE,
) -> None:
    """Bring the schema of each service up to date, one process at a time.

    The embedded store migrates itself; this is for one of yours (`OPOLYX_STORE__URL`), before a new
    release starts. Exit codes: 0 up to date (or told, with --dry-run), 1 it could not be done, 2 a
    setting is wrong.
    """
    logs.configure()
    try:
        settings = load(NodeSettings, os.environ)
    except SettingsError as error:
        stop(str(error), USAGE)
    try:
        found = asyncio.run(_migrate(settings.store_url, dry_run=dry_run))
    except (MigrationError, EmbeddedServerError, OSError, asyncpg.PostgresError) as error:
        stop(f"{type(error).__name__}: {error}", FAILED)
    what = "pending" if dry_run else "applied"
    if output != Format.TABLE:
        write_json([{"schema": schema, what: names} for schema, names in found.items()], output)
    else:
        rows = [(schema, ", ".join(names) or "-") for schema, names in found.items()]
        write_table(("schema", what), rows)


def schemas() -> dict[str, Path]:
    """Return the folder of migrations of every schema there is."""
    folders = {SCHEMA: MIGRATIONS}
    for name in SERVICES:
        where = import_module(f"services.{name}").__file__
        assert where is not None
        folder = Path(where).parent / FOLDER
        if folder.is_dir():
            folders[name] = folder
    return folders


async def _migrate(url: str, *, dry_run: bool) -> dict[str, list[str]]:
    found = {}
    async with serving(url) as served:
        connection = await asyncpg.connect(served)
        try:
            for schema, folder in schemas().items():
                wanted = read_migrations(folder)
                lacking = await (pending if dry_run else migrate)(connection, schema, wanted)
                found[schema] = [migration.name for migration in lacking]
        finally:
            await connection.close()
    return found
