"""The composition root of a stack: every service, on memory or on a database, by a test's clock."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from libs.chassis.foundation import Foundation, NodeSettings
from libs.chassis.process import Service
from libs.eventlog.local import LocalEventLog
from libs.eventlog.ports import EventLog
from libs.eventlog.storage import MemoryLogStorage
from libs.kernel.clock import Clock, SystemClock
from libs.store.connections import Connections
from libs.store.directory import EngineStore
from libs.store.memory import MemoryMatchStore
from libs.store.memory_ownership import MemoryOwnership
from libs.store.ownership import Ownership
from libs.store.postgres import PostgresMatchStore
from libs.store.postgres_ownership import PostgresOwnership
from services.bot_runner import bootstrap as bot_runner
from services.console.fleet import SERVICES, assemble, load_settings
from services.console.staging import environment, free_ports
from services.match_engine import bootstrap as match_engine
from services.match_engine.ground import Ground
from services.testkit.dice import DiceBook
from services.testkit.errors import NotInThisStackError
from services.testkit.memory import MemoryBotSeats, MemoryFollowedMatches, MemoryPlayers
from services.testkit.standing_in import ABSENT, standing_in
from services.testkit.watching import Watcher
from services.timer import bootstrap as timer

TICK_S: Final = 0.005
"""How often the timer looks at a clock that a test moves."""

_SETTINGS: Final = {
    # Nobody is to be limited, and no engine to lose its lease, on a machine that is busy.
    "OPOLYX_GATEWAY__RATE__PER_S": "100000",
    "OPOLYX_GATEWAY__RATE__BURST": "100000",
    "OPOLYX_GATEWAY__ROOM_RATE__PER_MINUTE": "100000",
    "OPOLYX_GATEWAY__ROOM_RATE__BURST": "100000",
    "OPOLYX_GATEWAY__STREAMS_PER_PERSON": "100000",
    "OPOLYX_MATCH_ENGINE__LEASE_TTL_S": "7200",
    "OPOLYX_MATCH_ENGINE__LEASE_TRUST_S": "3600",
    # Whoever leaves a stream open at the end is not waited for.
    **{f"OPOLYX_{name.upper()}__STREAM_GRACE_S": "0.2" for name in SERVICES},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What a stack is made of.

    Attributes:
        settings: of each service, by its name.
        foundation: what all stand on.
        watcher, dice: what hears of its matches, and what says how they draw.
        absent: the services that it lacks.

    """

    settings: dict[str, NodeSettings]
    foundation: Foundation
    watcher: Watcher
    dice: DiceBook
    absent: frozenset[str]

    @asynccontextmanager
    async def ground(self) -> AsyncIterator[Ground]:
        """Open what engines stand on: the same matches for all who do, on memory too."""
        if isinstance(self.foundation, MemoryFoundation):
            yield self._ground(self.foundation.matches, self.foundation.ownership)
            return
        opened = self.foundation.open_database(match_engine.NAME, match_engine.MIGRATIONS)
        async with opened as connections:
            yield self._ground(PostgresMatchStore(connections), PostgresOwnership(connections))

    def _ground(self, store: EngineStore, ownership: Ownership) -> Ground:
        return Ground(
            store=store,
            ownership=ownership,
            clock=self.foundation.clock,
            draws_of=self.dice.draws_of,
            listeners=(self.watcher,),
            linger_s=0.0,
        )

    def services(self) -> list[Service]:
        """Return every service, not open yet, in the order in which they open."""
        on_memory = isinstance(self.foundation, MemoryFoundation)
        followed = MemoryFollowedMatches() if on_memory else None
        bots = MemoryBotSeats() if on_memory else None
        players = MemoryPlayers()
        told: dict[str, Any] = self.settings
        made = {
            timer.NAME: lambda told: timer.service(told, self.foundation, followed, tick_s=TICK_S),
            match_engine.NAME: lambda told: match_engine.service(
                told, self.foundation, self.ground
            ),
            bot_runner.NAME: lambda told: bot_runner.service(told, self.foundation, bots),
        }
        services = []
        for name in SERVICES:
            if name in made:
                services.append(made[name](told[name]))
            elif name in self.absent:
                section = getattr(told[name], name)
                services.append(standing_in(name, section, self.foundation, players))
            else:
                services += assemble([name], self.settings, self.foundation)
        return services


class MemoryFoundation(Foundation):
    """A foundation without a database: the log and the matches are gone with it."""

    def __init__(self, settings: NodeSettings, clock: Clock) -> None:
        super().__init__(settings, clock)
        self.matches = MemoryMatchStore(clock)
        # Whether an engine lives is no matter of the matches' time.
        self.ownership = MemoryOwnership(SystemClock())
        self._memory_log = LocalEventLog(MemoryLogStorage(), clock)

    @asynccontextmanager
    async def open_log(self) -> AsyncIterator[EventLog]:
        """Yield the event log: one for all."""
        yield self._memory_log

    def open_database(
        self,
        schema: str,
        migrations: Path,  # noqa: ARG002 - the foundation's
        *,
        size: int = 4,  # noqa: ARG002 - the foundation's
    ) -> AbstractAsyncContextManager[Connections]:
        """Refuse: there is none."""
        raise NotInThisStackError(schema)


def compose(folder: Path, clock: Clock, database: str | None, extra: Sequence[str] = ()) -> Parts:
    """Return the parts of a stack whose keys are in *folder*, on *database*, or on memory.

    *extra* are further settings, such as `OPOLYX_BOT_RUNNER__PACE_MS=100`. Nothing of the
    environment has a say.
    """
    variables = {**environment(folder, free_ports(len(SERVICES)), pace_ms=0), **_SETTINGS}
    if database is not None:
        variables["OPOLYX_STORE__URL"] = database
    variables |= dict(setting.split("=", 1) for setting in extra)
    settings = load_settings(SERVICES, variables)
    shared = settings[SERVICES[-1]]
    foundation = MemoryFoundation(shared, clock) if database is None else Foundation(shared, clock)
    return Parts(
        settings=settings,
        foundation=foundation,
        watcher=Watcher(),
        dice=DiceBook(),
        absent=frozenset(ABSENT) if database is None else frozenset(),
    )
