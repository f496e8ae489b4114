"""A room: what it is, and how what happens in it changes it.

Pure: no time, no store, no wire.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import assert_never

from libs.rules import events as rules_e
from libs.rules.tables import Table
from services.lobby import events as e


class State(StrEnum):
    """How far a room is."""

    WAITING = "waiting"
    STARTING = "starting"
    STARTED = "started"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """A room as it is after its record *sequence*; a new one is at 0 and has nothing yet.

    Attributes:
        room_id: the room.
        created_ms: when it was made.
        changed_ms: when something happened in it last.
        sequence: how many commands made it what it is.
        rule_set: the rule set of its match.
        table: who sits where; of a room that has closed, who sat there then.
        ready: the seats whose person is ready.
        is_listed: whether everybody sees it.
        creator: who alone adds bots, moves others and starts; empty for a quick match.
        watching: who may watch its match.
        bot_strength: the bot that is seated where nobody says which.
        fill_ms: when bots fill a quick match; None for every other room.
        rematch_of: the room whose people play again here; empty if they don't.
        guests: who may come in though it is private, and watch where that takes an invitation: the
            invited, and whoever sat in a private room.
        banned: who was told to go and stays out.
        state: how far it is.
        match_id: its match; empty until that is being started.
        closed_why: why it has closed; None while it has not.

    """

    room_id: str
    created_ms: int
    changed_ms: int = 0
    sequence: int = 0
    rule_set: str = ""
    table: Table = ()
    ready: frozenset[int] = frozenset()
    is_listed: bool = True
    creator: str = ""
    watching: e.Watching = e.Watching.EVERYBODY
    bot_strength: str = e.USUAL_BOT
    fill_ms: int | None = None
    rematch_of: str = ""
    guests: frozenset[str] = frozenset()
    banned: frozenset[str] = frozenset()
    state: State = State.WAITING
    match_id: str = ""
    closed_why: e.ClosedWhy | None = None

    @property
    def people(self) -> frozenset[str]:
        """Who sits here."""
        return frozenset(s.player for s in self.table if s and s.kind == rules_e.PERSON)

    @property
    def is_quick(self) -> bool:
        """Whether it forms by itself: nothing can be done in it but to get up."""
        return self.fill_ms is not None

    @property
    def free_seats(self) -> int:
        """How many seats are empty."""
        return self.table.count(None)

    @property
    def bound(self) -> frozenset[str]:
        """Who may sit nowhere else because of this room, as long as its match binds them."""
        return frozenset() if self.state is State.CLOSED else self.people

    def seat_of(self, player: str) -> int | None:
        """Return where *player* sits."""
        # A spectator's player id is empty, and so is a bot's.
        return next(
            (n for n in range(len(self.table)) if player and self.person_on(n) == player), None
        )

    def person_on(self, seat: int) -> str | None:
        """Return which person sits on *seat*; None for a bot, nobody, and a seat that is not."""
        spec = self.table[seat] if 0 <= seat < len(self.table) else None
        return spec.player if spec is not None and spec.kind == rules_e.PERSON else None

    def is_seen_by(self, player: str) -> bool:
        """Tell whether *player* may see it; operators see it anyway."""
        return self.is_listed or player in self.guests or self.seat_of(player) is not None


def apply(room: Room, record: e.Record) -> Room:
    """Return *room* after its next record."""
    assert record.sequence == room.sequence + 1, (record.sequence, room.sequence)
    for event in record.events:
        room = evolve(room, event)
    return replace(room, sequence=record.sequence, changed_ms=record.at_ms)


def evolve(room: Room, event: e.Event) -> Room:  # noqa: C901, PLR0912 - one case for each event
    """Apply *event*. Total: what is recorded happened, so nothing is checked."""
    match event:
        case e.RoomCreated():
            return _created(room, event)
        case e.SeatTaken():
            return _taken(room, event)
        case e.SeatLeft():
            return _seated(room, event.seat, None)
        case e.SeatChanged():
            spec = room.table[event.from_seat]
            return _seated(_seated(room, event.from_seat, None), event.to_seat, spec)
        case e.PersonKicked():
            return replace(
                _seated(room, event.seat, None),
                guests=room.guests - {event.player},
                banned=room.banned | {event.player},
            )
        case e.GuestAdmitted():
            return replace(room, guests=room.guests | {event.player})
        case e.BotSeated():
            spec = rules_e.SeatSpec(rules_e.BOT, strength=event.strength)
            return _seated(room, event.seat, spec)
        case e.ReadySet():
            ready = room.ready | {event.seat} if event.is_ready else room.ready - {event.seat}
            return replace(room, ready=ready)
        case e.CreatorReplaced():
            return replace(room, creator=event.creator)
        case e.MatchStarting():
            return replace(room, state=State.STARTING, match_id=event.match_id)
        case e.MatchMade():
            return replace(room, state=State.STARTED)
        case e.RoomClosed():
            return replace(room, state=State.CLOSED, closed_why=event.why)
        case _:
            assert_never(event)


def _created(room: Room, event: e.RoomCreated) -> Room:
    return replace(
        room,
        rule_set=event.rule_set,
        table=(None,) * event.seat_count,
        is_listed=event.is_listed,
        creator=event.creator,
        watching=event.watching,
        bot_strength=event.bot_strength,
        fill_ms=event.fill_ms,
        rematch_of=event.rematch_of,
    )


def _taken(room: Room, event: e.SeatTaken) -> Room:
    seated = _seated(room, event.seat, rules_e.SeatSpec(rules_e.PERSON, event.player))
    if room.is_listed:
        return seated
    # Whoever was let into a private room may come back.
    return replace(seated, guests=room.guests | {event.player})


def _seated(room: Room, seat: int, spec: rules_e.SeatSpec | None) -> Room:
    table = (*room.table[:seat], spec, *room.table[seat + 1 :])
    # Whoever sits down has said nothing yet.
    return replace(room, table=table, ready=room.ready - {seat})
