"""Matches are made, each with a secret seed that its first record commits to (FAIR-1, W5, W6)."""

from collections.abc import Callable
from typing import Final

from libs.chassis.status import RefusedError, refused
from libs.kernel.chance import Draws, FairDraws, commitment
from libs.kernel.ids import CommandId, MatchId
from libs.kernel.reasons import Reason
from libs.rules.decide import play
from libs.rules.match import Match
from libs.rules.refusals import Refusal
from libs.store.ports import FIRST_FENCE, Conflict, Dup, MatchStore, NewRecord, Ok, Unknown
from libs.telemetry import logs
from libs.wire.chain import Chain
from libs.wire.commands import new_match_of
from libs.wire.record import SYSTEM
from libs.wire.refusals import tell
from libs.wire.request_hash import request_hash
from opolyx.match.v1 import match_service_pb2 as pb
from services.match_engine.access import access_of
from services.match_engine.appending import COMMANDS, Request, wake_of
from services.match_engine.labelling import label_of
from services.match_engine.live import Accepted, Entry, LiveMatch
from services.match_engine.matches import Matches
from services.match_engine.replies import reply_again
from services.match_engine.seeds import Seeds

ATTEMPTS: Final = 3
"""How often a creation without an answer is sent (start)."""

_log: Final = logs.get()


class Creator:
    """Makes matches, for whoever has the turn of the match that is to be."""

    def __init__(
        self,
        store: MatchStore,
        matches: Matches,
        seeds: Seeds,
        fresh_seed: Callable[[], bytes],
        draws_of: Callable[[MatchId, bytes], Draws] = FairDraws,
    ) -> None:
        """Make matches whose seeds are drawn by *fresh_seed*, 32 bytes that nobody can guess."""
        self._fresh_seed = fresh_seed
        self._draws_of = draws_of
        self._store = store
        self._matches = matches
        self._seeds = seeds

    async def create(
        self, asked: pb.CreateMatchRequest, command_id: CommandId, stamp_ms: int
    ) -> Accepted:
        """Make a match; it is in memory then.

        Raises:
            RefusedError: NOT_OWNER_OF_SHARD, COMMAND_ID_REUSED, MATCH_EXISTS, or what the rules
                say of its rule set and its seats.
            MalformedError: a seat cannot be understood.
            StoreUnavailableError: it may have been made or not.

        """
        match_id = MatchId(asked.match_id)
        self._matches.check_owned(match_id)
        seed = self._fresh_seed()
        command = new_match_of(asked, commitment(match_id, seed))
        request = Request(command_id, request_hash(command), command)
        match, draws = Match(), self._draws_of(match_id, seed)
        decision = play(match, command, draws, stamp_ms)
        if isinstance(decision, Refusal):
            found = await self._store.find_command(match_id, command_id)
            if found is None:
                raise RefusedError(tell(decision))
            return await self._reply_again(match_id, request, found)
        chain = Chain(match_id, FIRST_FENCE)
        stored = chain.join(command_id, SYSTEM, stamp_ms, decision)
        entry = Entry(stored, command_id, request.request_hash, stamp_ms)
        live = LiveMatch(match, chain, draws, [entry], access_of(asked.access))
        found = await self._write(live, entry, seed)
        if found is not None:
            return await self._reply_again(match_id, request, found)
        COMMANDS.labels(request.kind, "accepted").inc()
        _log.info("command_accepted", match_id=match_id, command=request.kind)
        self._matches.add(live, stored)
        return entry.reply

    async def _write(self, live: LiveMatch, entry: Entry, seed: bytes) -> Dup | None:
        """Put the first record into the store; returns what was there already, if so."""
        record = NewRecord(
            stored=entry.record,
            command_id=entry.command_id,
            request_hash=entry.request_hash or b"",
            at_ms=entry.at_ms,
        )
        sealed = self._seeds.seal(live.match_id, seed)
        # In the same step as the match: there is none that everybody may see for a moment.
        label, wake = label_of(live.match, live.access), wake_of(live.match)
        for _ in range(ATTEMPTS):
            outcome = await self._store.create(live.match_id, record, sealed, wake, label)
            match outcome:
                case Ok():
                    return None
                case Dup():
                    return outcome
                case Conflict():
                    raise refused(Reason.MATCH_EXISTS, match_id=live.match_id)
                case Unknown():
                    # There may be no head yet whose fence could be raised. But a match is made
                    # once, whoever comes first: it is safe to send the very same again.
                    _log.warning(
                        "command_unsettled", match_id=live.match_id, command_id=entry.command_id
                    )
        raise refused(Reason.STORE_UNAVAILABLE)

    async def _reply_again(self, match_id: MatchId, request: Request, found: Dup) -> Accepted:
        reply = await reply_again(
            self._store, match_id, request.command_id, request.request_hash, found
        )
        COMMANDS.labels(request.kind, "repeated").inc()
        return reply
