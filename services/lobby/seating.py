"""Who sits where in a waiting room: sitting down, moving and being moved, getting up (SETUP-1)."""

from dataclasses import dataclass
from typing import Final, assert_never

from libs.kernel.reasons import Reason
from libs.rules import events as rules_e
from libs.rules import tables
from libs.rules.refusals import Fact, Refusal
from libs.rules.rule_sets import RULE_SETS
from services.lobby import commands as c
from services.lobby import events as e
from services.lobby.room import Room

_SEATS: Final = "SETUP-1"
_BOUND: Final = "SETUP-2"

Decision = tuple[e.Event, ...] | Refusal
"""What a command does, or why it may not be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """Where somebody sits who may sit nowhere else: a room, or the match that it has become."""

    room_id: str
    match_id: str | None = None


def sit_down(room: Room, command: c.SeatingCommand, bound: Binding | None) -> Decision:
    """Seat whoever asks, unless they sit elsewhere already (SETUP-2)."""
    if command.player in room.banned:
        return Refusal(Reason.BANNED_FROM_ROOM, "")
    if bound is not None and bound.room_id != room.room_id:
        return _already(bound)
    match command:
        case c.CreateRoom():
            return _create(room, command)
        case c.Rematch():
            return _open_again(command) if room.sequence == 0 else _come_again(room, command)
        case c.QuickMatch():
            return _open_quick(command) if room.sequence == 0 else _come_quick(room, command)
        case c.JoinRoom():
            return _join(room, command)
        case _:
            assert_never(command)


def take_seat(room: Room, command: c.TakeSeat) -> Decision:
    """Have somebody go to an empty seat: oneself, or anybody by the creator."""
    own = room.seat_of(command.player)
    left = own if command.from_seat is None else command.from_seat
    assert left is not None
    if left != own and command.player != room.creator:
        return not_creator()
    if not _has_seat(room, left):
        return _out_of_range(room, "from_seat")
    spec = room.table[left]
    if spec is None:
        return _empty(left)
    seat = _free_seat(room, command.seat)
    return seat if isinstance(seat, Refusal) else (e.SeatChanged(from_seat=left, to_seat=seat),)


def leave(room: Room, command: c.LeaveRoom) -> Decision:
    """Have somebody get up; another becomes creator, or the room closes (SETUP-2)."""
    seat = room.seat_of(command.player)
    assert seat is not None
    left = e.SeatLeft(seat=seat)
    if room.people == {command.player}:
        return left, e.RoomClosed(why=e.ClosedWhy.EMPTY)
    if room.creator != command.player:
        return (left,)
    creator = tables.next_creator(room.table, command.player)
    assert creator is not None, room
    return left, e.CreatorReplaced(creator=creator)


def add_bot(room: Room, command: c.AddBot) -> Decision:
    """Seat a bot."""
    if command.player != room.creator:
        return not_creator()
    seat = _free_seat(room, command.seat)
    if isinstance(seat, Refusal):
        return seat
    return (e.BotSeated(seat=seat, strength=command.strength or room.bot_strength),)


def remove_bot(room: Room, command: c.RemoveBot) -> Decision:
    """Have a bot get up."""
    if command.player != room.creator:
        return not_creator()
    if not _has_seat(room, command.seat):
        return _out_of_range(room, "seat")
    spec = room.table[command.seat]
    if spec is None or spec.kind != rules_e.BOT:
        return _empty(command.seat)
    return (e.SeatLeft(seat=command.seat),)


def kick(room: Room, command: c.KickSeat) -> Decision:
    """Have another person go for good."""
    player = _other_person(room, command)
    if isinstance(player, Refusal):
        return player
    if command.target and command.target != player:
        return _empty(command.seat)
    return (e.PersonKicked(seat=command.seat, player=player),)


def hand_over(room: Room, command: c.HandOver) -> Decision:
    """Make another person the creator."""
    player = _other_person(room, command)
    return player if isinstance(player, Refusal) else (e.CreatorReplaced(creator=player),)


def _create(room: Room, command: c.CreateRoom) -> Decision:
    assert room.sequence == 0, room
    table = tables.new_table(RULE_SETS[command.rule_set], command.seat_count)
    if isinstance(table, Refusal):
        return table
    created = e.RoomCreated(
        rule_set=command.rule_set,
        seat_count=command.seat_count,
        is_listed=command.is_listed,
        creator=command.player,
        watching=command.watching,
        bot_strength=command.bot_strength,
    )
    return created, e.SeatTaken(seat=0, player=command.player)


def _open_again(command: c.Rematch) -> Decision:
    """Make the room of those who play again: on the terms of the one before, with its bots."""
    played = command.played
    seat = played.seat_of(command.player)
    assert seat is not None, played
    created = e.RoomCreated(
        rule_set=played.rule_set,
        seat_count=len(played.table),
        is_listed=played.is_listed,
        creator=command.player,
        watching=played.watching,
        bot_strength=played.bot_strength,
        rematch_of=played.room_id,
    )
    # Whoever might come in, or watch, may again.
    guests = (e.GuestAdmitted(player=guest) for guest in sorted(played.guests))
    bots = (
        e.BotSeated(seat=n, strength=spec.strength)
        for n, spec in enumerate(played.table)
        if spec is not None and spec.kind == rules_e.BOT
    )
    return created, *guests, e.SeatTaken(seat=seat, player=command.player), *bots


def _come_again(room: Room, command: c.Rematch) -> Decision:
    if room.seat_of(command.player) is not None:
        return ()
    wanted = command.played.seat_of(command.player)
    assert wanted is not None, command
    is_free = room.table[wanted] is None
    seat = _free_seat(room, wanted if is_free else None)
    return seat if isinstance(seat, Refusal) else (e.SeatTaken(seat=seat, player=command.player),)


def _open_quick(command: c.QuickMatch) -> Decision:
    """Make a room that forms by itself: without a creator, and seen by who is in it alone."""
    created = e.RoomCreated(
        rule_set=command.rule_set,
        seat_count=command.seat_count,
        is_listed=False,
        creator="",
        fill_ms=command.fill_ms,
    )
    return created, e.SeatTaken(seat=0, player=command.player)


def _come_quick(room: Room, command: c.QuickMatch) -> Decision:
    if room.seat_of(command.player) is not None:
        return _already(Binding(room_id=room.room_id))
    seat = _free_seat(room, None)
    return seat if isinstance(seat, Refusal) else (e.SeatTaken(seat=seat, player=command.player),)


def _join(room: Room, command: c.JoinRoom) -> Decision:
    seat = _free_seat(room, command.seat)
    if isinstance(seat, Refusal):
        return seat
    before = room.seat_of(command.player)
    if before is not None:
        return (e.SeatChanged(from_seat=before, to_seat=seat),)
    return (e.SeatTaken(seat=seat, player=command.player),)


def _other_person(room: Room, command: c.KickSeat | c.HandOver) -> str | Refusal:
    """Return the person on a seat that the creator has named, who is not the creator."""
    if command.player != room.creator:
        return not_creator()
    if not _has_seat(room, command.seat):
        return _out_of_range(room, "seat")
    player = room.person_on(command.seat)
    if player is None:
        return _empty(command.seat)
    return _invalid("seat", "not be one's own") if player == command.player else player


def _free_seat(room: Room, wanted: int | None) -> int | Refusal:
    """Return the seat that is taken: the one that is wanted, or the first empty one."""
    if wanted is None:
        seat = next((n for n, taken in enumerate(room.table) if taken is None), None)
        if seat is None:
            return Refusal(Reason.ROOM_FULL, _SEATS, {"seats": len(room.table)})
        return seat
    if not _has_seat(room, wanted):
        return _out_of_range(room, "seat")
    if room.table[wanted] is not None:
        return Refusal(Reason.SEAT_TAKEN, _SEATS, {"seat": wanted})
    return wanted


def _has_seat(room: Room, seat: int) -> bool:
    return 0 <= seat < len(room.table)


def _out_of_range(room: Room, field: str) -> Refusal:
    return _invalid(field, f"be below {len(room.table)}")


def _invalid(field: str, must: str) -> Refusal:
    return Refusal(Reason.INVALID_REQUEST, _SEATS, {"field": field, "must": must})


def not_creator() -> Refusal:
    """Return what whoever is not the creator is told."""
    return Refusal(Reason.NOT_CREATOR, _SEATS)


def _empty(seat: int) -> Refusal:
    return Refusal(Reason.SEAT_EMPTY, _SEATS, {"seat": seat})


def _already(bound: Binding) -> Refusal:
    facts: dict[str, Fact] = {"room_id": bound.room_id}
    if bound.match_id is not None:
        facts["match_id"] = bound.match_id
    return Refusal(Reason.ALREADY_IN_MATCH, _BOUND, facts)
