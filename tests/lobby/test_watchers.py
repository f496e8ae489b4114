"""Whoever watches is told of each room the latest alone, and never has too much to be told."""

import asyncio

from services.lobby.room import Room
from services.lobby.watchers import NEWS_MAX, Shown, Watcher
from services.lobby.wire import room_message


def shown(room_id: str, sequence: int = 1, rule_set: str = "") -> Shown:
    room = Room(room_id=room_id, created_ms=1, sequence=sequence, rule_set=rule_set)
    return Shown(room, room_message(room, {}))


def watcher(*, is_behind: bool = False) -> Watcher:
    return Watcher(lambda room: room.rule_set == "", is_behind=is_behind)


async def test_of_a_room_only_the_latest_is_told() -> None:
    slow = watcher()
    for sequence in (1, 2, 3):
        slow.offer(shown("a", sequence))
        slow.offer(shown("b", sequence))
    slow.gone(shown("b").room)

    assert await slow.wait(0)
    assert slow.take() == ("a", shown("a", 3))
    slow.offer(shown("a", 4))
    assert slow.take() == ("b", None)
    assert slow.take() == ("a", shown("a", 4))
    assert not await slow.wait(0)


async def test_only_what_is_wanted_is_told() -> None:
    picky = watcher()
    picky.offer(shown("a", rule_set="another"))
    picky.gone(shown("b", rule_set="another").room)

    assert not await picky.wait(0)


async def test_whoever_has_too_much_to_be_told_is_told_all_anew() -> None:
    slow = watcher()
    for number in range(NEWS_MAX):
        slow.offer(shown(str(number)))
    assert not slow.is_behind
    slow.offer(shown("one more"))
    assert slow.is_behind
    slow.offer(shown("another"))

    assert await slow.wait(0)
    slow.catch_up()
    assert not await slow.wait(0)
    slow.offer(shown("a"))
    assert slow.take() == ("a", shown("a"))


async def test_whoever_begins_is_told_all_and_nothing_before_it() -> None:
    fresh = watcher(is_behind=True)
    fresh.offer(shown("a"))

    assert await fresh.wait(0)
    fresh.catch_up()
    assert not await fresh.wait(0)


async def test_news_wake_whoever_waits() -> None:
    quiet = watcher()
    waiting = asyncio.create_task(quiet.wait(60))
    await asyncio.sleep(0)
    quiet.offer(shown("a"))

    assert await waiting
