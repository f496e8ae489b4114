"""The event log that a setting names, opened."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from libs.eventlog.local import LocalEventLog
from libs.eventlog.ports import EventLog
from libs.eventlog.postgres import MIGRATIONS, SCHEMA, PostgresLogStorage
from libs.kernel.clock import Clock
from libs.store.database import open_database

LOCAL: Final = "local://"


class UnknownLogError(ValueError):
    """No adapter is known for such a URL."""


@asynccontextmanager
async def open_log(
    url: str, *, store_url: str, clock: Clock, migrates: bool = False, allow_unsafe: bool = False
) -> AsyncIterator[EventLog]:
    """Yield the log at *url*; `local://` is one in the store, at *store_url*.

    A process opens it once for all its services, so that they hear of each other's entries at once.

    Raises:
        UnknownLogError: the URL is another.
        Exception: what `open_database` raises.

    """
    if url != LOCAL:
        raise UnknownLogError(f"the log must be {LOCAL}")
    async with open_database(
        store_url,
        schema=SCHEMA,
        migrations=MIGRATIONS,
        migrates=migrates,
        allow_unsafe=allow_unsafe,
    ) as connections:
        log = LocalEventLog(PostgresLogStorage(connections), clock)
        try:
            yield log
        finally:
            await log.close()
