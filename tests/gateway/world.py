"""What the engines of a test share: matches, and whose they are."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from typing import Any, Protocol

import grpc

from libs.chassis.admission import ON_BEHALF
from libs.chassis.status import RefusedError, status_of
from libs.rules import events as e
from libs.wire.record import StoredRecord
from libs.wire.refusals import refused_message
from opolyx.engine.v1 import caller_pb2
from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx.match.v1 import access_pb2, refused_pb2
from opolyx.record.v1 import stored_record_pb2 as record_pb
from tests.support.gateway import LiveMatch


class Served(Protocol):
    """Something that can be called."""

    address: str


class World:
    """The matches that there are, and which engine owns all of them now.

    Those that are *private* are for their seats, for operators, and for these guests.
    """

    def __init__(self) -> None:
        self.matches: dict[str, LiveMatch] = {}
        self.private: dict[str, set[str]] = {}
        self.owner = ""
        self.epoch = 1
        self.moved = asyncio.Event()

    def add(self, live: LiveMatch) -> LiveMatch:
        self.matches[live.match_id] = live
        return live

    def watching(self, match_id: str) -> access_pb2.Access.Watching.ValueType:
        """Return who may watch a match, as an engine says it."""
        if match_id in self.private:
            return access_pb2.Access.WATCHING_INVITED
        return access_pb2.Access.WATCHING_EVERYBODY

    def shows(self, match_id: str, caller: caller_pb2.Caller) -> bool:
        """Tell whether there is such a match for *caller*."""
        live, guests = self.matches.get(match_id), self.private.get(match_id)
        if live is None or guests is None:
            return live is not None
        return bool(caller.operator_id) or (
            caller.player_id in guests or seat_of(live, caller) != e.NOBODY
        )

    def move(self, engine: Served) -> None:
        """Give all matches to an engine; the others refuse them from now on."""
        self.owner = engine.address
        self.epoch += 1
        self.moved.set()
        self.moved = asyncio.Event()
        for live in self.matches.values():
            live.news()


def stored_message(record: StoredRecord, forged: Collection[int] = ()) -> record_pb.StoredRecord:
    """Return a record as it is sent; where its sequence is among *forged*, with other bytes."""
    first_seq, last_seq, record_hash, data = record
    data += b" " if first_seq in forged else b""
    return record_pb.StoredRecord(
        first_seq=first_seq, last_seq=last_seq, hash=record_hash, data=data
    )


def seat_of(live: LiveMatch, caller: caller_pb2.Caller) -> int:
    """Return the seat of a caller, `NOBODY` if it has none."""
    if caller.HasField("bot_seat"):
        return caller.bot_seat
    people = {spec.player: seat for seat, spec in enumerate(live.match.specs) if spec.player}
    return people.get(caller.player_id or caller.operator_id, e.NOBODY)


async def beat(say: Callable[[Any], Any], pulse: Any) -> None:
    while True:
        await asyncio.sleep(0.2)
        await say(pulse)


async def cancel(*tasks: asyncio.Task[Any]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def on_behalf_of(context: grpc.aio.ServicerContext[Any, Any]) -> caller_pb2.Caller:
    """Return on whose behalf a service says that it calls; nobody if it does not."""
    metadata = dict(context.invocation_metadata() or ())
    caller = metadata.get(ON_BEHALF, b"")
    assert isinstance(caller, bytes)
    return caller_pb2.Caller.FromString(caller)


async def refuse(context: grpc.aio.ServicerContext[Any, Any], error: RefusedError) -> None:
    await context.abort_with_status(status_of(error))


def refused_frame(error: RefusedError) -> pb.DecideResponse.ResultFrame:
    """Return the result of a command that was refused."""
    told: refused_pb2.Refused = refused_message(error.told, error.retry_after_ms)
    return pb.DecideResponse.ResultFrame(refused=told)
