"""Invitations: whoever has the code of one may enter a room, and watch its match.

A code is a secret of those who pass it on. It is in the lobby's tables alone: in no record, no log,
and no reply but that to whoever made it.
"""

import asyncio
from dataclasses import dataclass

from libs.kernel.clock import Clock
from libs.kernel.ids import MatchId, fresh_code
from libs.kernel.reasons import Reason
from libs.rules.refusals import Refusal
from libs.wire.limits import INVITES_MAX
from services.lobby import commands as c
from services.lobby.admitting import Admitter
from services.lobby.events import Watching
from services.lobby.handlers import Asked, Handlers
from services.lobby.ports import Admission, Invite, InviteTable, Rooms
from services.lobby.room import Room, State
from services.lobby.seating import not_creator


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedInvite:
    """An invitation that somebody asks for.

    Attributes:
        room_id: the room.
        player: who asks.
        command_id: the same again is the same invitation.
        request_hash: of all that is asked, to tell a repeat from another command.
        sees_all: whether an operator asks, from whom no room is hidden.
        ttl_ms: for how long it is to be of use.

    """

    room_id: str
    player: str
    command_id: str
    request_hash: bytes
    sees_all: bool
    ttl_ms: int


class Inviting:
    """Makes invitations, and has them taken."""

    def __init__(
        self, rooms: Rooms, handlers: Handlers, admitter: Admitter, clock: Clock, *, reply_s: float
    ) -> None:
        """Wait for a match to let a guest in for *reply_s* seconds; then that is done later."""
        self._rooms = rooms
        self._handlers = handlers
        self._admitter = admitter
        self._clock = clock
        self._reply_s = reply_s

    async def invite(self, wanted: WantedInvite) -> Invite | Refusal:
        """Make an invitation, or return the one that the same command made.

        Raises:
            StoreUnavailableError: it may be made or not; the same is asked again.

        """
        async with self._rooms.hold(wanted.room_id) as table:
            known = await table.find_invite(wanted.command_id)
            is_reused = known is not None and known.request_hash != wanted.request_hash
            if is_reused or await table.find_command(wanted.command_id) is not None:
                return _refuse_unseen(table, wanted) or Refusal(Reason.COMMAND_ID_REUSED, "")
            if known is not None:
                return known.invite
            now_ms = self._clock.now_ms()
            refusal = await _refuse(table, wanted, now_ms)
            if refusal is not None:
                return refusal
            invite = Invite(wanted.room_id, fresh_code(), now_ms + wanted.ttl_ms)
            await table.add_invite(invite, wanted.command_id, wanted.request_hash)
            return invite

    async def find(self, code: str) -> Invite | None:
        """Return an invitation, of use or not."""
        return await self._rooms.find_invite(code)

    def is_current(self, invite: Invite) -> bool:
        """Tell whether an invitation is of use."""
        return self._clock.now_ms() < invite.expire_ms

    async def accept(self, invite: Invite, asked: Asked[c.AdmitGuest]) -> Room | Refusal:
        """Let somebody in who has the code; returns the room. See `Handlers.change`.

        They may watch the match too: at once, if its owner answers, or once it does.
        """
        outcome = await self._handlers.change(invite.room_id, asked)
        if not isinstance(outcome, Refusal) and _is_watched_by_guests(outcome):
            admission = Admission(MatchId(outcome.match_id), asked.command.player)
            await asyncio.wait((self._admitter.admit(admission),), timeout=self._reply_s)
        return outcome


def _refuse_unseen(table: InviteTable, wanted: WantedInvite) -> Refusal | None:
    room = table.room
    if room is None or not (wanted.sees_all or room.is_seen_by(wanted.player)):
        return Refusal(Reason.ROOM_NOT_FOUND, "")
    return None


async def _refuse(table: InviteTable, wanted: WantedInvite, now_ms: int) -> Refusal | None:
    room, unseen = table.room, _refuse_unseen(table, wanted)
    if room is None or unseen is not None:
        return unseen
    if room.seat_of(wanted.player) is None:
        return Refusal(Reason.NOT_SEATED, "")
    if room.state is State.CLOSED:
        return Refusal(Reason.ROOM_CLOSED, "", {"state": room.state})
    if room.is_quick:
        return not_creator()
    if await table.count_invites(now_ms) >= INVITES_MAX:
        return Refusal(Reason.TOO_MANY_INVITES, "", {"limit": INVITES_MAX})
    return None


def _is_watched_by_guests(room: Room) -> bool:
    return room.state is State.STARTED and room.watching is Watching.INVITED
