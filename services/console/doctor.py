"""``opolyx doctor``: what is wrong with this machine, its settings and its store."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from typing import Final

import typer

from libs.chassis.foundation import NodeSettings
from libs.chassis.settings import SettingsError
from libs.kernel.clock import Clock, SystemClock
from libs.store.embedded import SCHEME
from libs.telemetry import logs
from services.console.diagnosis import clocks, database
from services.console.diagnosis.finding import Finding, Result, failed, skipped
from services.console.diagnosis.folder import CHECK as FOLDER
from services.console.diagnosis.folder import check_folder
from services.console.diagnosis.keys import check_keys
from services.console.diagnosis.ports import check_ports
from services.console.diagnosis.settings import check_settings, wrong
from services.console.diagnosis.versions import check_versions
from services.console.exits import FAILED
from services.console.fleet import SERVICES, load_settings
from services.console.output import Format, FormatOption, printable, write_json

app = typer.Typer(add_completion=False)

KEYS: Final = "keys"
ASKED_OF_THE_STORE: Final = (
    database.LOG,
    clocks.DATABASE,
    database.MIGRATIONS,
    database.SECRETS,
)
TOGETHER_S: Final = 10.0
"""How long the store may take over all that it is asked: a little longer than each by itself."""


@app.command()
def doctor(output: FormatOption = Format.TABLE) -> None:
    """Look for what is wrong: settings, data folder, keys, ports, store, log, clocks, migrations.

    Nothing is changed, made or started, and no secret is printed. Each check says how it went, what
    that means, and what to do. Exit codes: 0 no check failed, 1 one did.
    """
    logs.configure(level="error")
    findings = examine(os.environ)
    if output == Format.TABLE:
        _print(findings)
    else:
        write_json([finding._asdict() for finding in findings], output)
    if any(finding.result == Result.FAILED for finding in findings):
        raise typer.Exit(FAILED)


def examine(environment: Mapping[str, str]) -> list[Finding]:
    """Do every check, and return what each came to."""
    found = [check_versions()]
    try:
        settings = load_settings(SERVICES, environment)
    except SettingsError as error:
        why = "the settings say where to look, and they are wrong"
        rest = (FOLDER, KEYS, "ports", database.STORE, *ASKED_OF_THE_STORE, clocks.GATEWAY)
        return [*found, wrong(str(error)), *(skipped(check, why) for check in rest)]
    shared = settings[SERVICES[-1]]
    found += check_settings(settings)
    for check, look in ((FOLDER, check_folder), (KEYS, check_keys)):
        try:
            found += look(shared.data_folder)
        except OSError as error:
            why = f"{error.filename} cannot be looked at: {error.strerror}"
            found.append(failed(check, why, "run as the owner of the data folder"))
    return found + asyncio.run(_ask_around(settings, shared, SystemClock()))


async def _ask_around(
    settings: Mapping[str, NodeSettings], shared: NodeSettings, clock: Clock
) -> list[Finding]:
    """Do the checks for which somebody must be asked, all at the same time."""
    leeway_ms = round(shared.auth.leeway_s * 1000)
    ports, store, gateway = await asyncio.gather(
        check_ports(settings),
        _ask_store(shared, clock, leeway_ms),
        clocks.check_gateway_clock(shared.peers.gateway, clock, leeway_ms),
    )
    return [*ports, *store, gateway]


async def _ask_store(settings: NodeSettings, clock: Clock, leeway_ms: int) -> list[Finding]:
    url, trouble = database.find_store(settings)
    found: list[Finding] = []
    if url is not None:
        try:
            async with asyncio.timeout(TOGETHER_S), database.connected(url) as connection:
                found.append(await database.check_store(connection, url))
                found += await database.check_log(connection)
                found.append(await clocks.check_database_clock(connection, clock, leeway_ms))
                is_embedded = settings.store_url.startswith(SCHEME)
                found += await database.check_migrations(connection, is_embedded=is_embedded)
                found += await database.check_secrets(connection, settings.data_folder)
        except database.UNREACHABLE as error:
            trouble = database.unreachable(settings, error)
    if trouble is not None:
        done = {finding.check for finding in found}
        found.append(trouble)
        rest = (check for check in ASKED_OF_THE_STORE if check not in done)
        found += [
            skipped(check, "only the store knows, and it could not be asked") for check in rest
        ]
    return found


def _print(findings: Sequence[Finding]) -> None:
    width = max(len(finding.check) for finding in findings)
    for finding in findings:
        head = f"{finding.result:<7}  {finding.check:<{width}}"
        typer.echo(f"{head}  {printable(finding.meaning)}")
        if finding.advice:
            typer.echo(f"{'':<{len(head)}}  > {printable(finding.advice)}")
    counts = dict.fromkeys(Result, 0)
    for finding in findings:
        counts[finding.result] += 1
    typer.echo("")
    typer.echo(", ".join(f"{count} {result}" for result, count in counts.items()))
