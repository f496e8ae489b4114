"""One match through a whole system, by its public API alone, and what it came to."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from libs import verify as verifier
from libs.bots.strengths import STRENGTHS
from libs.client.client import Client
from libs.kernel.ids import MatchId
from libs.rules import phases
from libs.rules.match import Match
from libs.rules.snapshot import state_hash
from libs.simulation.auditing import audit
from libs.simulation.invariants import BrokenInvariantError
from libs.wire.chain import rebuild
from libs.wire.export import write_export
from libs.wire.heads import spell_keys
from opolyx.progression.v1 import progression_service_pb2 as progression_pb
from services.console.connection import public_keys, read_match
from services.console.exports import verify_export
from services.console.seat import STRENGTH, PlayedSeat
from services.console.showing import Show

REWARD_S: Final = 30.0
"""How long the reward of a match may take to be granted."""

POLL_S: Final = 0.05
SEAT: Final = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A match that was played to its end, and checked.

    Attributes:
        match: as its player saw it end.
        names: who sat where.
        records: how many it took. chain_hash: the end of their chain.
        rebuilt_equal: whether its records, read again, make the same match.
        audit_ok: whether they keep all invariants.
        verified: whether its export, checked as a stranger would, is whole and fair.
        experience: what the person at the table earned.
        export, key_file: the match as a file, and the keys to check it with.

    """

    match: Match
    names: Sequence[str]
    records: int
    chain_hash: bytes
    rebuilt_equal: bool
    audit_ok: bool
    verified: bool
    experience: int
    export: bytes
    key_file: bytes

    @property
    def is_well(self) -> bool:
        """Whether every check holds."""
        return all(holds for holds, _ in self.checks())

    def checks(self) -> list[tuple[bool, str]]:
        """Return each check: whether it holds, and what it says."""
        return [
            (self.rebuilt_equal, "rebuilt from its records it is the same match"),
            (self.audit_ok, "every event keeps every invariant"),
            (self.verified, "chain, signed head and every draw verify with the public key"),
        ]

    def report(self) -> dict[str, Any]:
        """Return all of it, ready for JSON."""
        return {
            "match_id": self.match.match_id,
            "rule_set": self.match.rules.rule_set_id,
            "winner_seats": list(self.match.winners),
            "rounds": self.match.round,
            "records": self.records,
            "events": self.match.sequence,
            "chain_hash": self.chain_hash.hex(),
            "rebuilt_equal": self.rebuilt_equal,
            "audit_ok": self.audit_ok,
            "verified": self.verified,
            "xp": self.experience,
        }


@dataclass(frozen=True, slots=True)
class Trial:
    """A match to play. *seed*: which bots sit where, and what the person adds to the chance."""

    rule_set: str
    seats: int
    seed: int
    pace_s: float

    async def run(self, client: Client, show: Show) -> Verdict:
        """Open a room, play its match to the end, and check it.

        Raises:
            TimeoutError: nothing was granted.
            ConnectionLostError: the room did not start.
            grpc.aio.AioRpcError, RefusedError, BrokenChainError, StreamBrokenError: the system does
                not do as it should.

        """
        bots = self._bots()
        names = [f"you ({STRENGTH})", *bots]
        # Nobody joins, and whoever looks at the match afterwards may.
        match_id = await client.start_match(self.rule_set, bots)
        match = await self._play(client, match_id, names, show)
        return await _check(client, match, names)

    def _bots(self) -> list[str]:
        strengths = list(STRENGTHS)
        return [strengths[(self.seed + seat) % len(strengths)] for seat in range(1, self.seats)]

    async def _play(
        self, client: Client, match_id: MatchId, names: Sequence[str], show: Show
    ) -> Match:
        async with client.play(match_id) as table:
            seat = PlayedSeat(table, SEAT, self.seed)
            async for record in table:
                show(table.match, names, record.at_ms, record.events)
                if not table.has_waiting:
                    await asyncio.sleep(self.pace_s)
                    await seat.play()
            return table.match


async def _check(client: Client, match: Match, names: Sequence[str]) -> Verdict:
    match_id = MatchId(match.match_id)
    records, head = await read_match(client, match_id)
    keys = spell_keys((await public_keys(client)).items()).encode("ascii")
    export = write_export(match_id, records, head)
    try:
        is_sound = audit(records).match.phase == phases.ENDED
    except BrokenInvariantError:
        is_sound = False
    return Verdict(
        match=match,
        names=names,
        records=len(records),
        chain_hash=head.hash,
        rebuilt_equal=state_hash(rebuild(records)) == state_hash(match),
        audit_ok=is_sound,
        verified=verify_export(export, keys).code == verifier.OK,
        experience=await _experience(client, match_id),
        export=export,
        key_file=keys,
    )


async def _experience(client: Client, match_id: MatchId) -> int:
    """Return what the match brought the caller, once it is granted."""
    async with asyncio.timeout(REWARD_S):
        while True:
            profile = await client.progression.GetProfile(progression_pb.GetProfileRequest())
            for reward in profile.recent_rewards:
                if reward.match_id == match_id:
                    return reward.experience
            await asyncio.sleep(POLL_S)
