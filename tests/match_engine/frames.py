"""Frames of the streams between a gateway and an engine, as a gateway sends and reads them."""

from itertools import count
from typing import Any

from libs.kernel.ids import MatchId
from libs.rules import commands as c
from libs.wire.commands import message_of
from libs.wire.record import StoredRecord
from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx.engine.v1.caller_pb2 import Caller
from tests.match_engine.edge_rig import Edge, Wire, a_command, a_person, a_player

_tags = count(1)

# Decide.


def frame(
    match_id: str, caller: Caller, command: c.SeatCommand | None, /, **more: Any
) -> pb.DecideRequest:
    values: dict[str, Any] = {
        "tag": next(_tags),
        "match_id": match_id,
        "command_id": a_command(),
        "caller": caller,
        "command": None if command is None else message_of(command),
        "timeout_ms": 60_000,
        **more,
    }
    return pb.DecideRequest(command=pb.DecideRequest.CommandFrame(**values))


class Seats:
    """A match of two people, and frames of theirs."""

    def __init__(self, match_id: MatchId, players: list[str]) -> None:
        self.match_id = match_id
        self._callers = [Caller(player_id=player) for player in players]

    def frame(self, seat: int, command: c.SeatCommand, /, **more: Any) -> pb.DecideRequest:
        return frame(self.match_id, self._callers[seat], command, **more)


async def two_people(edge: Edge) -> Seats:
    players: list[str] = [a_player(), a_player()]
    return Seats(await edge.create([a_person(player) for player in players]), players)


def seed(seat: int = 0) -> c.ContributeSeed:
    return c.ContributeSeed(seat, b"s" * 16)


# Follow.


def start(match_id: str, after: int = 0) -> pb.FollowRequest:
    return pb.FollowRequest(start=pb.FollowRequest.Start(match_id=match_id, after_sequence=after))


def stop(match_id: str) -> pb.FollowRequest:
    return pb.FollowRequest(stop=pb.FollowRequest.Stop(match_id=match_id))


def grant(more: int) -> pb.FollowRequest:
    return pb.FollowRequest(credit=pb.Credit(more=more))


def attendance(match_id: str, seats: list[int], spectators: int = 0) -> pb.FollowRequest:
    present = pb.Attendance(match_id=match_id, seats=seats, spectators=spectators)
    return pb.FollowRequest(attendance=present)


def stored_of(frame: Any) -> StoredRecord:
    record = frame.record
    return StoredRecord(record.first_seq, record.last_seq, record.hash, record.data)


async def records_to(wire: Wire, sequence: int) -> list[StoredRecord]:
    """Read records until one ends at a sequence."""
    records: list[StoredRecord] = []
    while not records or records[-1].last_seq < sequence:
        records.append(stored_of(await wire.read("record")))
    return records
