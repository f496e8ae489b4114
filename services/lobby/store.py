"""Rooms and people in PostgreSQL: the schema `lobby`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import reduce
from typing import Self

import asyncpg

from libs.kernel.ids import MatchId
from libs.rules.events import PERSON
from libs.store.connections import Connection, Connections
from libs.telemetry import traces
from services.lobby import statements as sql
from services.lobby.event_wire import read_record, write_record
from services.lobby.events import Event, GuestAdmitted, MatchStarting, Record, RoomClosed, Watching
from services.lobby.ports import (
    Admission,
    Idle,
    Invite,
    Known,
    KnownInvite,
    MatchPlan,
    Player,
    RaceLostError,
)
from services.lobby.room import Room, State, apply
from services.lobby.seating import Binding
from services.lobby.wire import read_older_room, read_room, write_room


class HeldRoom:
    """A `Table`: a transaction that has the room's row locked."""

    def __init__(self, connection: Connection, room_id: str, room: Room | None) -> None:
        self._connection = connection
        self.room_id = room_id
        self.room = room

    @classmethod
    async def lock(cls, connection: Connection, room_id: str) -> Self:
        """Wait until nobody else holds the room, and hold it until the transaction ends."""
        row = await connection.fetchrow(sql.LOCK_ROOM, room_id)
        return cls(connection, room_id, None if row is None else room_of(row))

    async def find_command(self, command_id: str) -> Known | None:
        """See `Table.find_command`."""
        row = await self._connection.fetchrow(sql.FIND_COMMAND, self.room_id, command_id)
        return None if row is None else Known(row["sequence"], row["request_hash"])

    async def room_at(self, sequence: int) -> Room:
        """See `Table.room_at`."""
        rows = await self._connection.fetch(sql.RECORDS, self.room_id, sequence)
        records = [read_record(row["record"]) for row in rows]
        blank = Room(room_id=self.room_id, created_ms=records[0].at_ms)
        return reduce(apply, records, blank)

    async def bound(self, player: str) -> Binding | None:
        """See `Table.bound`."""
        row = await self._connection.fetchrow(sql.BOUND, player)
        if row is None:
            return None
        match_id = row["match_id"] and str(row["match_id"])
        return Binding(room_id=str(row["room_id"]), match_id=match_id)

    async def write(self, record: Record, after: Room, request_hash: bytes) -> None:
        """See `Table.write`."""
        try:
            await self._write_room(after)
            await self._connection.execute(
                sql.ADD_RECORD,
                record.room_id,
                record.sequence,
                record.command_id,
                record.actor,
                request_hash,
                write_record(record),
                traces.carrier().get(traces.TRACEPARENT, ""),
            )
            await self._bind(after)
        except asyncpg.UniqueViolationError as error:
            raise RaceLostError(error.constraint_name) from error
        for event in record.events:
            await self._note(event, after)
        self.room = after

    async def find_invite(self, command_id: str) -> KnownInvite | None:
        """See `InviteTable.find_invite`."""
        row = await self._connection.fetchrow(sql.FIND_INVITE_MADE, self.room_id, command_id)
        return None if row is None else KnownInvite(_invite(row), row["request_hash"])

    async def count_invites(self, now_ms: int) -> int:
        """See `InviteTable.count_invites`."""
        count: int = await self._connection.fetchval(sql.COUNT_INVITES, self.room_id, now_ms)
        return count

    async def add_invite(self, invite: Invite, command_id: str, request_hash: bytes) -> None:
        """See `InviteTable.add_invite`."""
        made = (invite.code, invite.room_id, invite.expire_ms, command_id, request_hash)
        await self._connection.execute(sql.ADD_INVITE, *made)

    async def _note(self, event: Event, after: Room) -> None:
        """Write what *event* means beside the room itself."""
        match event:
            case MatchStarting():
                await self._bind_to_match(event, after.changed_ms)
            case GuestAdmitted(player=player) if (
                after.match_id and after.watching is Watching.INVITED
            ):
                guest = (after.match_id, player, self.room_id)
                await self._connection.execute(sql.ADD_ADMISSION, *guest)
            case RoomClosed() if after.match_id:
                # It was never played.
                await self._connection.execute(sql.DROP_FROM_HISTORY, after.match_id)
                await self._connection.execute(sql.REMOVE_ADMISSIONS, self.room_id)
            case _:
                pass

    async def _write_room(self, after: Room) -> None:
        args = (
            after.room_id,
            after.sequence,
            after.state,
            after.match_id or None,
            write_room(after),
            after.changed_ms,
        )
        if self.room is None:
            fixed = (after.rule_set, after.is_listed, after.fill_ms, after.rematch_of or None)
            await self._connection.execute(sql.ADD_ROOM, *args, *fixed)
        else:
            await self._connection.execute(sql.MOVE_ROOM, *args)
        if after.is_quick:
            await self._queue(after)

    async def _queue(self, after: Room) -> None:
        """Have a quick match found by those who look for one, as long as it waits."""
        if after.state is State.WAITING:
            terms = (after.rule_set, len(after.table), after.free_seats, after.fill_ms)
            await self._connection.execute(sql.QUEUE, after.room_id, *terms)
        else:
            await self._connection.execute(sql.UNQUEUE, after.room_id)

    async def _bind(self, after: Room) -> None:
        before = self.room.bound if self.room is not None else frozenset()
        for player in sorted(before - after.bound):
            await self._connection.execute(sql.UNBIND, player, self.room_id)
        for player in sorted(after.bound - before):
            await self._connection.execute(sql.BIND, player, self.room_id)

    async def _bind_to_match(self, event: MatchStarting, at_ms: int) -> None:
        for seat, spec in enumerate(event.seats):
            if spec.kind == PERSON:
                await self._connection.execute(
                    sql.BIND_TO_MATCH, spec.player, self.room_id, event.match_id, seat
                )
                await self._connection.execute(
                    sql.ADD_TO_HISTORY, spec.player, event.match_id, self.room_id, seat, at_ms
                )


class PostgresRooms:
    """`Rooms` over a database whose schema `lobby` is in place."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    @asynccontextmanager
    async def hold(self, room_id: str) -> AsyncIterator[HeldRoom]:
        """Hold a room. See `Rooms.hold`."""
        async with self._connections.transaction() as connection:
            yield await HeldRoom.lock(connection, room_id)

    async def find(self, room_id: str) -> Room | None:
        """Return a room as it is. See `Rooms.find`."""
        row = await self._connections.fetchrow(sql.FIND_ROOM, room_id)
        return None if row is None else room_of(row)

    async def find_creation(self, actor: str, command_id: str) -> str | None:
        """Return the room that was made by a command. See `Rooms.find_creation`."""
        row = await self._connections.fetchrow(sql.FIND_CREATION, actor, command_id)
        return None if row is None else str(row["room_id"])

    async def listed(self, *, rule_set: str, before: str | None, limit: int) -> Sequence[Room]:
        """Return waiting rooms. See `Rooms.listed`."""
        rows = await self._connections.fetch(sql.LISTED, rule_set, before, limit)
        return [room_of(row) for row in rows]

    async def plan(self, room_id: str) -> MatchPlan | None:
        """Return the match that a room is to become. See `Rooms.plan`."""
        rows = await self._connections.fetch(sql.RECORDS_OF_START, room_id)
        records = [read_record(row["record"]) for row in rows]
        room = Room(room_id=room_id, created_ms=0)
        # As it was when it started, whoever was invited since: every try is the very same match.
        for record in records:
            room = apply(room, record)
            starting = next((x for x in record.events if isinstance(x, MatchStarting)), None)
            if starting is not None:
                return _plan(room, starting)
        assert not records, "a room that is starting has a record of it"
        return None

    async def find_rematch(self, played: str, actor: str, command_id: str) -> str | None:
        """Return where people play again. See `Rooms.find_rematch`."""
        row = await self._connections.fetchrow(sql.FIND_REMATCH, played, actor, command_id)
        return None if row is None else str(row["room_id"])

    async def release(self, player: str, match_id: str) -> None:
        """Free a person. See `Rooms.release`."""
        await self._connections.fetch(sql.RELEASE, player, match_id)

    async def idle(self, *, before_ms: int, limit: int) -> Sequence[Idle]:
        """Return rooms in which nothing happens. See `Rooms.idle`."""
        rows = await self._connections.fetch(sql.IDLE, before_ms, limit)
        return [Idle(str(row["room_id"]), row["sequence"]) for row in rows]

    async def find_invite(self, code: str) -> Invite | None:
        """Return an invitation. See `Rooms.find_invite`."""
        row = await self._connections.fetchrow(sql.FIND_INVITE, code)
        return None if row is None else _invite(row)

    async def forget_invites(self, *, before_ms: int) -> None:
        """Forget invitations. See `Rooms.forget_invites`."""
        await self._connections.fetch(sql.FORGET_INVITES, before_ms)

    async def admissions(self, *, limit: int) -> Sequence[Admission]:
        """Return guests to be admitted. See `Rooms.admissions`."""
        rows = await self._connections.fetch(sql.ADMISSIONS, limit)
        return [Admission(MatchId(str(row["match_id"])), str(row["player_id"])) for row in rows]

    async def admitted(self, admission: Admission) -> None:
        """Note that a guest is in. See `Rooms.admitted`."""
        await self._connections.fetch(sql.REMOVE_ADMISSION, *admission)

    async def starting(self, *, limit: int) -> Sequence[str]:
        """Return the rooms whose match is being made. See `Rooms.starting`."""
        rows = await self._connections.fetch(sql.STARTING, limit)
        return [str(row["room_id"]) for row in rows]


class PostgresPlayers:
    """`Players` over a database whose schema `lobby` is in place."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    async def resolve(self, issuer: str, subject: str, new: Player, at_ms: int) -> Player:
        """Return the player of a subject. See `Players.resolve`."""
        row = await self._connections.fetchrow(sql.FIND_PLAYER, issuer, subject)
        if row is None:
            await self._connections.fetch(
                sql.ADD_PLAYER, new.player_id, issuer, subject, new.display_name, at_ms
            )
            # Ours, or that of whoever was faster; it is committed, or adding had not returned.
            row = await self._connections.fetchrow(sql.FIND_PLAYER, issuer, subject)
        assert row is not None
        return Player(str(row["player_id"]), row["display_name"])

    async def rename(self, player: Player) -> bool:
        """Give a person another name. See `Players.rename`."""
        row = await self._connections.fetchrow(sql.RENAME, player.player_id, player.display_name)
        return row is not None

    async def names(self, players: Collection[str]) -> Mapping[str, str]:
        """Return display names. See `Players.names`."""
        if not players:
            return {}
        rows = await self._connections.fetch(sql.NAMES, list(players))
        return {str(row["player_id"]): row["display_name"] for row in rows}


def _plan(room: Room, starting: MatchStarting) -> MatchPlan:
    is_asked = room.watching is Watching.INVITED
    return MatchPlan(
        room_id=room.room_id,
        match_id=MatchId(starting.match_id),
        rule_set=room.rule_set,
        seats=starting.seats,
        watching=room.watching,
        guests=room.guests - room.people if is_asked else frozenset(),
    )


def _invite(row: asyncpg.Record) -> Invite:
    return Invite(str(row["room_id"]), row["code"], row["expire_ms"])


def room_of(row: asyncpg.Record) -> Room:
    """Return the room that a row has, in whichever form it was kept."""
    if row["stored"] is None:
        return read_older_room(row["facts"], row["changed_ms"])
    return read_room(row["stored"], row["changed_ms"])
