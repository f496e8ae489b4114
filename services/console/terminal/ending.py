"""What is said of a match that has ended: what it proves, and what it brought."""

import asyncio
from contextlib import aclosing, suppress
from typing import Final

from libs.chassis.status import RefusedError
from libs.client.calls import ConnectionLostError
from libs.client.client import Client
from libs.kernel.ids import MatchId
from opolyx.match.v1 import match_service_pb2 as pb
from opolyx.progression.v1.profile_pb2 import Profile, Reward

REWARD_S: Final = 10.0
"""How long the experience is waited for: it is granted moments after the end."""


async def proof(client: Client, match_id: MatchId, seed: bytes) -> list[str]:
    """Return what anybody can check the match by; *seed* is the one that was revealed."""
    told = [f"Secret seed, revealed: {seed.hex()}"] if seed else []
    with suppress(RefusedError, ConnectionLostError):
        head = await client.call(client.match.GetHead, pb.GetHeadRequest(match_id=match_id))
        told.append(f"Final hash, at {head.sequence}: {head.chain_hash.hex()}")
    check = "opolyx verify match.opolyx --key keys.json"
    told += [
        "To check all of it, the dice included:",
        f"  opolyx export {match_id} --out match.opolyx",
        f"  opolyx keys > keys.json && {check}",
    ]
    return told


async def reward(client: Client, match_id: MatchId) -> str | None:
    """Return what the match brought the caller, None if that is not known in time."""
    with suppress(RefusedError, ConnectionLostError, TimeoutError):
        async with asyncio.timeout(REWARD_S), aclosing(client.watch_profile()) as told:
            async for profile in told:
                for entry in profile.recent_rewards:
                    if entry.match_id == match_id:
                        return _reward_told(profile, entry)
    return None


def _reward_told(profile: Profile, entry: Reward) -> str:
    count = len(entry.cards)
    cards = f" and {count} collection card{'s' if count > 1 else ''}" if count else ""
    earned = f"You earned {entry.experience:,} experience{cards}"
    return f"{earned}; you are at level {profile.level}, {profile.rank}."
