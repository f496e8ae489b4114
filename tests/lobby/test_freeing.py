"""Whoever is out of a match is free (SETUP-2), as the records of matches tell (R1, R2)."""

from collections.abc import Sequence

import asyncpg
import pytest

from libs.eventlog.following import GAP_WAIT_MS
from libs.eventlog.ports import Entry
from libs.eventlog.topics import MATCH_RECORDS, dead
from libs.kernel.ids import CommandId, MatchId
from libs.kernel.reasons import Reason
from libs.rules import events as e
from libs.wire.chain import Chain
from libs.wire.record import SYSTEM, StoredRecord
from opolyx.record.v1 import stored_record_pb2
from tests.chassis.answers import answer
from tests.lobby.rig import NOW_MS, Person, Rig, new_id
from tests.support.waiting import until

pytestmark = pytest.mark.postgres

BOB_SURRENDERED = e.SeatSurrendered(1, forced=False, proceeds=0, withheld=0, shares=())
ENDED = e.MatchEnded((0,), (), (), (), 1, "last_standing")


class Playing:
    """A match of Ann on seat 0 and Bob on seat 1, whose records are written here."""

    def __init__(self, rig: Rig, ann: Person, bob: Person, match_id: str) -> None:
        self.rig, self.ann, self.bob = rig, ann, bob
        self.match_id = MatchId(match_id)
        self._chain = Chain(self.match_id)

    def write(self, *events: e.Event) -> StoredRecord:
        """Write the next record, which the engine has and the log does not yet."""
        stored = self._chain.join(CommandId(new_id()), SYSTEM, NOW_MS, events)
        held = self.rig.engine.records.setdefault(self.match_id, [])
        held.append(stored_record_pb2.StoredRecord(**stored._asdict()))
        return stored

    async def publish(self, *records: StoredRecord) -> None:
        await self.rig.append(*(self.entry(record.data) for record in records))

    async def happens(self, *events: e.Event) -> None:
        await self.publish(self.write(*events))

    def entry(self, data: bytes) -> Entry:
        return Entry(topic=MATCH_RECORDS.name, key=self.match_id, value=data)

    async def bound(self) -> set[str]:
        connection = await asyncpg.connect(self.rig.url)
        rows = await connection.fetch("SELECT player_id FROM lobby.occupancy")
        await connection.close()
        names = {self.ann.player_id: "Ann", self.bob.player_id: "Bob"}
        return {names[str(row["player_id"])] for row in rows}

    async def position(self) -> int:
        connection = await asyncpg.connect(self.rig.url)
        last_seq: int | None = await connection.fetchval(
            "SELECT last_seq FROM lobby.followed_match WHERE match_id = $1", self.match_id
        )
        await connection.close()
        return last_seq or 0

    async def read_to(self, last_seq: int) -> None:
        """Wait until the lobby has noted that it read so far."""

        async def is_read() -> bool:
            return await self.position() >= last_seq

        await until(is_read)


@pytest.fixture
async def playing(rig: Rig) -> Playing:
    ann, bob = await rig.people("Ann", "Bob")
    room_id = (await ann.create()).room_id
    await bob.join(room_id)
    await bob.set_ready(room_id)
    return Playing(rig, ann, bob, (await ann.start(room_id)).match_id)


async def test_people_are_bound_while_their_match_goes_on(playing: Playing) -> None:
    await playing.happens(e.RoundStarted(1), e.RoundStarted(2))
    await playing.read_to(2)

    assert await playing.bound() == {"Ann", "Bob"}


OUT: list[e.Event] = [e.SeatBankrupted(1, proceeds=0, shares=(), withheld=0), BOB_SURRENDERED]


@pytest.mark.parametrize("out", OUT, ids=["bankrupt", "surrendered"])
async def test_whoever_is_out_is_free_while_the_others_play_on(
    playing: Playing, out: e.Event
) -> None:
    await playing.happens(e.RoundStarted(1), out)
    await playing.read_to(2)
    room = await playing.bob.create()
    refused = await answer(playing.ann.create())

    assert await playing.bound() == {"Ann", "Bob"}
    assert room.creator_id == playing.bob.player_id
    assert refused.told is not None
    assert refused.told.reason == Reason.ALREADY_IN_MATCH


OVER: list[e.Event] = [ENDED, e.MatchAborted("broken", "operator:x")]


@pytest.mark.parametrize("over", OVER, ids=["ended", "aborted"])
async def test_everybody_is_free_after_the_match(playing: Playing, over: e.Event) -> None:
    await playing.happens(over)
    await playing.read_to(1)

    assert await playing.bound() == set()


async def test_whoever_sits_elsewhere_by_then_stays_there(playing: Playing) -> None:
    await playing.happens(BOB_SURRENDERED)
    await playing.read_to(1)
    await playing.bob.create()
    await playing.happens(ENDED)
    await playing.read_to(2)

    assert await playing.bound() == {"Bob"}


async def test_records_that_come_again_free_nobody_who_is_bound_again(playing: Playing) -> None:
    out = playing.write(BOB_SURRENDERED)
    await playing.publish(out)
    await playing.read_to(1)
    await playing.bob.create()
    await playing.publish(out, playing.write(e.RoundStarted(1)))
    await playing.read_to(2)

    assert await playing.bound() == {"Ann", "Bob"}


async def test_a_record_that_the_log_lacks_is_fetched_from_the_engine(playing: Playing) -> None:
    lost = playing.write(BOB_SURRENDERED)
    await playing.happens(e.RoundStarted(1))

    async def is_read() -> bool:
        playing.rig.clock.advance(GAP_WAIT_MS)
        return await playing.position() == 2

    await until(is_read)

    assert lost.last_seq == 1
    assert await playing.bound() == {"Ann"}


async def test_a_restarted_lobby_reads_on_where_it_was(playing: Playing) -> None:
    await playing.happens(e.RoundStarted(1))
    await playing.read_to(1)
    await playing.rig.close_lobbies()
    await playing.happens(e.RoundStarted(2))
    await playing.happens(ENDED)
    await playing.rig.open_lobby()
    await playing.read_to(3)

    assert await playing.bound() == set()


async def test_a_match_that_was_read_otherwise_is_read_again(playing: Playing) -> None:
    connection = await asyncpg.connect(playing.rig.url)
    await connection.execute(
        "INSERT INTO lobby.followed_match VALUES ($1, 1, $2)", playing.match_id, bytes(32)
    )
    await connection.close()
    records: Sequence[StoredRecord] = [
        playing.write(BOB_SURRENDERED),
        playing.write(e.RoundStarted(1)),
    ]
    await playing.publish(*records)

    async def is_free() -> bool:
        playing.rig.clock.advance(GAP_WAIT_MS)
        return await playing.bound() == {"Ann"}

    await until(is_free)


async def test_what_is_no_record_goes_out_of_the_way(playing: Playing) -> None:
    await playing.rig.append(
        Entry(topic=MATCH_RECORDS.name, key="no match", value=b"\xff no record")
    )
    await playing.happens(ENDED)
    await playing.read_to(1)

    assert len(await playing.rig.published(dead(MATCH_RECORDS.name))) == 1
    assert await playing.bound() == set()
