"""A system that is killed at any moment goes on where it was, and nothing acknowledged is lost.

Cited: I1-I6, I9-I13; W5, W6, T6, T8.
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from hashlib import sha256
from typing import Final, TypeVar

import grpc
import pytest
from grpc import StatusCode

from libs.chassis.status import answer_of
from libs.client.client import Client
from libs.client.replies import Accepted
from libs.kernel.clock import SystemClock
from libs.kernel.ids import CommandId, MatchId, fresh_id
from libs.kernel.reasons import Reason
from libs.simulation.auditing import audit
from opolyx.lobby.v1 import lobby_service_pb2 as lobby_pb
from opolyx.lobby.v1.room_pb2 import Room
from services.console.connection import read_match
from services.console.seat import PlayedSeat
from tests.support.histories import Acknowledged, check_history
from tests.support.system import System, data_folder, running_system
from tests.support.waiting import until

pytestmark = [pytest.mark.slow, pytest.mark.postgres]

KILLS: Final = 20
PACE_MS: Final = 40
PLAYERS: Final = 3
MOVES: Final = 5
"""Records that each player sees between two kills, at least."""
VICTIMS: Final = ("process", "postgres", "both")
PASSING: Final = (
    StatusCode.UNAVAILABLE,
    StatusCode.DEADLINE_EXCEEDED,
    StatusCode.RESOURCE_EXHAUSTED,
)
CLOCK: Final = SystemClock()

T = TypeVar("T")


def new_id() -> CommandId:
    return CommandId(fresh_id(CLOCK.now_ms()))


class Player:
    """A person who plays match after match against bots, whatever becomes of the system."""

    def __init__(self, system: System, name: str) -> None:
        self.matches: list[MatchId] = []
        self.acknowledged: list[Acknowledged] = []
        self.records = 0
        self._system = system
        self._name = name

    async def play(self) -> None:
        """Play on until cancelled."""
        async with self._system.client(self._name) as client:
            while True:
                match_id = await self._start(client)
                self.matches.append(match_id)
                await self._finish(client, match_id)

    async def _start(self, client: Client) -> MatchId:
        """Start a match with two bots, sending each command until it is answered."""
        create, *adds, start = (new_id() for _ in range(4))
        made = lobby_pb.CreateRoomRequest(
            command_id=create, rule_set="opolyx.classic@2", seat_count=3
        )
        room = await persist(partial(client.lobby.CreateRoom, made))
        for command_id in adds:
            added = lobby_pb.AddBotRequest(
                room_id=room.room_id, command_id=command_id, strength="novice"
            )
            await persist(partial(client.lobby.AddBot, added))
        started = lobby_pb.StartMatchRequest(room_id=room.room_id, command_id=start)
        room = await persist(partial(client.lobby.StartMatch, started))
        while room.state == Room.STATE_STARTING:
            await asyncio.sleep(0.05)
            asked = lobby_pb.GetRoomRequest(room_id=room.room_id)
            room = await persist(partial(client.lobby.GetRoom, asked))
        return MatchId(room.match_id)

    async def _finish(self, client: Client, match_id: MatchId) -> None:
        """Play a match to its end."""
        async with client.play(match_id) as table:
            seat = PlayedSeat(table, 0, 1)
            async for _ in table:
                self.records += 1
                if table.has_waiting:
                    continue
                answered = await seat.play()
                if answered is not None and isinstance(answered.reply, Accepted):
                    told = Acknowledged(match_id, 0, answered.command_id, answered.reply)
                    self.acknowledged.append(told)


async def persist(call: Callable[[], Awaitable[T]]) -> T:
    """Call until there is an answer, as a client does that has a command's id.

    Whose match has just ended is told of it before the lobby has read that in the log.
    """
    async with asyncio.timeout(60):
        while True:
            try:
                return await call()
            except grpc.aio.AioRpcError as error:
                told = answer_of(error).told
                is_bound = told is not None and told.reason == Reason.ALREADY_IN_MATCH
                if error.code() not in PASSING and not is_bound:
                    raise
                await asyncio.sleep(0.1)


async def strike(system: System, victim: str) -> None:
    """Kill what is named, and start what does not start by itself."""
    if victim != "process":
        system.kill_postgres()
    if victim != "postgres":
        system.kill()
        await system.start()


async def test_nothing_is_lost_by_twenty_kills() -> None:
    """I1-I6, I9-I13; W5, W6, T6, T8."""
    async with running_system(pace_ms=PACE_MS) as system:
        players = [Player(system, f"player-{number}") for number in range(PLAYERS)]
        playing = [asyncio.create_task(player.play()) for player in players]
        for number in range(KILLS):
            await go_on(players, playing, within_s=60)
            await asyncio.sleep(moment_s(number))
            await strike(system, VICTIMS[number % len(VICTIMS)])
        await go_on(players, playing, within_s=60)
        for task in playing:
            task.cancel()
        await asyncio.gather(*playing, return_exceptions=True)
        await check(system, players)


def moment_s(number: int) -> float:
    """Return how long after a sign of life to strike: anywhere in half a second, but repeatably."""
    return sha256(f"kill {number}".encode()).digest()[0] / 512


async def go_on(players: list[Player], playing: list[asyncio.Task[None]], within_s: float) -> None:
    """Return when every player has seen more of a match; matches go on by themselves."""
    before = [player.records for player in players]

    def all_went_on() -> bool:
        for task in playing:
            if task.done():
                task.result()
        return all(
            player.records >= seen + MOVES for player, seen in zip(players, before, strict=True)
        )

    await until(all_went_on, within_s)


async def check(system: System, players: list[Player]) -> None:
    """Hold every match to all invariants, and to what the players were told."""
    async with system.client("auditor") as client:
        for player in players:
            assert player.acknowledged
            for match_id in player.matches:
                records, head = await read_match(client, match_id)
                audited = audit(records)
                told = [one for one in player.acknowledged if one.match_id == match_id]
                check_history(records, told)

                assert audited.last_hash == head.hash


async def test_no_server_is_left_behind() -> None:
    with data_folder() as folder:
        system = System(folder)
        await system.start()
        server = system.postgres()
        system.kill()

        await until(lambda: system.postgres() is None)
        assert server is not None
        await system.close()


async def test_a_good_end_leaves_nothing_behind_either() -> None:
    with data_folder() as folder:
        system = System(folder)
        await system.start()
        code = system.stop()

        assert code == 0
        assert system.postgres() is None
