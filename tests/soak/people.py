"""People who play match after match, each with a habit that a server has to bear."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import Final, TypeVar

import grpc
from grpc import StatusCode

from libs.chassis.status import answer_of
from libs.client.client import Client
from libs.client.replies import Accepted, Reply
from libs.client.table import Table
from libs.kernel.clock import SystemClock
from libs.kernel.ids import CommandId, MatchId, fresh_id
from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.rules import phases
from libs.rules.rule_sets import RULE_SETS
from opolyx.lobby.v1 import lobby_service_pb2 as lobby_pb
from opolyx.lobby.v1.room_pb2 import Room
from services.console.seat import PlayedSeat
from tests.support.histories import Acknowledged
from tests.support.system import System
from tests.support.walks import Dice

HABITS: Final = ("steady", "leaves", "repeats", "gives up")
"""What people do beside playing: nothing; go and come back; send all twice; surrender."""

STAYS: Final = 25
"""Records after which somebody who leaves goes, about."""

AWAY_S: Final = 12.0
"""How long they stay away at most: longer than the clock of a roll."""

ENOUGH: Final = 30
"""Moves after which somebody who gives up does."""

CLOCK: Final = SystemClock()

T = TypeVar("T")


@dataclass(slots=True)
class Seen:
    """What all people together have seen.

    Attributes:
        matches: those that were begun.
        ended: how many of them were played to their end.
        acknowledged: every command that was accepted, with its reply.
        refused: how many were not, by reason.
        returned: how often somebody came back to a match.
        repeated: how often a command was sent twice, and answered alike.
        errors: what must not happen.
        waited_s: how long each acknowledgement took, in order.

    """

    matches: list[MatchId] = field(default_factory=list)
    ended: int = 0
    acknowledged: list[Acknowledged] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    returned: int = 0
    repeated: int = 0
    errors: list[str] = field(default_factory=list)
    waited_s: list[float] = field(default_factory=list)


class Person:
    """Somebody who plays against bots, one match after the other, at a human pace or so."""

    def __init__(self, system: System, number: int, seen: Seen, pace_s: float) -> None:
        """Be the person of this number, which decides on habit, rule set, seats and chance."""
        self._system = system
        self._number = number
        self._habit = HABITS[number % len(HABITS)]
        self._seen = seen
        self._pace_s = pace_s
        self._dice = Dice(number)
        self._known_seq = 0

    async def play(self) -> None:
        """Play on until cancelled; an error ends one match and is written down."""
        async with self._system.client(f"soak-{self._number}") as client:
            while True:
                try:
                    match_id = await self._start(client)
                    self._seen.matches.append(match_id)
                    await self._finish(client, match_id)
                    self._seen.ended += 1
                except Exception as error:  # noqa: BLE001 - one is one too many, and is told
                    self._seen.errors.append(f"soak-{self._number}: {error!r}"[:500])
                    await asyncio.sleep(1)

    async def _start(self, client: Client) -> MatchId:
        rule_set = tuple(RULE_SETS)[self._dice.below(len(RULE_SETS))]
        seats = 4 if "teams" in rule_set else 2 + self._dice.below(3)
        made = lobby_pb.CreateRoomRequest(command_id=_new_id(), rule_set=rule_set, seat_count=seats)
        room = await _persist(partial(client.lobby.CreateRoom, made))
        for _ in range(1, seats):
            added = lobby_pb.AddBotRequest(
                room_id=room.room_id, command_id=_new_id(), strength="steady"
            )
            await _persist(partial(client.lobby.AddBot, added))
        started = lobby_pb.StartMatchRequest(room_id=room.room_id, command_id=_new_id())
        room = await _persist(partial(client.lobby.StartMatch, started))
        while room.state == Room.STATE_STARTING:
            await asyncio.sleep(0.2)
            asked = lobby_pb.GetRoomRequest(room_id=room.room_id)
            room = await _persist(partial(client.lobby.GetRoom, asked))
        return MatchId(room.match_id)

    async def _finish(self, client: Client, match_id: MatchId) -> None:
        """Play a match until it is over, or this person is out of it and has seen enough."""
        self._known_seq = 0
        while not await self._sit(client, match_id):
            self._seen.returned += 1
            await asyncio.sleep(self._dice.below(int(AWAY_S * 10)) / 10)

    async def _sit(self, client: Client, match_id: MatchId) -> bool:
        """Play on; returns whether that was all, or else one is to come back."""
        records = moves = 0
        stays = STAYS + self._dice.below(STAYS)
        async with client.play(match_id) as table:
            seat = PlayedSeat(table, 0, self._number)
            async for _ in table:
                records += 1
                # Whoever comes back sees the past first, and does nothing in it.
                if table.has_waiting or table.match.sequence < self._known_seq:
                    continue
                if _is_out(table):
                    return True
                if self._habit == "leaves" and records > stays and table.match.turn != 0:
                    self._known_seq = table.last_seq
                    return False
                command = seat.decide()
                if command is None:
                    continue
                await asyncio.sleep(self._pace_s)
                moves += 1
                if self._habit == "gives up" and moves > ENOUGH:
                    command = c.Surrender(0)
                await self._give(table, command)
        return True

    async def _give(self, table: Table, command: c.SeatCommand) -> None:
        command_id, began_s = _new_id(), perf_counter()
        reply = await table.submit(command, command_id)
        self._seen.waited_s.append(perf_counter() - began_s)
        if not isinstance(reply, Accepted):
            self._seen.refused[reply.reason] += 1
            return
        told = Acknowledged(table.match_id, 0, command_id, reply)
        self._seen.acknowledged.append(told)
        if self._habit == "repeats":
            self._check_same(reply, await table.submit(command, command_id))

    def _check_same(self, first: Accepted, again: Reply) -> None:
        self._seen.repeated += 1
        if again != first:
            self._seen.errors.append(f"a repeat was answered by {again}, at first by {first}")


def _is_out(table: Table) -> bool:
    match = table.match
    return match.phase == phases.ENDED or (match.has_seat(0) and match.out[0])


def _new_id() -> CommandId:
    return CommandId(fresh_id(CLOCK.now_ms()))


async def _persist(call: Callable[[], Awaitable[T]]) -> T:
    """Call until there is an answer that lasts; what passes is waited out, as clients do."""
    async with asyncio.timeout(60):
        while True:
            try:
                return await call()
            except grpc.aio.AioRpcError as error:
                answer = answer_of(error)
                reason = "" if answer.told is None else answer.told.reason
                is_passing = error.code() is StatusCode.UNAVAILABLE or reason in (
                    Reason.RATE_LIMITED,
                    Reason.OVERLOADED,
                )
                if not is_passing:
                    raise
                await asyncio.sleep((answer.retry_after_ms or 200) / 1000)
