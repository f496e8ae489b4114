"""The matches that somebody watches: each is followed once, and told to all who are here."""

import asyncio
from collections import Counter, deque
from contextlib import suppress
from typing import Final

from libs.chassis.background import Background
from libs.chassis.engines import Engines
from libs.chassis.status import RefusedError, error_of, refused
from libs.kernel.ids import MatchId
from libs.kernel.reasons import Reason
from libs.telemetry import logs, metrics, names
from libs.wire.record import chain_hash
from opolyx.engine.v1 import caller_pb2
from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx.match.v1 import access_pb2, match_pb2
from opolyx.record.v1 import event_pb2
from opolyx.record.v1 import stored_record_pb2 as record_pb
from services.gateway.following import Following
from services.gateway.subscribing import Subscriber, Told, presence_news, record_news

RECENT_MAX: Final = 64
"""How many records of a match are kept for those who come or come back (start)."""

ATTENDANCE_S: Final = 0.05
"""How long who comes and goes is gathered before the engine is told (start)."""

ODD_MAX: Final = 3
"""How often in a row records may be asked for anew and still not join on."""

AWAITING_MAX: Final = 5
"""For how many pulses an engine may say nothing of a match that it was asked to tell anew."""

_PAUSE_S: Final = 0.05
_PAUSE_MAX_S: Final = 0.5

_FINAL: Final = frozenset({Reason.MATCH_NOT_FOUND, Reason.MATCH_QUARANTINED, Reason.STALE_SEQUENCE})
"""Why a match is no longer followed, where to ask again would not help."""

_log: Final = logs.get()
_GAPS: Final = metrics.counter(names.RECORD_GAPS).labels("gateway")


class Seats:
    """Who sits where in a match. That never changes.

    Attributes:
        count: how many seats there are.

    """

    def __init__(self, match: match_pb2.Match) -> None:
        kinds = {seat.seat: seat.spec for seat in match.seats}
        person, bot = event_pb2.SeatSpec.KIND_PERSON, event_pb2.SeatSpec.KIND_BOT
        self.count: Final = len(kinds)
        self._people = {spec.player: seat for seat, spec in kinds.items() if spec.kind == person}
        self._bots = {seat for seat, spec in kinds.items() if spec.kind == bot}

    def of(self, caller: caller_pb2.Caller) -> int | None:
        """Return the seat of a caller; None for one who has none here."""
        if caller.HasField("bot_seat"):
            return caller.bot_seat if caller.bot_seat in self._bots else None
        return self._people.get(caller.player_id or caller.operator_id)


class FollowedMatch:
    """A match that is followed for as long as it has guests. A `Follower`.

    Attributes:
        match_id: the match.
        seats: who sits where.
        last_seq, last_hash: of the last record that has come.
        is_over: whether nothing comes after that.
        guests: who watches it through this gateway.
        closed_by: why nobody can watch it any more; None while one can.
        has_started: whether the engine that is asked for its records tells them.
        telling: what will tell the engine of its guests.

    """

    def __init__(self, match: match_pb2.Match) -> None:
        """Begin where *match* stands, which must be at the end of a record."""
        self.match_id: Final = MatchId(match.match_id)
        self.seats: Final = Seats(match)
        self.last_seq = match.sequence
        self.last_hash = match.chain_hash
        self.is_over = match.phase == match_pb2.Match.PHASE_ENDED
        self.guests: list[caller_pb2.Caller] = []
        self.closed_by: RefusedError | None = None
        self.has_started = False
        self.telling: asyncio.TimerHandle | None = None
        self._recent: deque[Told] = deque(maxlen=RECENT_MAX)
        self._subscribers: set[Subscriber] = set()
        self._heard = pb.Attendance()
        self._head_seq = match.sequence
        self._behind_at = -1
        self._asked_anew = 0
        self._is_awaiting = False
        self._awaiting_pulses = 0
        self._is_public = False

    # For those who watch.

    def lets_in(self, caller: caller_pb2.Caller) -> bool:
        """Tell whether it is known here that *caller* may watch it; if not, its engine is asked.

        Each who comes is looked at by themselves: that others watch it lets nobody in.
        """
        return self._is_public or self.seats.of(caller) is not None

    @property
    def head_seq(self) -> int:
        """The sequence of the last event there is, as far as is known here."""
        return max(self._head_seq, self.last_seq)

    def beginning(self, after_seq: int) -> tuple[int, bytes] | None:
        """Return where the records after a sequence begin, and the hash there, if they are here.

        Inside a record that is before the whole of it.
        """
        if after_seq == self.last_seq:
            return self.last_seq, self.last_hash
        for told in self._recent:
            if told.first_seq <= after_seq + 1 <= told.last_seq:
                return told.first_seq - 1, told.prev_hash
        return None

    def attach(self, subscriber: Subscriber) -> bool:
        """Tell *subscriber* from its position on; False if records are missing between."""
        if subscriber.position < self.last_seq:
            if not self._recent or self._recent[0].first_seq > subscriber.position + 1:
                return False
            for told in self._recent:
                subscriber.offer(told)
        self._subscribers.add(subscriber)
        subscriber.attended(self._presence())
        if self.closed_by is not None:
            subscriber.close(self.closed_by)
        elif self.is_over:
            subscriber.end()
        return True

    def detach(self, subscriber: Subscriber) -> None:
        """Tell *subscriber* nothing more."""
        self._subscribers.discard(subscriber)

    def end(self) -> None:
        """End all streams well: the match is over."""
        self.is_over = True
        for subscriber in self._subscribers:
            subscriber.end()

    def close(self, error: RefusedError) -> None:
        """End all streams, and all that come."""
        self.closed_by = error
        for subscriber in self._subscribers:
            subscriber.close(error)

    # For the stream of the engine.

    @property
    def is_finished(self) -> bool:
        """See `Follower.is_finished`."""
        return self.is_over or self.closed_by is not None

    @property
    def attendance(self) -> pb.Attendance:
        """Who watches through this gateway. Bots are not counted."""
        people = [guest for guest in self.guests if not guest.HasField("bot_seat")]
        found = Counter(self.seats.of(guest) for guest in people)
        spectators = found.pop(None, 0)
        seats = sorted(seat for seat in found if seat is not None)
        return pb.Attendance(match_id=self.match_id, seats=seats, spectators=spectators)

    def started(self, started: pb.FollowResponse.Started) -> None:
        """See `Follower.started`."""
        self.has_started = True
        # Of an engine that does not say so, nothing is taken for granted.
        self._is_public = started.watching == access_pb2.Access.WATCHING_EVERYBODY
        self._is_awaiting = False
        self._behind_at = -1
        self.head(started.head_sequence)
        if started.sequence == self.last_seq and started.chain_hash != self.last_hash:
            self._give_up()
        elif started.ended and started.head_sequence == self.last_seq:
            self.end()

    def take(self, record: record_pb.StoredRecord, *, is_last: bool) -> bool:
        """See `Follower.take`."""
        if record.last_seq <= self.last_seq:
            return True
        if (
            record.first_seq != self.last_seq + 1
            or chain_hash(self.last_hash, record.data) != record.hash
        ):
            # What was on its way when they were asked for anew is no news.
            return self._is_awaiting or not self._asks_anew()
        told = Told(record.first_seq, record.last_seq, self.last_hash, record_news(record))
        self.last_seq, self.last_hash = record.last_seq, record.hash
        self._asked_anew = 0
        self._recent.append(told)
        for subscriber in self._subscribers:
            subscriber.offer(told)
        if is_last:
            self.end()
        return True

    def attended(self, attendance: pb.Attendance) -> None:
        """See `Follower.attended`."""
        self._heard = attendance
        presence = self._presence()
        for subscriber in self._subscribers:
            subscriber.attended(presence)

    def head(self, sequence: int) -> None:
        """See `Follower.head`."""
        self._head_seq = max(self._head_seq, sequence)

    def has_lost(self) -> bool:
        """See `Follower.has_lost`."""
        if self._is_awaiting:
            self._awaiting_pulses += 1
            return self._awaiting_pulses > AWAITING_MAX and self._asks_anew()
        was_behind_at = self._behind_at
        self._behind_at = self.last_seq if self._head_seq > self.last_seq else -1
        return 0 <= was_behind_at == self._behind_at and self._asks_anew()

    def _asks_anew(self) -> bool:
        """Tell whether the records are to be asked for once more; if not, this match is lost."""
        self._is_awaiting = True
        self._awaiting_pulses = 0
        self._behind_at = -1
        self._asked_anew += 1
        _GAPS.inc()
        if self._asked_anew > ODD_MAX:
            self._give_up()
            return False
        return True

    def _give_up(self) -> None:
        _log.error("zombie_dropped", match_id=self.match_id, last_seq=self.last_seq)
        self.close(refused(Reason.NOT_OWNER_OF_SHARD))

    def _presence(self) -> bytes:
        """Say who is there: whom the engine has told of, and all who are here.

        The engine hears of those who are here a moment after they came, and whoever is told that it
        is not there itself would wonder.
        """
        heard, here = self._heard, self.attendance
        seats = sorted({*heard.seats, *here.seats})
        return presence_news(seats, max(heard.spectators, here.spectators))


class Matches:
    """All matches that have guests."""

    def __init__(
        self,
        engines: Engines,
        following: Following,
        tasks: Background,
        *,
        move_timeout_s: float,
    ) -> None:
        """Follow matches as *tasks*; one without an owner for *move_timeout_s* is let go of."""
        self._engines = engines
        self._following = following
        self._tasks = tasks
        self._move_timeout_s = move_timeout_s
        self._followed: dict[str, tuple[FollowedMatch, asyncio.Task[None]]] = {}

    def find(self, match_id: str) -> FollowedMatch | None:
        """Return a match that is followed."""
        followed, _ = self._followed.get(match_id, (None, None))
        return followed

    def enter(self, followed: FollowedMatch, guest: caller_pb2.Caller) -> None:
        """Have *guest* watch a match, to be ended by `leave`."""
        followed.guests.append(guest)
        self._attend(followed)

    def follow(self, match: match_pb2.Match) -> FollowedMatch:
        """Return the followed match, from where *match* stands if it is not followed yet.

        It must be entered at once: it is followed until the last guest leaves.
        """
        followed = self.find(match.match_id)
        if followed is None:
            followed = FollowedMatch(match)
            task = self._tasks.start(self._run(followed))
            self._followed[match.match_id] = followed, task
        return followed

    def leave(self, followed: FollowedMatch, guest: caller_pb2.Caller) -> None:
        """Have *guest* gone."""
        followed.guests.remove(guest)
        if followed.guests:
            self._attend(followed)
            return
        self._forget(followed)

    def _forget(self, followed: FollowedMatch) -> None:
        if followed.telling is not None:
            followed.telling.cancel()
        known, task = self._followed.get(followed.match_id, (None, None))
        if known is followed and task is not None:
            del self._followed[followed.match_id]
            task.cancel()

    def _attend(self, followed: FollowedMatch) -> None:
        """Have the engine told who is here, at most once a moment: all who watch will be told."""
        if followed.telling is None:
            loop = asyncio.get_running_loop()
            followed.telling = loop.call_later(ATTENDANCE_S, self._tell_attendance, followed)

    def _tell_attendance(self, followed: FollowedMatch) -> None:
        followed.telling = None
        address = self._engines.owner(followed.match_id)
        # Who begins to follow says so anyway.
        if address is not None and followed.has_started:
            self._following.stream(self._engines.channel(address)).attend(followed)

    async def _run(self, followed: FollowedMatch) -> None:
        """Follow a match, from owner to owner, until it is over or lost."""
        loop = asyncio.get_running_loop()
        owned_s, pause_s = loop.time(), _PAUSE_S
        while not followed.is_finished:
            address = self._engines.owner(followed.match_id)
            if address is not None:
                followed.has_started = False
                stream = self._following.stream(self._engines.channel(address))
                why = await stream.follow(followed)
                if why.reason == Reason.MATCH_ENDED:
                    followed.end()
                elif why.reason in _FINAL:
                    followed.close(error_of(why))
                if followed.has_started:
                    owned_s, pause_s = loop.time(), _PAUSE_S
            if loop.time() - owned_s > self._move_timeout_s:
                followed.close(refused(Reason.NOT_OWNER_OF_SHARD))
            # Whichever comes first: news of the assignment, or the time to just try again.
            with suppress(TimeoutError):
                async with asyncio.timeout(pause_s):
                    await self._engines.changed()
            pause_s = min(2 * pause_s, _PAUSE_MAX_S)
        if followed.closed_by is not None:
            self._followed.pop(followed.match_id, None)
