"""A reader of match records with its store, driven by hand; log and engine are in memory."""

from collections.abc import Iterable, Sequence
from hashlib import sha256
from itertools import count

from libs.chassis.sealing import Sealer
from libs.eventlog.following import GAP_WAIT_MS
from libs.eventlog.local import LocalEventLog
from libs.eventlog.match_reading import MatchReader
from libs.eventlog.ports import Delivery, Entry
from libs.eventlog.storage import MemoryLogStorage
from libs.eventlog.topics import MATCH_RECORDS, partition_of
from libs.kernel.clock import ManualClock
from libs.kernel.ids import MatchId, PlayerId, SeededIds
from libs.store.connections import Connections
from libs.wire.progress import check_progress, read_progress
from libs.wire.record import StoredRecord
from opolyx.progression.v1 import progression_event_pb2 as pb
from services.progression.bootstrap import NAME
from services.progression.facts import FOLDED
from services.progression.profiles import BEFORE_ALL, Card, Profiles, Progress
from services.progression.reactors import Rewarder
from services.progression.store import ProgressStore
from tests.progression.played import Played
from tests.support.matches import Table

NOW_MS = 1_800_000_000_000

_IDS = SeededIds(b"people")
ANN, BEN, EVE = (_IDS.player_id(NOW_MS) for _ in range(3))
NOBODY = _IDS.player_id(NOW_MS)


class Rig:
    """Progression without its edges. Several may share a database, like replicas."""

    def __init__(self, connections: Connections, sealer: Sealer) -> None:
        self.connections = connections
        self.clock = ManualClock(NOW_MS)
        self.log = LocalEventLog(MemoryLogStorage(), self.clock)
        self.engine: dict[str, Sequence[StoredRecord]] = {}
        self.fetches = 0
        self.commits = 0
        self.store = ProgressStore(connections, sealer)
        self.profiles = Profiles(connections)
        self.reading = self.restart()

    def restart(self) -> MatchReader:
        """Begin with nothing in memory, as a process does."""
        seeds = count()
        self.rewarder = Rewarder(
            self.store,
            self.clock,
            lambda: sha256(f"{id(self)} {next(seeds)}".encode()).digest(),
            self._granted,
        )
        self.reading = MatchReader(
            log=self.log,
            group=NAME,
            kinds=FOLDED,
            projection=self.rewarder,
            fetch=self._fetch,
            clock=self.clock,
            keep_s=0.0,
        )
        return self.reading

    async def give(self, records: Iterable[StoredRecord], match_id: MatchId) -> None:
        """Deliver records of a match."""
        for offset, record in enumerate(records):
            entry = Entry(topic=MATCH_RECORDS.name, key=match_id, value=record.data)
            await self.reading.handle(
                Delivery(entry=entry, partition=partition_of(match_id), offset=offset, at_ms=0)
            )

    async def read(self, table: Table) -> None:
        """Deliver all records of a match, and let the reader settle."""
        await self.give(table.records, table.chain.match_id)
        assert await self.reading.settle()

    async def wait_out_a_gap(self) -> bool:
        """Let the reader settle when no gap can fill by itself any more."""
        self.clock.advance(GAP_WAIT_MS)
        return await self.reading.settle()

    async def progress(self, player_id: PlayerId) -> Progress:
        return await self.profiles.progress(player_id)

    async def cards(self, player_id: PlayerId) -> list[Card]:
        return await self.profiles.cards(player_id, BEFORE_ALL, 1_000)

    async def events(self, player_id: PlayerId) -> list[pb.ProgressionEvent]:
        rows = await self.connections.fetch(
            "SELECT bytes FROM progression.player_event WHERE player_id = $1 ORDER BY sequence",
            player_id,
        )
        return [read_progress(row["bytes"]) for row in rows]

    async def count(self, table: str) -> int:
        row = await self.connections.fetchrow(f"SELECT count(*) FROM progression.{table}")  # noqa: S608 - a test's own word
        assert row is not None
        number: int = row["count"]
        return number

    def _granted(self) -> None:
        self.commits += 1

    async def _fetch(self, match_id: MatchId, after_seq: int) -> Sequence[bytes]:
        self.fetches += 1
        held = self.engine.get(match_id, ())
        return [record.data for record in held if record.last_seq > after_seq][:20]


async def check_granted_once(rig: Rig, match: Played) -> None:
    for seat, player in enumerate([ANN, BEN]):
        progress = await rig.progress(player)
        [reward] = progress.recent
        assert reward.experience == progress.experience == match.experience(seat)
        assert check_progress(await rig.events(player)) == progress.card_count
    assert (await rig.store.position(match.match_id)).last_seq == match.records[-1].last_seq
