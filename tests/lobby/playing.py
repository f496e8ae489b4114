"""A match that came from a room, whose records a test writes."""

from typing import Self

import asyncpg

from libs.eventlog.ports import Entry
from libs.eventlog.topics import MATCH_RECORDS
from libs.kernel.ids import CommandId, MatchId
from libs.rules import events as e
from libs.wire.chain import Chain
from libs.wire.record import SYSTEM, StoredRecord
from opolyx.lobby.v1.room_pb2 import Room
from opolyx.record.v1 import stored_record_pb2
from tests.lobby.rig import NOW_MS, Person, Rig, new_id
from tests.support.waiting import until


class Playing:
    """A match of people on its seats 0, 1, ..."""

    def __init__(self, rig: Rig, room: Room, *people: Person) -> None:
        self.rig = rig
        self.room = room
        self.people = people
        self.match_id = MatchId(room.match_id)
        self._chain = Chain(self.match_id)
        self._last_seq = 0

    @classmethod
    async def of(cls, rig: Rig, first: Person, *others: Person) -> Self:
        """Start a match of these people."""
        room = await first.create(seat_count=max(2, 1 + len(others)))
        for person in others:
            await person.join(room.room_id)
            await person.set_ready(room.room_id)
        if not others:
            await first.add_bot(room.room_id)
        return cls(rig, await first.start(room.room_id), first, *others)

    def write(self, *events: e.Event, at_ms: int = NOW_MS) -> StoredRecord:
        """Write the next record, which the engine has and the log does not yet."""
        stored = self._chain.join(CommandId(new_id()), SYSTEM, at_ms, events)
        self._last_seq = stored.last_seq
        held = self.rig.engine.records.setdefault(self.match_id, [])
        held.append(stored_record_pb2.StoredRecord(**stored._asdict()))
        return stored

    async def publish(self, *records: StoredRecord) -> None:
        await self.rig.append(*(self.entry(record.data) for record in records))

    async def happens(self, *events: e.Event, at_ms: int = NOW_MS) -> None:
        """Write a record, and publish it."""
        await self.publish(self.write(*events, at_ms=at_ms))

    async def is_told(self, *events: e.Event, at_ms: int = NOW_MS) -> None:
        """Write a record, and wait until the lobby has read it."""
        await self.happens(*events, at_ms=at_ms)
        await self.read_to(self._last_seq)

    def entry(self, data: bytes) -> Entry:
        return Entry(topic=MATCH_RECORDS.name, key=self.match_id, value=data)

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
