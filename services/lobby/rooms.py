"""What may be done in a room, and what happens then.

Pure: no time, no store, no wire. Whoever keeps rooms decides by `decide`, writes what it returns,
and has the next room by `room.apply`.
"""

from dataclasses import dataclass, replace
from typing import Final, assert_never

from libs.kernel.reasons import Reason
from libs.rules import events as rules_e
from libs.rules import tables
from libs.rules.refusals import Fact, Refusal
from libs.rules.rule_sets import RULE_SETS
from services.lobby import commands as c
from services.lobby import events as e
from services.lobby.room import Room, State

_SEATS: Final = "SETUP-1"
_BOUND: Final = "SETUP-2"


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """Where somebody sits who may sit nowhere else: a room, or the match that it has become."""

    room_id: str
    match_id: str | None = None


class CardsUnknownError(LookupError):
    """Somebody sits here whose cards were not looked up: they sat down meanwhile."""


Decision = tuple[e.Event, ...] | Refusal


def decide(
    room: Room, command: c.Command, *, expected: int | None = None, bound: Binding | None = None
) -> Decision:
    """Return what *command* does to *room*, or why it may not be.

    *expected* is the sequence that the caller saw, if they care. *bound* is where the player of a
    CreateRoom or JoinRoom sits already.

    Raises:
        CardsUnknownError: `StartMatch.cards` lacks somebody.

    """
    return _refuse(room, command, expected) or _decide(room, command, bound)


def _refuse(room: Room, command: c.Command, expected: int | None) -> Refusal | None:
    """Refuse what needs no look at the command: the caller's place, then the room's."""
    if isinstance(command, c.LeaveRoom | c.SetReady) and room.seat_of(command.player) is None:
        return Refusal(Reason.NOT_SEATED, "")
    if expected is not None and expected != room.sequence:
        return Refusal(Reason.STALE_SEQUENCE, "", {"expected": expected, "head": room.sequence})
    if room.state is not State.WAITING and not isinstance(command, c.ReportMade):
        return Refusal(Reason.ROOM_CLOSED, "", {"state": room.state})
    return None


def _decide(room: Room, command: c.Command, bound: Binding | None) -> Decision:
    match command:
        case c.CreateRoom():
            return _create(room, command, bound)
        case c.JoinRoom():
            return _join(room, command, bound)
        case c.LeaveRoom():
            return _leave(room, command)
        case c.AddBot():
            return _add_bot(room, command)
        case c.SetReady():
            seat = room.seat_of(command.player)
            assert seat is not None
            return (e.ReadySet(seat=seat, is_ready=command.is_ready),)
        case c.StartMatch():
            return _start(room, command)
        case c.ReportMade():
            return (e.MatchMade(match_id=command.match_id),)
        case _:
            assert_never(command)


def _create(room: Room, command: c.CreateRoom, bound: Binding | None) -> Decision:
    assert room.sequence == 0, room
    table = tables.new_table(RULE_SETS[command.rule_set], command.seat_count)
    if isinstance(table, Refusal):
        return table
    if bound is not None:
        return _already(bound)
    created = e.RoomCreated(
        rule_set=command.rule_set,
        seat_count=command.seat_count,
        is_listed=command.is_listed,
        creator=command.player,
    )
    return created, e.SeatTaken(seat=0, player=command.player)


def _join(room: Room, command: c.JoinRoom, bound: Binding | None) -> Decision:
    if bound is not None and bound.room_id != room.room_id:
        return _already(bound)
    spec = rules_e.SeatSpec(rules_e.PERSON, command.player)
    seat = _free_seat(room, command.seat, spec)
    if isinstance(seat, Refusal):
        return seat
    before = room.seat_of(command.player)
    left = () if before is None else (e.SeatLeft(seat=before),)
    return *left, e.SeatTaken(seat=seat, player=command.player)


def _leave(room: Room, command: c.LeaveRoom) -> Decision:
    seat = room.seat_of(command.player)
    assert seat is not None
    left = e.SeatLeft(seat=seat)
    if room.people == {command.player}:
        return left, e.RoomClosed()
    if room.creator != command.player:
        return (left,)
    creator = tables.next_creator(room.table, command.player)
    assert creator is not None, room
    return left, e.CreatorReplaced(creator=creator)


def _add_bot(room: Room, command: c.AddBot) -> Decision:
    if command.player != room.creator:
        return Refusal(Reason.NOT_CREATOR, _SEATS)
    spec = rules_e.SeatSpec(rules_e.BOT, strength=command.strength)
    seat = _free_seat(room, command.seat, spec)
    if isinstance(seat, Refusal):
        return seat
    return (e.BotSeated(seat=seat, strength=command.strength),)


def _start(room: Room, command: c.StartMatch) -> Decision:
    rules = RULE_SETS[room.rule_set]
    seats = tables.seats_at_start(rules, room.table, room.creator, command.player)
    if isinstance(seats, Refusal):
        return seats
    unready = tuple(
        n
        for n, spec in enumerate(room.table)
        if spec and spec.kind == rules_e.PERSON and spec.player != room.creator
        if n not in room.ready
    )
    if unready:
        return Refusal(Reason.NOT_READY, "", {"seats": unready})
    dealt = tuple(_with_cards(spec, command) for spec in seats)
    return (e.MatchStarting(match_id=command.match_id, seats=dealt),)


def _with_cards(spec: rules_e.SeatSpec, command: c.StartMatch) -> rules_e.SeatSpec:
    if command.cards is None or spec.kind != rules_e.PERSON:
        return spec
    if spec.player not in command.cards:
        raise CardsUnknownError(spec.player)
    return replace(spec, cards=command.cards[spec.player])


def _free_seat(room: Room, wanted: int | None, spec: rules_e.SeatSpec) -> int | Refusal:
    """Return the seat that is taken: the one that is wanted, or the first empty one."""
    seat = wanted
    if seat is None:
        seat = next((n for n, taken in enumerate(room.table) if taken is None), None)
        if seat is None:
            return Refusal(Reason.ROOM_FULL, _SEATS, {"seats": len(room.table)})
    taken = tables.take_seat(room.table, seat, spec)
    return taken if isinstance(taken, Refusal) else seat


def _already(bound: Binding) -> Refusal:
    facts: dict[str, Fact] = {"room_id": bound.room_id}
    if bound.match_id is not None:
        facts["match_id"] = bound.match_id
    return Refusal(Reason.ALREADY_IN_MATCH, _BOUND, facts)
