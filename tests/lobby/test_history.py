"""What people have played, and how it went: with the room's start, then by the match's records."""

from typing import NamedTuple

import asyncpg
import pytest

from libs.kernel.reasons import Reason
from libs.rules import events as e
from opolyx.lobby.v1.room_pb2 import PlayedMatch
from services.lobby.bootstrap import MIGRATIONS
from tests.chassis.answers import answer
from tests.lobby.playing import Playing
from tests.lobby.rig import NOW_MS, PLAIN, Person, Rig

pytestmark = pytest.mark.postgres

PLAYING = PlayedMatch.OUTCOME_PLAYING
LOST = PlayedMatch.OUTCOME_LOST
WON = PlayedMatch.OUTCOME_WON
ABORTED = PlayedMatch.OUTCOME_ABORTED


class Went(NamedTuple):
    """How a match went for somebody: the time of the end is after the tests' beginning."""

    outcome: PlayedMatch.Outcome.ValueType
    place: int | None = None
    end_ms: int | None = None


async def went(person: Person) -> list[Went]:
    """Return how somebody's matches went, the latest first."""
    return [
        Went(
            match.outcome,
            match.place if match.HasField("place") else None,
            match.end_time.ToMilliseconds() - NOW_MS if match.HasField("end_time") else None,
        )
        for match in (await person.matches()).matches
    ]


def ended(winners: tuple[int, ...], placing: tuple[int, ...]) -> e.MatchEnded:
    return e.MatchEnded(winners, placing, (), (), 1, "last_standing")


def surrendered(seat: int) -> e.SeatSurrendered:
    return e.SeatSurrendered(seat, forced=False, proceeds=0, withheld=0, shares=())


def bankrupt(seat: int) -> e.SeatBankrupted:
    return e.SeatBankrupted(seat, proceeds=0, shares=(), withheld=0)


async def test_a_match_is_in_the_history_of_its_people_as_soon_as_it_starts(rig: Rig) -> None:
    ann, bob, cem = await rig.people("Ann", "Bob", "Cem")
    playing = await Playing.of(rig, ann, bob)
    (match,) = (await bob.matches()).matches

    assert (match.match_id, match.room_id) == (playing.match_id, playing.room.room_id)
    assert (match.rule_set, match.seat, match.outcome) == (PLAIN, 1, PLAYING)
    assert [seat.player.display_name for seat in match.seats] == ["Ann", "Bob"]
    assert match.start_time.ToMilliseconds() == NOW_MS
    assert await went(ann) == [Went(PLAYING)]
    assert await went(cem) == []


async def test_seats_are_those_of_the_match_without_the_empty_ones(rig: Rig) -> None:
    ann, bob = await rig.people("Ann", "Bob")
    room_id = (await ann.create(seat_count=6)).room_id
    await ann.add_bot(room_id, seat=2)
    await bob.join(room_id, seat=4)
    await bob.set_ready(room_id)
    await ann.start(room_id)
    (match,) = (await bob.matches()).matches

    assert [seat.seat for seat in match.seats] == [0, 1, 2]
    assert [seat.player.player_id or seat.bot for seat in match.seats] == [
        ann.player_id,
        "steady",
        bob.player_id,
    ]
    assert match.seat == 2


async def test_whoever_is_out_has_lost_while_the_others_play_on(rig: Rig) -> None:
    ann, bob, cem = await rig.people("Ann", "Bob", "Cem")
    playing = await Playing.of(rig, ann, bob, cem)
    await playing.is_told(e.RoundStarted(1), bankrupt(2), at_ms=NOW_MS + 10)
    await playing.is_told(surrendered(1), at_ms=NOW_MS + 20)

    assert await went(ann) == [Went(PLAYING)]
    assert await went(bob) == [Went(LOST, None, 20)]
    assert await went(cem) == [Went(LOST, None, 10)]


async def test_at_the_end_everybody_has_a_place_and_when_they_were_out(rig: Rig) -> None:
    ann, bob, cem = await rig.people("Ann", "Bob", "Cem")
    playing = await Playing.of(rig, ann, bob, cem)
    await playing.is_told(bankrupt(2), at_ms=NOW_MS + 10)
    await playing.is_told(surrendered(0), ended((1,), (1, 0, 2)), at_ms=NOW_MS + 20)

    assert await went(ann) == [Went(LOST, 2, 20)]
    assert await went(bob) == [Went(WON, 1, 20)]
    assert await went(cem) == [Went(LOST, 3, 10)]


async def test_a_team_wins_with_whoever_is_out(rig: Rig) -> None:
    people = await rig.people("Ann", "Bob", "Cem", "Dan")
    playing = await Playing.of(rig, *people)
    await playing.is_told(bankrupt(2), at_ms=NOW_MS + 10)
    await playing.is_told(ended((0, 2), (0, 2, 1, 3)), at_ms=NOW_MS + 20)

    assert [(await went(person))[0] for person in people] == [
        Went(WON, 1, 20),
        Went(LOST, 3, 20),
        Went(WON, 2, 10),
        Went(LOST, 4, 20),
    ]


async def test_a_match_that_was_aborted_is_so_for_those_who_played_still(rig: Rig) -> None:
    ann, bob, cem = await rig.people("Ann", "Bob", "Cem")
    playing = await Playing.of(rig, ann, bob, cem)
    await playing.is_told(surrendered(2), at_ms=NOW_MS + 10)
    await playing.is_told(e.MatchAborted("broken", "operator:x"), at_ms=NOW_MS + 20)

    assert await went(ann) == await went(bob) == [Went(ABORTED, None, 20)]
    assert await went(cem) == [Went(LOST, None, 10)]


async def test_records_that_come_again_change_nothing(rig: Rig) -> None:
    ann, bob = await rig.people("Ann", "Bob")
    playing = await Playing.of(rig, ann, bob)
    out = playing.write(surrendered(1), at_ms=NOW_MS + 10)
    over = playing.write(ended((0, 1), (0, 1)), at_ms=NOW_MS + 20)
    await playing.publish(out, over)
    await playing.read_to(2)
    before = await went(bob)
    connection = await asyncpg.connect(rig.url)
    # As if it were read by a replica that knows nothing of it.
    await connection.execute("DELETE FROM lobby.followed_match")
    await connection.close()
    await rig.close_lobbies()
    rig.stub = await rig.open_lobby()
    bob = bob.through(rig.stub)
    await playing.publish(out, over)
    await playing.read_to(2)

    assert before == await went(bob) == [Went(WON, 2, 10)]


async def test_the_latest_match_comes_first_and_pages_go_on_from_there(rig: Rig) -> None:
    ann, bob = await rig.people("Ann", "Bob")
    started = list[str]()
    for number in range(5):
        rig.clock.advance(1)
        playing = await Playing.of(rig, *((ann, bob) if number % 2 else (ann,)))
        started.insert(0, playing.match_id)
        await playing.is_told(ended((0,), (0, 1)))
    first = await ann.matches(page_size=2)
    second = await ann.matches(page_size=2, page_token=first.next_page_token)
    third = await ann.matches(page_size=2, page_token=second.next_page_token)

    pages = [[match.match_id for match in page.matches] for page in (first, second, third)]
    assert pages == [started[:2], started[2:4], started[4:]]
    assert third.next_page_token == ""
    assert len((await bob.matches()).matches) == 2


async def test_of_somebody_who_was_erased_no_name_is_left(rig: Rig) -> None:
    ann, bob = await rig.people("Ann", "Bob")
    playing = await Playing.of(rig, ann, bob)
    await playing.is_told(ended((1,), (1, 0)))
    connection = await asyncpg.connect(rig.url)
    await connection.execute("DELETE FROM lobby.player WHERE player_id = $1", bob.player_id)
    await connection.close()
    (match,) = (await ann.matches()).matches

    assert [seat.player.display_name for seat in match.seats] == ["Ann", ""]
    assert match.seats[1].player.player_id == bob.player_id


async def test_whoever_is_nobody_has_no_matches_and_pages_are_checked(rig: Rig) -> None:
    (ann,) = await rig.people("Ann")
    nobody = await answer(Person(rig.stub, "").matches())
    wrong = await answer(ann.matches(page_size=-1, page_token="made up"))  # noqa: S106 - of pages

    assert nobody.told is not None
    assert nobody.told.reason == Reason.NOT_ALLOWED
    assert wrong.told is not None
    assert [violation.field for violation in wrong.told.violations] == ["page_size", "page_token"]


async def test_a_match_that_goes_on_while_the_lobby_is_upgraded_is_in_the_history(
    rig: Rig,
) -> None:
    ann, bob = await rig.people("Ann", "Bob")
    rig.clock.advance(5)
    playing = await Playing.of(rig, ann, bob)
    before = await ann.matches()
    statement = (MIGRATIONS / "0003_history.sql").read_text().rsplit("INSERT", 1)[1]
    connection = await asyncpg.connect(rig.url)
    await connection.execute("DELETE FROM lobby.player_match")
    await connection.execute(f"INSERT{statement}")
    await connection.close()

    assert await ann.matches() == before
    assert before.matches[0].match_id == playing.match_id
