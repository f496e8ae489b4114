"""What the services of a process stand on: the time, tokens, the store, the log, each other."""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Final

from libs.chassis.admission import Door
from libs.chassis.channels import Channel, open_channel
from libs.chassis.edge import Terms
from libs.chassis.engines import Engines
from libs.chassis.issuing import DevelopmentIssuer, ServiceToken, people_of
from libs.chassis.limiting import Limiter, OpenStreams
from libs.chassis.roles import AllowList
from libs.chassis.sections import (
    AuthSettings,
    LogSettings,
    PeerSettings,
    ServerSettings,
    StoreSettings,
    TelemetrySettings,
)
from libs.chassis.settings import ServiceSettings, SettingsError
from libs.eventlog.opening import LOCAL, open_log
from libs.eventlog.ports import EventLog
from libs.kernel.clock import Clock, SystemClock
from libs.kernel.reasons import Reason
from libs.store.connections import Connections
from libs.store.database import open_database
from libs.store.embedded import SCHEME

POSTGRES_FOLDER: Final = "postgres"
"""Where the embedded store is, in the data folder."""


class NodeSettings(ServiceSettings):
    """What every service can be told; each adds a section of its own name."""

    auth: AuthSettings = AuthSettings()
    log: LogSettings = LogSettings()
    peers: PeerSettings = PeerSettings()
    store: StoreSettings = StoreSettings()
    telemetry: TelemetrySettings = TelemetrySettings()

    @property
    def store_url(self) -> str:
        """Where the store is, the embedded one by its folder. May hold a password."""
        url = self.store.url.get_secret_value()
        if url == SCHEME:
            return f"{SCHEME}{(self.data_folder / POSTGRES_FOLDER).resolve()}"
        return url


class Foundation:
    """One for a process, whichever services it runs.

    Attributes:
        settings: what the services of the process share.
        clock: the time.
        version: of the release.
        issuer: issues development tokens, and those by which services call each other.

    """

    def __init__(self, settings: NodeSettings, clock: Clock | None = None) -> None:
        """Lay it.

        Raises:
            SettingsError: the log is none that can be opened, or a key cannot be read.

        """
        if settings.log.url.get_secret_value() != LOCAL:
            raise SettingsError(f"OPOLYX_LOG__URL: only {LOCAL} is known in this release")
        self.settings = settings
        self.clock: Final[Clock] = clock or SystemClock()
        self.version: Final = version("opolyx")
        self.issuer = DevelopmentIssuer.open(settings.data_folder, settings.auth, self.clock)
        self._log: EventLog | None = None
        self._log_stack = AsyncExitStack()
        self._log_users = 0
        self._log_lock = asyncio.Lock()

    def terms(  # noqa: PLR0913 - whom a server lets in, and how far
        self,
        service: str,
        server: ServerSettings,
        allowed: AllowList,
        *,
        people: bool = False,
        believed: Collection[str] = (),
        limiter: Limiter | None = None,
        streams: OpenStreams | None = None,
        is_strict: bool = False,
        operational: Mapping[type[Exception], Reason] | None = None,
    ) -> Terms:
        """Return the terms of a service's server: services always get in, *people* if it says so.

        Raises:
            SettingsError: the keys of the people's provider could not come from there safely.

        """
        door = Door(
            allowed=allowed,
            people=people_of(self.settings.auth, self.issuer, self.clock) if people else None,
            services=self.issuer.services(),
            believed=believed,
            limiter=limiter,
            streams=streams,
        )
        return Terms(
            service=service,
            door=door,
            settings=server,
            clock=self.clock,
            version=self.version,
            is_strict=is_strict,
            operational=operational or {},
        )

    def channel(self, service: str, target: str, *, retries: bool = True) -> Channel:
        """Return a channel by which *service* calls *target*, as itself."""
        token = ServiceToken(service, self.issuer.issue_for_service, self.clock)
        return open_channel(target, token=token, retries=retries)

    def engines(self, service: str) -> Engines:
        """Return the way of *service* to the engines, to be opened."""
        addresses = [part.strip() for part in self.settings.peers.match_engines.split(",")]
        return Engines(addresses, lambda target: self.channel(service, target, retries=False))

    def open_database(
        self, schema: str, migrations: Path, *, size: int = 4
    ) -> AbstractAsyncContextManager[Connections]:
        """Open the store for the service that owns *schema*. See `libs.store.database`."""
        return open_database(
            self.settings.store_url,
            schema=schema,
            migrations=migrations,
            size=size,
            allow_unsafe=self.settings.store.unsafe,
        )

    @asynccontextmanager
    async def open_log(self) -> AsyncIterator[EventLog]:
        """Yield the event log: one for all who have it open at a time."""
        async with self._log_lock:
            if self._log is None:
                self._log = await self._log_stack.enter_async_context(
                    open_log(
                        self.settings.log.url.get_secret_value(),
                        store_url=self.settings.store_url,
                        clock=self.clock,
                        allow_unsafe=self.settings.store.unsafe,
                    )
                )
            self._log_users += 1
            log = self._log
        try:
            yield log
        finally:
            async with self._log_lock:
                self._log_users -= 1
                if not self._log_users:
                    self._log = None
                    await self._log_stack.aclose()
