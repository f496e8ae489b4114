"""Pushes what is committed to those who follow (write protocol, W7), and who is there with them."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from libs.kernel.ids import MatchId
from libs.kernel.reasons import Reason
from libs.wire.record import StoredRecord
from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx.record.v1 import stored_record_pb2 as record_pb
from services.match_engine.live import LiveMatch


class Pushed(NamedTuple):
    """A record on its way: its place, and the frame that carries it, encoded once for all.

    *is_last* tells that the match is over with it.
    """

    first_seq: int
    last_seq: int
    is_last: bool
    frame: bytes


def pushed(live: LiveMatch, record: StoredRecord) -> Pushed:
    """Put a record of a match into its frame. Its bytes are the stored ones."""
    match_id, is_last = live.match_id, live.is_over and record.last_seq == live.chain.last_seq
    first_seq, last_seq, record_hash, data = record
    stored = record_pb.StoredRecord(
        first_seq=first_seq, last_seq=last_seq, hash=record_hash, data=data
    )
    frame = pb.FollowResponse.RecordFrame(match_id=match_id, record=stored, last=is_last)
    encoded = pb.FollowResponse(record=frame).SerializeToString()
    return Pushed(first_seq, last_seq, is_last, encoded)


class Follower(Protocol):
    """Somebody who follows a match. Nothing here may wait or fail: a commit tells it."""

    def committed(self, record: Pushed) -> None:
        """Take the match's next record, which is durable."""
        ...

    def dropped(self, reason: Reason) -> None:
        """Learn that the match left this engine's memory, and why."""
        ...

    def attended(self) -> None:
        """Learn that somebody else is connected to the match now; see `Pushes.attendance`."""
        ...


class Pushes:
    """Knows who follows what, and tells them as matches go on. A listener of the decider."""

    def __init__(self) -> None:
        self._followers: dict[MatchId, list[Follower]] = {}
        self._attendance: dict[MatchId, dict[object, tuple[frozenset[int], int]]] = {}

    def follow(self, match_id: MatchId, follower: Follower) -> None:
        """Tell *follower* of a match from now on."""
        self._followers.setdefault(match_id, []).append(follower)

    def unfollow(self, match_id: MatchId, follower: Follower) -> None:
        """Tell *follower* nothing more of a match, if it is told."""
        followers = self._followers.get(match_id, [])
        if follower in followers:
            followers.remove(follower)
        if not followers:
            self._followers.pop(match_id, None)

    def committed(self, live: LiveMatch, record: StoredRecord) -> None:
        """Push a record (W7)."""
        followers = self._followers.get(live.match_id)
        if followers:
            sent = pushed(live, record)
            for follower in tuple(followers):
                follower.committed(sent)

    def dropped(self, match_id: MatchId, reason: Reason) -> None:
        """Say that a match left this engine's memory."""
        for follower in tuple(self._followers.get(match_id, ())):
            follower.dropped(reason)

    def attend(
        self, match_id: MatchId, gateway: object, seats: Iterable[int], spectators: int
    ) -> None:
        """Note who is connected to a match through one gateway; nobody any more, where it is so."""
        before = self.attendance(match_id)
        by_gateway = self._attendance.setdefault(match_id, {})
        by_gateway.pop(gateway, None)
        present = frozenset(seats)
        if present or spectators:
            by_gateway[gateway] = present, spectators
        if not by_gateway:
            del self._attendance[match_id]
        if self.attendance(match_id) != before:
            for follower in tuple(self._followers.get(match_id, ())):
                follower.attended()

    def attendance(self, match_id: MatchId) -> tuple[Sequence[int], int]:
        """Return the seats of people that are connected, ascending, and how many others watch."""
        by_gateway = self._attendance.get(match_id)
        if by_gateway is None:
            return (), 0
        seats = frozenset[int]().union(*(present for present, _ in by_gateway.values()))
        return tuple(sorted(seats)), sum(others for _, others in by_gateway.values())
