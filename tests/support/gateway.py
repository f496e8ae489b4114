"""A gateway to try clients with: real gRPC, real rules, real records, and trouble when asked for.

Whoever's token is about `seat-N` has seat N; the bot runner has the seat that it says.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from libs.chassis.admission import Door
from libs.chassis.edge import Terms
from libs.chassis.identity import caller
from libs.chassis.issuing import DevelopmentIssuer
from libs.chassis.roles import PERSON, AllowList, service
from libs.chassis.sections import ServerSettings
from libs.chassis.server import GrpcServer
from libs.chassis.status import RefusedError, refused
from libs.kernel.chance import FairDraws, commitment
from libs.kernel.clock import SystemClock
from libs.kernel.ids import CommandId, MatchId, SeededIds
from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules import phases
from libs.rules.clocks import next_deadline
from libs.rules.decide import Decision, Referee
from libs.rules.match import Match
from libs.rules.refusals import Refusal
from libs.wire.chain import Chain
from libs.wire.commands import command_of
from libs.wire.record import SYSTEM, StoredRecord
from libs.wire.refusals import refused_message, tell
from libs.wire.request_hash import seat_actor
from opolyx.match.v1 import match_service_pb2 as pb
from opolyx.match.v1.match_service_pb2_grpc import (
    MatchServiceServicer,
    add_MatchServiceServicer_to_server,
)
from opolyx.match.v1.stream_pb2 import GoAway, Heartbeat, Snapshot
from opolyx.record.v1.stored_record_pb2 import StoredRecord as StoredMessage

START_MS = 1_750_000_000_000
THINKING_MS = 400
BOT_RUNNER = "bot_runner"

Given = tuple[int, c.SeatCommand, CommandId, int | None]
"""A command as it came: its seat, what was asked, its id, and the sequence expected."""


class LiveMatch:
    """A match, its records, and whoever waits for the next one."""

    def __init__(self, rule_set: str, specs: Sequence[e.SeatSpec], seed: int = 1) -> None:
        secret = sha256(f"{rule_set} {seed}".encode()).digest()
        self.match_id = SeededIds(secret).match_id(START_MS)
        self.match = Match()
        self.records: list[StoredRecord] = []
        self.given: list[Given] = []
        self.changed = asyncio.Event()
        self.now_ms = START_MS
        self._ids = SeededIds(secret)
        self._chain = Chain(self.match_id)
        self._referee = Referee(self.match, FairDraws(self.match_id, secret))
        self._replies: dict[str, pb.SubmitCommandResponse] = {}
        committed = commitment(self.match_id, secret)
        self.play(c.CreateMatch(self.match_id, rule_set, tuple(specs), committed), SYSTEM)

    @classmethod
    def of_bots(
        cls, *strengths: str, rule_set: str = "opolyx.classic@2", seed: int = 1
    ) -> LiveMatch:
        """Make a match in which nobody but bots plays."""
        return cls(rule_set, [e.SeatSpec(e.BOT, "", s) for s in strengths], seed)

    @property
    def has_ended(self) -> bool:
        """Whether it is over."""
        return self.match.phase == phases.ENDED

    def accepted(self, seat: int) -> list[c.SeatCommand]:
        """Return the commands of a seat that were accepted."""
        ids = set(self._replies)
        return [given[1] for given in self.given if given[0] == seat and given[2] in ids]

    def play(self, command: c.Command, actor: str, command_id: CommandId | None = None) -> Decision:
        """Decide a command, and record it if it is accepted."""
        self.now_ms += THINKING_MS
        command_id = command_id or self._ids.command_id(self.now_ms)
        decision = self._referee.play(command, self.now_ms)
        if not isinstance(decision, Refusal):
            stored = self._chain.join(command_id, actor, self.now_ms, decision)
            self.records.append(stored)
            self._replies[command_id] = pb.SubmitCommandResponse(
                sequence=stored.last_seq,
                chain_hash=stored.hash,
                first_sequence=stored.first_seq,
                at_ms=self.now_ms,
            )
            self.news()
        return decision

    def submit(self, given: Given) -> pb.CommandResult:
        """Answer a command as an engine does: known ids first, then the head, then the rules."""
        seat, command, command_id, expected = given
        self.given.append(given)
        reply = self._replies.get(command_id)
        if reply is None:
            decision: Decision = Refusal(Reason.STALE_SEQUENCE, "", {})
            if expected in (None, self.match.sequence):
                decision = self.play(command, seat_actor(seat), command_id)
            if isinstance(decision, Refusal):
                told = refused_message(tell(decision))
                return pb.CommandResult(command_id=command_id, refused=told)
            reply = self._replies[command_id]
        return pb.CommandResult(command_id=command_id, accepted=reply)

    def fire(self) -> None:
        """Let the time pass until the next deadline acts."""
        deadline = next_deadline(self.match)
        assert deadline is not None
        self.now_ms = max(self.now_ms, deadline.due)
        decision = self.play(c.FireDeadline(deadline.deadline_id), SYSTEM)
        assert not isinstance(decision, Refusal)

    def news(self) -> None:
        """Wake whoever waits."""
        self.changed.set()
        self.changed = asyncio.Event()


@dataclass
class Trouble:
    """What the gateway does wrong.

    Attributes:
        before: asked before a command is decided; what it returns or raises is the answer.
        lose_results: of so many commands the result is never sent, and the stream breaks off.
        leave_out: records that begin at these sequences are not sent, once each.
        unanswered: whether commands are decided and no result is sent, and the stream goes on.

    """

    before: Callable[[Given], pb.CommandResult | None] = lambda _: None
    lose_results: int = 0
    leave_out: set[int] = field(default_factory=set)
    unanswered: bool = False


_Unimplemented: Any = MatchServiceServicer


class FakeGateway(_Unimplemented):  # type: ignore[misc] # its stubs say abstract, and it is not
    """Serves the streams of matches, and the simple command."""

    def __init__(self, *matches: LiveMatch) -> None:
        self.matches = {match.match_id: match for match in matches}
        self.trouble = Trouble()
        self.opened: list[tuple[str, int]] = []
        self.open_streams = 0
        self._generation = 0
        self._ends_by: GoAway | RefusedError = refused(Reason.GOING_AWAY)

    def add(self, match: LiveMatch) -> LiveMatch:
        """Have a further match."""
        self.matches[match.match_id] = match
        return match

    def cut(self, by: GoAway | RefusedError | None = None) -> None:
        """End every open stream: by a last word, or by a status."""
        self._generation += 1
        self._ends_by = by or refused(Reason.GOING_AWAY)
        for match in self.matches.values():
            match.news()

    async def SubmitCommand(self, request: pb.SubmitCommandRequest, _: Any) -> Any:  # noqa: N802
        """See the proto."""
        match = self._match(request.match_id)
        result = self._decide(match, self._seat(match), request)
        if result.HasField("refused"):
            raise RefusedError(tell(Refusal(Reason(result.refused.reason), "", {})))
        return result.accepted

    async def ListLegalCommands(  # noqa: N802
        self, request: pb.ListLegalCommandsRequest, _: Any
    ) -> Any:
        """Tell the caller's seat and the head; nobody here needs the list itself."""
        match = self._match(request.match_id)
        return pb.ListLegalCommandsResponse(sequence=match.match.sequence, seat=self._seat(match))

    async def WatchMatch(  # noqa: N802
        self, request: pb.WatchMatchRequest, context: Any
    ) -> None:
        """See the proto."""
        match = self._match(request.match_id)
        self.opened.append(("watch", request.after_sequence))
        await self._tell(
            match, request.after_sequence, pb.WatchMatchResponse, context, asyncio.Lock()
        )

    async def PlayMatch(self, _: Any, context: Any) -> None:  # noqa: N802
        """See the proto."""
        opening = (await context.read()).open
        match = self._match(opening.match_id)
        seat = self._seat(match)
        self.opened.append((f"play {seat}", opening.after_sequence))
        writing = asyncio.Lock()
        telling = asyncio.create_task(
            self._tell(match, opening.after_sequence, pb.PlayMatchResponse, context, writing)
        )
        hearing = asyncio.create_task(self._hear(match, seat, context, writing))
        try:
            await asyncio.wait([telling, hearing], return_when=asyncio.FIRST_COMPLETED)
            for task in (hearing, telling):
                if task.done():
                    task.result()
            await telling
        finally:
            hearing.cancel()
            telling.cancel()

    async def _hear(self, match: LiveMatch, seat: int, context: Any, writing: asyncio.Lock) -> None:
        while isinstance(request := await context.read(), pb.PlayMatchRequest):
            result = self._decide(match, seat, request.command)
            if self.trouble.lose_results > 0:
                self.trouble.lose_results -= 1
                raise refused(Reason.GOING_AWAY)
            if not self.trouble.unanswered:
                async with writing:
                    await context.write(pb.PlayMatchResponse(result=result))

    async def _tell(
        self, match: LiveMatch, after: int, kind: Any, context: Any, writing: asyncio.Lock
    ) -> None:
        generation = self._generation
        self.open_streams += 1
        try:
            async with writing:
                snapshot = Snapshot(sequence=after, head_sequence=match.match.sequence)
                await context.write(kind(snapshot=snapshot))
            while generation == self._generation:
                changed = match.changed
                for record in [r for r in match.records if r.last_seq > after]:
                    after = record.last_seq
                    if record.first_seq in self.trouble.leave_out:
                        self.trouble.leave_out.remove(record.first_seq)
                        continue
                    async with writing:
                        await context.write(kind(record=_message(record)))
                async with writing:
                    await context.write(kind(heartbeat=Heartbeat(head_sequence=after)))
                if match.has_ended:
                    async with writing:
                        await context.write(kind(go_away=GoAway(reason="MATCH_ENDED")))
                    return
                await changed.wait()
            if isinstance(self._ends_by, RefusedError):
                raise self._ends_by
            async with writing:
                await context.write(kind(go_away=self._ends_by))
        finally:
            self.open_streams -= 1

    def _decide(
        self,
        match: LiveMatch,
        seat: int,
        request: pb.PlayMatchRequest.PlayedCommand | pb.SubmitCommandRequest,
    ) -> pb.CommandResult:
        expected = request.expected_sequence if request.HasField("expected_sequence") else None
        command = command_of(request.command, seat)
        given = (seat, command, CommandId(request.command_id), expected)
        return self.trouble.before(given) or match.submit(given)

    def _match(self, match_id: str) -> LiveMatch:
        match = self.matches.get(MatchId(match_id))
        if match is None:
            raise refused(Reason.MATCH_NOT_FOUND)
        return match

    def _seat(self, match: LiveMatch) -> int:
        made_by = caller()
        if made_by.on_behalf is not None:
            seat = made_by.on_behalf.bot_seat
        else:
            seat = int(made_by.subject.removeprefix("seat-"))
        if not match.match.has_seat(seat):
            raise refused(Reason.NOT_SEATED)
        return seat


def _message(record: StoredRecord) -> StoredMessage:
    return StoredMessage(
        first_seq=record.first_seq, last_seq=record.last_seq, hash=record.hash, data=record.data
    )


@asynccontextmanager
async def serving_gateway(
    gateway: FakeGateway, issuer: DevelopmentIssuer, *, port: int = 0
) -> AsyncIterator[GrpcServer]:
    """Serve *gateway* to people, and to the bot runner, which it believes."""
    descriptor = pb.DESCRIPTOR.services_by_name["MatchService"]
    who = [PERSON, service(BOT_RUNNER)]
    allowed = AllowList({f"{descriptor.full_name}/{m.name}": who for m in descriptor.methods})
    door = Door(
        allowed=allowed,
        people=issuer.people(),
        services=issuer.services(),
        believed={BOT_RUNNER},
    )
    terms = Terms(
        service="gateway",
        door=door,
        settings=ServerSettings(port=port, stream_grace_s=0),
        clock=SystemClock(),
        version="1.2.3",
    )
    server = GrpcServer(terms)
    server.add(add_MatchServiceServicer_to_server, gateway, descriptor)
    async with server:
        yield server
