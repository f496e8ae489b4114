"""The RPCs by which people are moved, told to go and asked in, and play again."""

# ruff: noqa: ARG002, D102, N802 - the signatures are gRPC's, and the proto says what they do

from libs.chassis.status import RefusedError, refused
from libs.kernel.reasons import Reason
from libs.rules.refusals import Refusal
from libs.wire.refusals import tell
from opolyx.lobby.v1 import lobby_service_pb2 as pb
from opolyx.lobby.v1 import room_pb2
from services.lobby import seat_requests as requests
from services.lobby.edge import Context, Edge
from services.lobby.room import State
from services.lobby.wire import invite_message


class SeatRpcs(Edge):
    """Seats beside joining and leaving, invitations, and playing again."""

    async def TakeSeat(self, request: pb.TakeSeatRequest, context: Context) -> room_pb2.Room:
        asked = requests.take_seat(request)
        return await self._reply(await self._parts.handlers.change(request.room_id, asked))

    async def RemoveBot(self, request: pb.RemoveBotRequest, context: Context) -> room_pb2.Room:
        asked = requests.remove_bot(request)
        return await self._reply(await self._parts.handlers.change(request.room_id, asked))

    async def KickSeat(self, request: pb.KickSeatRequest, context: Context) -> room_pb2.Room:
        asked = requests.kick_seat(request)
        return await self._reply(await self._parts.handlers.change(request.room_id, asked))

    async def HandOverRoom(
        self, request: pb.HandOverRoomRequest, context: Context
    ) -> room_pb2.Room:
        asked = requests.hand_over(request)
        return await self._reply(await self._parts.handlers.change(request.room_id, asked))

    async def Rematch(self, request: pb.RematchRequest, context: Context) -> room_pb2.Room:
        requests.check_rematch(request)
        played = await self._visible(request.room_id)
        asked = requests.rematch(request, played)
        if played.seat_of(asked.command.player) is None:
            raise refused(Reason.NOT_SEATED)
        if played.state is not State.STARTED:
            raise refused(Reason.MATCH_NOT_STARTED)
        return await self._reply(await self._parts.handlers.rematch(asked))

    async def CreateInvite(
        self, request: pb.CreateInviteRequest, context: Context
    ) -> room_pb2.Invite:
        outcome = await self._parts.inviting.invite(requests.create_invite(request))
        if isinstance(outcome, Refusal):
            raise RefusedError(tell(outcome))
        return invite_message(outcome.room_id, outcome.code, outcome.expire_ms)

    async def AcceptInvite(
        self, request: pb.AcceptInviteRequest, context: Context
    ) -> room_pb2.Room:
        requests.check_invite(request)
        inviting = self._parts.inviting
        invite = await inviting.find(request.code)
        if invite is None:
            raise refused(Reason.INVITE_NOT_FOUND)
        asked = requests.accept_invite(request, is_current=inviting.is_current(invite))
        return await self._reply(await inviting.accept(invite, asked))
