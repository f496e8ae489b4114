"""Puts the match engine together: the only module that knows which adapters there are."""

import asyncio
from collections.abc import AsyncIterator, Collection, Coroutine, Iterable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final

from libs.chassis.channels import Channel
from libs.chassis.foundation import Foundation
from libs.chassis.process import Service
from libs.chassis.server import GrpcServer
from libs.chassis.together import cancel_all
from libs.eventlog.ports import EventLog
from libs.kernel.reasons import Reason
from libs.store.directory import EngineStore
from libs.store.postgres import PostgresMatchStore
from libs.store.postgres_ownership import PostgresOwnership
from opolyx.admin.v1 import admin_service_pb2_grpc as admin_grpc
from opolyx.engine.v1 import engine_service_pb2_grpc as engine_grpc
from opolyx.engine.v1 import shard_service_pb2_grpc as shard_grpc
from opolyx.match.v1 import match_service_pb2_grpc as match_grpc
from services.match_engine.administering import AdminServicer
from services.match_engine.allowed import (
    ADMIN_SERVICE,
    BELIEVED,
    ENGINE_SERVICE,
    MATCH_SERVICE,
    SHARD_SERVICE,
    allow_list,
)
from services.match_engine.arming import Arming
from services.match_engine.database_clock import DatabaseClock
from services.match_engine.deciding import Decider
from services.match_engine.ground import Ground, GroundOf
from services.match_engine.keys import Keys, open_keys
from services.match_engine.labelling import Labelling
from services.match_engine.live import Listener
from services.match_engine.matches import Matches
from services.match_engine.ownership import Leaseholder, LeaseTerms
from services.match_engine.publishing import Publisher
from services.match_engine.pushes import Pushes
from services.match_engine.servicer import MatchServicer
from services.match_engine.settings import EngineSettings, MatchEngineSettings
from services.match_engine.shards import ShardServicer
from services.match_engine.signing import SigningKeys
from services.match_engine.snapshots import Snapshots
from services.match_engine.streams import EngineServicer
from services.match_engine.sweeping import Sweeper

NAME: Final = "match_engine"

MIGRATIONS: Final = Path(__file__).parent / "migrations"


def service(
    settings: MatchEngineSettings, foundation: Foundation, ground: GroundOf | None = None
) -> Service:
    """Return the match engine, to be run. It needs nobody but the store to be up.

    It stands on PostgreSQL, unless another *ground* is handed in.
    """
    stands_on = ground or (lambda: _on_postgres(settings, foundation))
    return Service(NAME, lambda: _opened(settings, foundation, stands_on))


@asynccontextmanager
async def _on_postgres(
    settings: MatchEngineSettings, foundation: Foundation
) -> AsyncIterator[Ground]:
    size = settings.match_engine.store_connections
    async with foundation.open_database(NAME, MIGRATIONS, size=size) as connections:
        yield Ground(
            store=PostgresMatchStore(connections), ownership=PostgresOwnership(connections)
        )


@asynccontextmanager
async def _opened(
    settings: MatchEngineSettings, foundation: Foundation, stands_on: GroundOf
) -> AsyncIterator[None]:
    async with AsyncExitStack() as stack:
        ground = await stack.enter_async_context(stands_on())
        log = await stack.enter_async_context(foundation.open_log())
        # Arming begins anew by itself, with all that is loaded then.
        timer = foundation.channel(NAME, settings.peers.timer, retries=False)
        await stack.enter_async_context(timer)
        keys = await open_keys(settings.data_folder, ground.store)
        engine = _Engine(settings, foundation, ground, keys, log, timer)
        await stack.enter_async_context(engine.running())
        yield


class _Engine:
    """One engine, its parts put together."""

    def __init__(  # noqa: PLR0913, PLR0917 - all that it is put together of
        self,
        settings: MatchEngineSettings,
        foundation: Foundation,
        ground: Ground,
        keys: Keys,
        log: EventLog,
        timer: Channel,
    ) -> None:
        section = settings.match_engine
        self._finish_s = section.finish_s
        terms = foundation.terms(NAME, section, allow_list(), believed=BELIEVED)
        self._server = GrpcServer(terms)
        store = ground.store
        self._database_clock = DatabaseClock(store.now_ms)
        self._clock = ground.clock or self._database_clock
        self._holder = Leaseholder(
            ground.ownership,
            settings.instance,
            lambda: section.address(self._server.address),
            terms=_lease_terms(section),
        )
        self._matches = Matches(store, keys.seeds, self._holder.owns, draws_of=ground.draws_of)
        self._decider = Decider(
            store,
            self._matches,
            keys.seeds,
            keys.signing,
            self._clock,
            self._holder.outages_of,
            draws_of=ground.draws_of,
        )
        self._surround(section, ground, log, timer)
        self._serve(store, keys.signing, ground.listeners)
        self._holder.tell(self._give_up)

    def _surround(
        self, section: EngineSettings, ground: Ground, log: EventLog, timer: Channel
    ) -> None:
        """Make what goes on beside the commands."""
        store = ground.store
        self._publisher = Publisher(store, log, lambda: self._holder.shards)
        self._labelling = Labelling(store)
        self._snapshots = Snapshots(store, every=section.snapshot_events)
        self._arming = Arming(timer, self._matches.loaded, linger_s=ground.linger_s)
        self._sweeper = Sweeper(
            decider=self._decider,
            store=store,
            loaded=self._matches.loaded,
            owned=lambda: self._holder.shards,
            arm=self._arming.tell,
            clock=self._clock,
        )

    def _serve(self, store: EngineStore, keys: SigningKeys, listeners: Iterable[Listener]) -> None:
        pushes = Pushes()
        # Who plays is told first (W7).
        ours: list[Listener] = [pushes, self._arming, self._publisher, self._snapshots]
        for listener in (*ours, *listeners):
            self._matches.listen(listener)
        draining = self._server.draining
        self._streams = EngineServicer(
            decider=self._decider,
            store=store,
            pushes=pushes,
            owns=self._holder.owns,
            clock=self._clock,
            draining=draining,
        )
        match_servicer = MatchServicer(
            decider=self._decider,
            store=store,
            keys=keys,
            clock=self._clock,
            pushes=pushes,
            draining=draining,
        )
        admin_servicer = AdminServicer(self._decider, store, self._matches.check_owned)
        shard_servicer = ShardServicer(self._holder, draining)
        add = self._server.add
        add(match_grpc.add_MatchServiceServicer_to_server, match_servicer, MATCH_SERVICE)
        add(engine_grpc.add_EngineServiceServicer_to_server, self._streams, ENGINE_SERVICE)
        add(admin_grpc.add_AdminServiceServicer_to_server, admin_servicer, ADMIN_SERVICE)
        add(shard_grpc.add_ShardServiceServicer_to_server, shard_servicer, SHARD_SERVICE)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve matches within the block; at its end everything that was accepted is durable.

        The end comes in order: no more commands are taken and streams are let go, what is under
        way is decided, the records go to the event log, and the shards to whoever takes them.
        """
        await self._database_clock.measure()
        async with asyncio.TaskGroup() as tasks:
            publishing = tasks.create_task(self._publisher.run())
            helping: list[asyncio.Task[None]] = [tasks.create_task(self._database_clock.run())]
            try:
                async with self._server:
                    await self._holder.renew()
                    helping += [tasks.create_task(work) for work in self._help()]
                    playing = [tasks.create_task(work) for work in self._play()]
                    try:
                        yield
                    finally:
                        await cancel_all(playing)
            finally:
                await self._finish(publishing)
                await cancel_all(helping)
                await self._holder.release()

    def _help(self) -> Iterable[Coroutine[Any, Any, None]]:
        """Return what goes on until the last record is on its way."""
        return self._holder.run(), self._tell_health(), self._snapshots.run(), self._labelling.run()

    def _play(self) -> Iterable[Coroutine[Any, Any, None]]:
        """Return what plays by itself, and must not when the end has begun."""
        return self._arming.run(), self._sweeper.run()

    async def _finish(self, publishing: "asyncio.Task[None]") -> None:
        """Let what is under way be decided and published, as far as there is time.

        What is left is none the less durable, and published by the next owner of its shard.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(self._finish_s):
                await self._decider.settle()
                self._publisher.finish()
                # Not awaited itself: what it failed with is for the group to tell.
                await asyncio.wait([publishing])
        publishing.cancel()

    async def _tell_health(self) -> None:
        """Be SERVING while the lease is held."""
        while True:
            bell = self._holder.bell
            await self._server.set_serving(is_serving=self._holder.is_held)
            await bell.wait()

    def _give_up(self, shards: Collection[int]) -> None:
        """Forget the matches of shards that are lost; without a lease the streams end too."""
        if not self._holder.is_held:
            self._matches.drop_all(Reason.NOT_OWNER_OF_SHARD)
            self._streams.leave(Reason.NOT_OWNER_OF_SHARD)
            return
        for live in self._matches.loaded():
            if live.shard in shards:
                self._matches.drop(live.match_id, Reason.NOT_OWNER_OF_SHARD)


def _lease_terms(section: EngineSettings) -> LeaseTerms:
    return LeaseTerms(
        ttl_ms=round(section.lease_ttl_s * 1000),
        renewal_ms=round(section.lease_renewal_s * 1000),
        trust_ms=round(section.lease_trust_s * 1000),
    )
