"""A crowd of people at many tables, who play as fast as they are told to. Nobody's server."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from itertools import count
from time import perf_counter
from typing import Final, NamedTuple

import grpc

from libs.chassis.admission import AUTHORIZATION
from libs.client.client import Client
from libs.client.replies import Accepted
from libs.client.stream import Metadata
from libs.client.table import Table
from libs.kernel.clock import SystemClock
from libs.kernel.ids import CommandId, MatchId, fresh_id
from libs.rules import commands as c
from opolyx.lobby.v1 import lobby_service_pb2 as lobby_pb
from opolyx.lobby.v1.room_pb2 import Room
from services.console.seat import PlayedSeat
from tests.support.system import System

RULE_SET: Final = "opolyx.classic@2"
SEATS: Final = 2
AT_ONCE: Final = 8
"""How many matches are made at a time."""

SETTLE_S: Final = 30.0
PAUSE_S: Final = 0.05
CLOCK: Final = SystemClock()


class Times:
    """What was measured, all in seconds.

    Attributes:
        acknowledged: from sending a command to hearing that it is durable.
        pushed: from there to the other player's stream bringing its record.
        late: how much later than it should have been a command was sent: the crowd's own fault.
        refused: how many commands were, and count nowhere else.

    """

    def __init__(self) -> None:
        self.acknowledged: list[float] = []
        self.pushed: list[float] = []
        self.late: list[float] = []
        self.refused = 0


class _Sent(NamedTuple):
    seat: int
    at_s: float
    times: Times


class Game:
    """A match, and those who play it: each has a stream of their own, as at two machines."""

    def __init__(self, match_id: MatchId, tables: Sequence[Table], number: int) -> None:
        self.match_id = match_id
        self.is_over = False
        self._tables = tables
        self._seats = [PlayedSeat(table, seat, number) for seat, table in enumerate(tables)]
        self._sent: dict[CommandId, _Sent] = {}
        self._is_moving = False
        self._changed = asyncio.Event()

    async def follow(self, seat: int) -> None:
        """Take in what the stream of a seat brings, until the match is over."""
        async for record in self._tables[seat]:
            sent = self._sent.get(record.command_id)
            if sent is not None and sent.seat != seat:
                sent.times.pushed.append(perf_counter() - sent.at_s)
                del self._sent[record.command_id]
            self._changed.set()
        self.is_over = True
        self._changed.set()

    @property
    def is_ready(self) -> bool:
        """Whether all that was done so far has come in everywhere."""
        if self._is_moving or self._sent or self.is_over:
            return False
        return len({table.match.sequence for table in self._tables}) == 1

    async def ready(self) -> None:
        """Wait until `is_ready`, or the match is over."""
        while not (self.is_ready or self.is_over):
            self._changed.clear()
            await self._changed.wait()

    async def move(self, times: Times, sent: dict[CommandId, float] | None = None) -> None:
        """Have whoever is asked do what they want to, and take down how long that takes.

        When each command was sent is added to *sent*.
        """
        for seat, played in enumerate(self._seats):
            command = played.decide()
            if command is not None:
                command_id = CommandId(fresh_id(CLOCK.now_ms()))
                if sent is not None:
                    sent[command_id] = perf_counter()
                await self._give(seat, command, command_id, times)
                return

    async def _give(
        self, seat: int, command: c.SeatCommand, command_id: CommandId, times: Times
    ) -> None:
        table = self._tables[seat]
        sequence = table.match.sequence
        self._is_moving = True
        began_s = perf_counter()
        self._sent[command_id] = _Sent(seat, began_s, times)
        try:
            reply = await table.submit(command, command_id, expected_sequence=sequence)
        finally:
            self._is_moving = False
            self._changed.set()
        if isinstance(reply, Accepted):
            times.acknowledged.append(perf_counter() - began_s)
        else:
            times.refused += 1
            del self._sent[command_id]


class Crowd:
    """All games. Made by `gathered`."""

    def __init__(self, games: Sequence[Game], tasks: asyncio.TaskGroup) -> None:
        self.games = games
        self._tasks = tasks
        self._turns = deque(games)

    async def play(self, per_s: float, seconds: float) -> Times:
        """Give *per_s* commands a second in all, whether or not those before are answered."""
        times = Times()
        began_s = perf_counter()
        for number in count():
            due_s = number / per_s
            if due_s >= seconds:
                break
            await asyncio.sleep(max(began_s + due_s - perf_counter(), 0))
            game = self._next()
            if game is not None:
                times.late.append(perf_counter() - began_s - due_s)
                self._tasks.create_task(game.move(times))
        await self.settle()
        return times

    async def hurry(self, games: int, moves: int) -> Times:
        """Play so many games so many moves on, each move as soon as the last has come in."""
        times = Times()
        async with asyncio.TaskGroup() as group:
            for game in self.games[:games]:
                group.create_task(_hurry(game, moves, times))
        return times

    async def settle(self) -> None:
        """Wait until everything that was done has come in."""
        async with asyncio.timeout(SETTLE_S):
            for game in self.games:
                await game.ready()

    def _next(self) -> Game | None:
        """Return whose turn it is, of those that can be played on."""
        for _ in range(len(self._turns)):
            game = self._turns[0]
            self._turns.rotate(-1)
            if game.is_ready:
                return game
        return None


@asynccontextmanager
async def gathered(system: System, matches: int) -> AsyncIterator[Crowd]:
    """Yield people at so many tables, whose matches have begun."""
    places = asyncio.Semaphore(AT_ONCE)
    # Everybody comes as somebody else, but over one connection.
    async with Client.connect(system.gateway) as client, AsyncExitStack() as stack:

        async def sit_down(number: int) -> Game:
            people = [_person(system, f"{number}-{seat}") for seat in range(SEATS)]
            async with places:
                match_id = await _start(client, people)
                tables = [
                    await stack.enter_async_context(client.play(match_id, person))
                    for person in people
                ]
            return Game(match_id, tables, number)

        async with asyncio.TaskGroup() as group:
            sitting = [group.create_task(sit_down(number)) for number in range(matches)]
        games = [task.result() for task in sitting]
        async with asyncio.TaskGroup() as tasks:
            following = [
                tasks.create_task(game.follow(seat)) for game in games for seat in range(SEATS)
            ]
            try:
                yield Crowd(games, tasks)
            finally:
                for task in following:
                    task.cancel()


def _person(system: System, name: str) -> Metadata:
    return ((AUTHORIZATION, f"Bearer {system.token(f'player-{name}')}"),)


async def _start(client: Client, people: Sequence[Metadata]) -> MatchId:
    """Have people meet in a room, and start their match."""
    lobby = client.lobby
    first, *others = people
    made = lobby_pb.CreateRoomRequest(
        command_id=_new_id(), rule_set=RULE_SET, seat_count=len(people)
    )
    room = await _persist(partial(lobby.CreateRoom, made, metadata=first))
    room_id = room.room_id
    for person in others:
        joined = lobby_pb.JoinRoomRequest(command_id=_new_id(), room_id=room_id)
        await _persist(partial(lobby.JoinRoom, joined, metadata=person))
        ready = lobby_pb.SetReadyRequest(command_id=_new_id(), room_id=room_id, ready=True)
        await _persist(partial(lobby.SetReady, ready, metadata=person))
    started = lobby_pb.StartMatchRequest(command_id=_new_id(), room_id=room_id)
    room = await _persist(partial(lobby.StartMatch, started, metadata=first))
    while room.state == Room.STATE_STARTING:
        await asyncio.sleep(PAUSE_S)
        asked = lobby_pb.GetRoomRequest(room_id=room_id)
        room = await _persist(partial(lobby.GetRoom, asked, metadata=first))
    return MatchId(room.match_id)


async def _persist(call: Callable[[], Awaitable[Room]]) -> Room:
    """Call until there is an answer: not all services may have found each other yet."""
    async with asyncio.timeout(SETTLE_S):
        while True:
            try:
                return await call()
            except grpc.aio.AioRpcError as error:
                if error.code() is not grpc.StatusCode.UNAVAILABLE:
                    raise
            await asyncio.sleep(PAUSE_S)


async def _hurry(game: Game, moves: int, times: Times) -> None:
    for _ in range(moves):
        await game.ready()
        if game.is_over:
            return
        await game.move(times)


def _new_id() -> str:
    return fresh_id(CLOCK.now_ms())
