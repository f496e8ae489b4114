"""An engine's core over a store in memory, with a clock that is moved by hand, and known chance.

    table = await Rig().table(people=2)
    await table.submit(c.Roll(table.turn))

Several rigs on one store are several engines: `rig.other()`.
"""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from libs.bots.strengths import STRENGTHS
from libs.chassis.sealing import Sealer
from libs.chassis.status import RefusedError
from libs.kernel.clock import ManualClock
from libs.kernel.ids import CommandId, MatchId, SeededIds, fresh_id
from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules import phases
from libs.rules.clocks import next_deadline
from libs.rules.events import DeadlineSet
from libs.rules.legal import LegalCommands
from libs.rules.match import Match
from libs.rules.views import View
from libs.store.directory import EngineStore
from libs.store.memory import Fault, MemoryMatchStore
from libs.store.ownership import Outage
from libs.wire.chain import follow
from libs.wire.heads import SigningKey
from libs.wire.record import StoredRecord
from opolyx.match.v1 import match_service_pb2 as pb
from opolyx.record.v1 import event_pb2
from services.match_engine.deciding import Accepted, Decider, Fired
from services.match_engine.live import LiveMatch
from services.match_engine.matches import CAPACITY, Matches
from services.match_engine.seeds import Seeds
from services.match_engine.signing import SigningKeys

START_MS = 1_750_000_000_000
RULE_SET = "opolyx.classic@2"
SEAL_KEY = bytes(range(32))
NOWHERE = Path("/nonexistent")


class Gate:
    """Holds up the next call of one method.

    Attributes:
        reached: set when the call is there. open: to be set to let it go on.

    """

    def __init__(
        self, faults: "Faults", method: str, then: Fault | Exception | None = None
    ) -> None:
        """Hold the call, and let it suffer what comes *then*."""
        self.reached = asyncio.Event()
        self.open = asyncio.Event()
        self.then = then
        faults.gates[method] = self

    async def pass_through(self) -> Fault | None:
        self.reached.set()
        await self.open.wait()
        if isinstance(self.then, Exception):
            raise self.then
        return self.then


class Faults:
    """What goes wrong with the next calls of a store, by method; nothing that was not asked for.

    Attributes:
        calls: the methods that were called, in order.
        gates: what holds up the next call of a method.

    """

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.gates: dict[str, Gate] = {}
        self._next: dict[str, list[Fault | None]] = {}

    def plan(self, method: str, *faults: Fault | None) -> None:
        """Let the next calls of *method* suffer these, one each."""
        self._next.setdefault(method, []).extend(faults)

    async def __call__(self, method: str) -> Fault | None:
        self.calls.append(method)
        gate = self.gates.pop(method, None)
        if gate is not None:
            return await gate.pass_through()
        planned = self._next.get(method)
        return planned.pop(0) if planned else None


class Heard:
    """A listener that writes down what it hears."""

    def __init__(self) -> None:
        self.records: list[StoredRecord] = []
        self.dropped_ids: list[tuple[MatchId, Reason]] = []

    def committed(self, live: LiveMatch, record: StoredRecord) -> None:
        assert live.chain.last_seq == record.last_seq == live.match.sequence
        self.records.append(record)

    def dropped(self, match_id: MatchId, reason: Reason) -> None:
        self.dropped_ids.append((match_id, reason))


@dataclass
class Shards:
    """What an engine is told of its shards."""

    owned: bool = True
    outages: Sequence[Outage] = ()

    def owns(self, _: int) -> bool:
        return self.owned

    def outages_of(self, _: int) -> Sequence[Outage]:
        return self.outages if self.owned else ()


class Rig:
    """One engine's core, and what it stands on.

    Attributes:
        clock, store, faults, shards: the world. *store* itself suffers no fault.
        matches, decider, heard: the engine's; *heard* is its one listener.
        key: by which it signs heads.

    """

    def __init__(
        self,
        *,
        clock: ManualClock | None = None,
        store: EngineStore | None = None,
        capacity: int = CAPACITY,
        name: str = "a rig",
    ) -> None:
        """Make one; rigs of the same *name* make matches of the same ids and seeds."""
        self.clock = clock or ManualClock(START_MS)
        self.store: EngineStore = store or MemoryMatchStore(self.clock)
        self._ids = SeededIds(name.encode())
        self.faults = Faults()
        self.shards = Shards()
        far = self.store
        if isinstance(far, MemoryMatchStore):
            far = far.seen_through(self.faults)
        self.far: EngineStore = far
        self.seeds = Seeds(Sealer(NOWHERE, {"seal-0001": AESGCM(SEAL_KEY)}))
        self.key = SigningKey(bytes(32), "head-0001")
        self.keys = SigningKeys(self.key)
        self.matches = Matches(far, self.seeds, self.shards.owns, capacity=capacity)
        self.heard = Heard()
        self.matches.listen(self.heard)
        self.decider = Decider(
            far,
            self.matches,
            self.seeds,
            self.keys,
            self.clock,
            self.shards.outages_of,
            fresh_seed=self._next_seed,
        )

    def other(self) -> "Rig":
        """Return another engine on the same store, by the same clock."""
        return Rig(clock=self.clock, store=self.store)

    async def table(self, *, people: int = 0, bots: int = 2, rule_set: str = RULE_SET) -> "Table":
        """Make a match; without people it has started."""
        match_id = self._ids.match_id(self.clock.now_ms())
        request = new_match(match_id, people=people, bots=bots, rule_set=rule_set)
        await self.decider.create(request, CommandId(request.command_id))
        return Table(self, match_id)

    def _next_seed(self) -> bytes:
        return sha256(self._ids.command_id(START_MS).encode()).digest()


class Table:
    """A match at an engine. Commands take no time unless the clock is moved."""

    def __init__(self, rig: Rig, match_id: MatchId) -> None:
        self.rig = rig
        self.match_id = match_id

    def at(self, rig: Rig) -> "Table":
        """Return the same match at another engine."""
        return Table(rig, self.match_id)

    async def live(self) -> LiveMatch:
        """Return the match, loaded if need be."""
        return await self.rig.decider.read(self.match_id)

    async def match(self) -> Match:
        """Return the state."""
        return (await self.live()).match

    async def deadline(self) -> DeadlineSet:
        """Return the deadline that fires first."""
        deadline = next_deadline(await self.match())
        assert deadline is not None
        return deadline

    async def submit(
        self,
        command: c.Command,
        *,
        command_id: CommandId | None = None,
        expected_sequence: int | None = None,
        queue_until_ms: int | None = None,
    ) -> Accepted:
        """Give a command."""
        return await self.rig.decider.submit(
            self.match_id,
            command_id or a_command_id(),
            lambda _: command,
            expected_sequence=expected_sequence,
            queue_until_ms=queue_until_ms,
        )

    async def fire(self, deadline_id: str) -> Fired:
        """Fire a deadline."""
        return await self.rig.decider.fire(self.match_id, deadline_id)

    async def time_out(self) -> Fired:
        """Let time pass until the next deadline fires, grace and all, and fire it."""
        deadline = await self.deadline()
        self.rig.clock.advance(max(deadline.due + 250 - self.rig.clock.now_ms(), 0))
        return await self.fire(deadline.deadline_id)

    async def act(self) -> Accepted:
        """Let whoever must decide do what a bot would do, or let the time pass."""
        match = await self.match()
        seat = match.pending_seats()[0]
        command = STRENGTHS["steady"](View(match, seat), LegalCommands(match, seat))
        if command is not None:
            return await self.submit(command)
        accepted = (await self.time_out()).accepted
        assert accepted is not None
        return accepted

    async def play_until(self, phase: str) -> Match:
        """Play until the match is in a phase; properties go to auctions if that is the one."""
        while (match := await self.match()).phase != phase:
            self.rig.clock.advance(100)
            if match.phase == phases.BUY and phase == phases.AUCTION:
                await self.submit(c.Decline(match.turn))
            else:
                await self.act()
        return match

    async def records(self) -> list[StoredRecord]:
        """Return all records, from the store itself."""
        records: list[StoredRecord] = []
        while page := await self.rig.store.records(
            self.match_id, records[-1].last_seq if records else 0
        ):
            records += page
        return records

    async def events(self) -> list[e.Event]:
        """Return all that happened, from the store itself."""
        return [event for record in follow(await self.records()) for event in record.events]


async def a_table() -> Table:
    """Make a match that waits for seat 0 or 1 to roll, with nothing heard of yet."""
    table = await Rig().table()
    table.rig.heard.records.clear()
    table.rig.faults.calls.clear()
    return table


def new_match(
    match_id: MatchId, *, people: int = 0, bots: int = 2, rule_set: str = RULE_SET
) -> pb.CreateMatchRequest:
    """Return a request for a match, under a command id of its own."""
    persons = [
        event_pb2.SeatSpec(kind=event_pb2.SeatSpec.KIND_PERSON, player=a_command_id())
        for _ in range(people)
    ]
    plain = event_pb2.SeatSpec(kind=event_pb2.SeatSpec.KIND_BOT, strength="steady")
    return pb.CreateMatchRequest(
        command_id=a_command_id(),
        match_id=match_id,
        rule_set=rule_set,
        seats=[*persons, *([plain] * bots)],
    )


@contextmanager
def refused_as(reason: Reason) -> Iterator[dict[str, str]]:
    """Expect a refusal; its metadata is there afterwards."""
    metadata: dict[str, str] = {}
    with pytest.raises(RefusedError) as caught:
        yield metadata
    metadata.update(caught.value.told.metadata)
    assert caught.value.told.reason == reason


def a_command_id() -> CommandId:
    """Return an id that nobody has used."""
    return CommandId(fresh_id(START_MS))
