"""What it takes to show one match to many, and how long a system is away that was killed."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from time import perf_counter
from typing import Final, NamedTuple

from libs.client.client import Client
from libs.client.table import Table
from libs.kernel.ids import CommandId, MatchId
from libs.telemetry import logs
from tests.bench.crowd import Crowd, Times, gathered
from tests.bench.telling import tell
from tests.support.system import System, data_folder

MOVE_S: Final = 0.1
"""How long after one move the next is made: for the last to have come in everywhere."""

KILL_AFTER: Final = 5
"""Moves before each kill."""


class Audience(NamedTuple):
    """How much is measured: how many watch one match, for so many moves; and so many kills."""

    watchers: int = 500
    moves: int = 60
    kills: int = 5


FULL: Final = Audience()


def watch(audience: Audience = FULL) -> None:
    """Show one match to many, each over a stream of their own."""
    asyncio.run(_watch(audience))


def recover(audience: Audience = FULL) -> None:
    """Kill every process at once, and wait until somebody's next command is durable."""
    asyncio.run(_recover(audience))


async def _watch(audience: Audience) -> None:
    logs.configure(level="warning")
    # Everybody is somebody else, on one connection.
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(data_folder())
        system = System(folder)
        stack.push_async_callback(system.close)
        await system.start()
        crowd = await stack.enter_async_context(gathered(system, 1))
        client = await stack.enter_async_context(
            Client.connect(system.gateway, lambda: system.token("watcher", "spectator"))
        )
        arrivals = Arrivals()
        for number in range(audience.watchers):
            metadata = (("authorization", f"Bearer {system.token(f'w{number}', 'spectator')}"),)
            table = client.watch(MatchId(crowd.games[0].match_id), metadata)
            await stack.enter_async_context(table)
            task = asyncio.create_task(arrivals.follow(table))
            stack.callback(task.cancel)
        sent_s = await _move(crowd, audience.moves)
        await asyncio.sleep(1)
    shown = [at_s - sent_s[what] for what, at_s in arrivals.seen if what in sent_s]
    last = [max(times) - sent_s[what] for what, times in arrivals.by_record(sent_s).items()]
    whole = sum(len(times) == audience.watchers for times in arrivals.by_record(sent_s).values())
    print(f"  {f'{audience.watchers} watch one match, {len(sent_s)} moves':<44} p50       p99")
    tell("command to any watcher's stream", shown)
    tell("command to the last watcher's stream", last)
    print(f"    moves that came to everybody: {whole} of {len(sent_s)}")


class Arrivals:
    """When which record came to a watcher."""

    def __init__(self) -> None:
        self.seen: list[tuple[CommandId, float]] = []

    async def follow(self, table: Table) -> None:
        """Take down what a stream brings, until the match is over."""
        async for record in table:
            self.seen.append((record.command_id, perf_counter()))

    def by_record(self, which: dict[CommandId, float]) -> dict[CommandId, list[float]]:
        """Return all arrivals of each record of those."""
        found: dict[CommandId, list[float]] = {command_id: [] for command_id in which}
        for command_id, at_s in self.seen:
            if command_id in found:
                found[command_id].append(at_s)
        return {command_id: times for command_id, times in found.items() if times}


async def _move(crowd: Crowd, moves: int) -> dict[CommandId, float]:
    """Play the one match on, and return when each command was sent."""
    [game] = crowd.games
    sent: dict[CommandId, float] = {}
    while len(sent) < moves and not game.is_over:
        await game.ready()
        await game.move(Times(), sent)
        await asyncio.sleep(MOVE_S)
    return sent


async def _recover(audience: Audience) -> None:
    logs.configure(level="warning")
    away: list[float] = []
    with data_folder() as folder:
        system = System(folder)
        try:
            await system.start()
            async with gathered(system, 1) as crowd:
                await crowd.hurry(1, KILL_AFTER)
                for _ in range(audience.kills):
                    began_s = perf_counter()
                    system.kill()
                    await system.start()
                    await crowd.hurry(1, 1)
                    away.append(perf_counter() - began_s)
                    await crowd.hurry(1, KILL_AFTER)
        finally:
            await asyncio.shield(system.close())
    print(f"  {f'{len(away)} kills -9 of every service at once':<44} p50       p99")
    tell("from the kill to the next durable command", away)
