"""What may be done in a room, and what happens then.

Pure: no time, no store, no wire. Whoever keeps rooms decides by `decide`, writes what it returns,
and has the next room by `room.apply`.
"""

from dataclasses import replace
from typing import assert_never

from libs.kernel.reasons import Reason
from libs.rules import events as rules_e
from libs.rules import tables
from libs.rules.refusals import Refusal
from libs.rules.rule_sets import RULE_SETS
from libs.wire.limits import GUESTS_MAX
from services.lobby import commands as c
from services.lobby import events as e
from services.lobby import seating
from services.lobby.room import Room, State
from services.lobby.seating import Binding, Decision


class CardsUnknownError(LookupError):
    """Somebody sits here whose cards were not looked up: they sat down meanwhile."""


def decide(
    room: Room,
    command: c.Command,
    *,
    expected: int | None = None,
    bound: Binding | None = None,
    sees_all: bool = False,
) -> Decision:
    """Return what *command* does to *room*, or why it may not be; no event if it is done already.

    *expected* is the sequence that the caller saw, if they care. *bound* is where the player of a
    command that seats them sits already. *sees_all* says that an operator asks.

    Raises:
        CardsUnknownError: the cards of a start lack somebody's.

    """
    return (
        refuse_unseen(room, command, sees_all=sees_all)
        or _refuse(room, command, expected)
        or _decide(room, command, bound)
    )


def refuse_unseen(room: Room, command: c.Command, *, sees_all: bool) -> Refusal | None:
    """Refuse whoever may not know that there is such a room, as if there were none."""
    if isinstance(command, c.AdmitGuest):
        # Before all else: whose invitation has expired learns nothing of the room any more.
        return None if command.is_current else Refusal(Reason.INVITE_NOT_FOUND, "")
    # What else is asked needs no eye.
    if sees_all or not isinstance(command, c.JoinRoom | c.RoomCommand):
        return None
    return None if room.is_seen_by(command.player) else Refusal(Reason.ROOM_NOT_FOUND, "")


def _refuse(room: Room, command: c.Command, expected: int | None) -> Refusal | None:
    """Refuse what needs no look at the command: the caller's place, then the room's."""
    needs_seat = c.TakeSeat | c.LeaveRoom | c.SetReady
    if isinstance(command, needs_seat) and room.seat_of(command.player) is None:
        return Refusal(Reason.NOT_SEATED, "")
    if expected is not None and expected != room.sequence:
        return Refusal(Reason.STALE_SEQUENCE, "", {"expected": expected, "head": room.sequence})
    if not _is_open(room, command):
        return Refusal(Reason.ROOM_CLOSED, "", {"state": room.state})
    is_done_there = isinstance(command, c.JoinRoom | c.RoomCommand)
    if room.is_quick and is_done_there and not isinstance(command, c.LeaveRoom):
        return seating.not_creator()
    return None


def _is_open(room: Room, command: c.Command) -> bool:
    """Tell whether the room is so far that *command* can be meant."""
    match command:
        case c.ReportMade() | c.ReportNotMade():
            return room.state is State.STARTING
        case c.AdmitGuest():
            return room.state is not State.CLOSED
        case _:
            return room.state is State.WAITING


def _decide(room: Room, command: c.Command, bound: Binding | None) -> Decision:
    match command:
        case c.CreateRoom() | c.Rematch() | c.QuickMatch() | c.JoinRoom():
            return seating.sit_down(room, command, bound)
        case c.SetReady():
            seat = room.seat_of(command.player)
            assert seat is not None
            return (e.ReadySet(seat=seat, is_ready=command.is_ready),)
        case c.StartMatch():
            return _start(room, command)
        case c.FillRoom():
            return _fill(room, command)
        case c.AdmitGuest():
            return _admit(room, command)
        case c.ReportMade():
            return (e.MatchMade(match_id=command.match_id),)
        case c.ReportNotMade():
            return (e.RoomClosed(why=e.ClosedWhy.MATCH_NOT_MADE),)
        case c.CloseIdle():
            return (e.RoomClosed(why=e.ClosedWhy.IDLE),)
        case _:
            return _move(room, command)


def _move(
    room: Room, command: c.TakeSeat | c.LeaveRoom | c.AddBot | c.RemoveBot | c.KickSeat | c.HandOver
) -> Decision:
    match command:
        case c.TakeSeat():
            return seating.take_seat(room, command)
        case c.LeaveRoom():
            return seating.leave(room, command)
        case c.AddBot():
            return seating.add_bot(room, command)
        case c.RemoveBot():
            return seating.remove_bot(room, command)
        case c.KickSeat():
            return seating.kick(room, command)
        case c.HandOver():
            return seating.hand_over(room, command)
        case _:
            assert_never(command)


def _admit(room: Room, command: c.AdmitGuest) -> Decision:
    if command.player in room.banned:
        return Refusal(Reason.BANNED_FROM_ROOM, "")
    if command.player in room.guests or room.seat_of(command.player) is not None:
        return ()
    if len(room.guests) >= GUESTS_MAX:
        return Refusal(Reason.TOO_MANY_INVITES, "", {"limit": GUESTS_MAX})
    return (e.GuestAdmitted(player=command.player),)


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


def _fill(room: Room, command: c.FillRoom) -> Decision:
    assert room.fill_ms is not None, room
    empty = [seat for seat, spec in enumerate(room.table) if spec is None]
    if empty and command.at_ms < room.fill_ms:
        # It was full, or this clock is behind: it waits on.
        facts = {"filled": len(room.table) - len(empty), "needed": len(room.table)}
        return Refusal(Reason.TOO_FEW_SEATS, "", facts)
    bot = rules_e.SeatSpec(rules_e.BOT, strength=room.bot_strength)
    dealt = tuple(_with_cards(spec or bot, command) for spec in room.table)
    seated = (e.BotSeated(seat=seat, strength=room.bot_strength) for seat in empty)
    return *seated, e.MatchStarting(match_id=command.match_id, seats=dealt)


def _with_cards(spec: rules_e.SeatSpec, command: c.StartMatch | c.FillRoom) -> rules_e.SeatSpec:
    if command.cards is None or spec.kind != rules_e.PERSON:
        return spec
    if spec.player not in command.cards:
        raise CardsUnknownError(spec.player)
    return replace(spec, cards=command.cards[spec.player])
