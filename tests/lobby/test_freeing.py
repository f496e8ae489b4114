"""Whoever is out of a match is free (SETUP-2), as the records of matches tell (R1, R2)."""

from collections.abc import Sequence

import asyncpg
import pytest

from libs.eventlog.following import GAP_WAIT_MS
from libs.eventlog.ports import Entry
from libs.eventlog.topics import MATCH_RECORDS, dead
from libs.kernel.reasons import Reason
from libs.rules import events as e
from libs.wire.record import StoredRecord
from tests.chassis.answers import answer
from tests.lobby.playing import Playing
from tests.lobby.rig import Person, Rig
from tests.support.waiting import until

pytestmark = pytest.mark.postgres

BOB_SURRENDERED = e.SeatSurrendered(1, forced=False, proceeds=0, withheld=0, shares=())
ENDED = e.MatchEnded((0,), (), (), (), 1, "last_standing")


class AnnAndBob(Playing):
    """A match of Ann on seat 0 and Bob on seat 1."""

    @property
    def ann(self) -> Person:
        return self.people[0]

    @property
    def bob(self) -> Person:
        return self.people[1]

    async def bound(self) -> set[str]:
        connection = await asyncpg.connect(self.rig.url)
        rows = await connection.fetch("SELECT player_id FROM lobby.occupancy")
        await connection.close()
        names = {self.ann.player_id: "Ann", self.bob.player_id: "Bob"}
        return {names[str(row["player_id"])] for row in rows}


@pytest.fixture
async def playing(rig: Rig) -> AnnAndBob:
    return await AnnAndBob.of(rig, *await rig.people("Ann", "Bob"))


async def test_people_are_bound_while_their_match_goes_on(playing: AnnAndBob) -> None:
    await playing.happens(e.RoundStarted(1), e.RoundStarted(2))
    await playing.read_to(2)

    assert await playing.bound() == {"Ann", "Bob"}


OUT: list[e.Event] = [e.SeatBankrupted(1, proceeds=0, shares=(), withheld=0), BOB_SURRENDERED]


@pytest.mark.parametrize("out", OUT, ids=["bankrupt", "surrendered"])
async def test_whoever_is_out_is_free_while_the_others_play_on(
    playing: AnnAndBob, out: e.Event
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
async def test_everybody_is_free_after_the_match(playing: AnnAndBob, over: e.Event) -> None:
    await playing.happens(over)
    await playing.read_to(1)

    assert await playing.bound() == set()


async def test_whoever_sits_elsewhere_by_then_stays_there(playing: AnnAndBob) -> None:
    await playing.happens(BOB_SURRENDERED)
    await playing.read_to(1)
    await playing.bob.create()
    await playing.happens(ENDED)
    await playing.read_to(2)

    assert await playing.bound() == {"Bob"}


async def test_records_that_come_again_free_nobody_who_is_bound_again(playing: AnnAndBob) -> None:
    out = playing.write(BOB_SURRENDERED)
    await playing.publish(out)
    await playing.read_to(1)
    await playing.bob.create()
    await playing.publish(out, playing.write(e.RoundStarted(1)))
    await playing.read_to(2)

    assert await playing.bound() == {"Ann", "Bob"}


async def test_a_record_that_the_log_lacks_is_fetched_from_the_engine(playing: AnnAndBob) -> None:
    lost = playing.write(BOB_SURRENDERED)
    await playing.happens(e.RoundStarted(1))

    async def is_read() -> bool:
        playing.rig.clock.advance(GAP_WAIT_MS)
        return await playing.position() == 2

    await until(is_read)

    assert lost.last_seq == 1
    assert await playing.bound() == {"Ann"}


async def test_a_restarted_lobby_reads_on_where_it_was(playing: AnnAndBob) -> None:
    await playing.happens(e.RoundStarted(1))
    await playing.read_to(1)
    await playing.rig.close_lobbies()
    await playing.happens(e.RoundStarted(2))
    await playing.happens(ENDED)
    await playing.rig.open_lobby()
    await playing.read_to(3)

    assert await playing.bound() == set()


async def test_a_match_that_was_read_otherwise_is_read_again(playing: AnnAndBob) -> None:
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


async def test_what_is_no_record_goes_out_of_the_way(playing: AnnAndBob) -> None:
    await playing.rig.append(
        Entry(topic=MATCH_RECORDS.name, key="no match", value=b"\xff no record")
    )
    await playing.happens(ENDED)
    await playing.read_to(1)

    assert len(await playing.rig.published(dead(MATCH_RECORDS.name))) == 1
    assert await playing.bound() == set()
