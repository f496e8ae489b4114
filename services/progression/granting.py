"""From what somebody earned to the events of their progress. Pure."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from libs.kernel.ids import PlayerId
from libs.rules.board import Board
from libs.rules.collecting import CARD, card_commitment, draw_card
from libs.rules.rewards import level_drops, level_of, rank_of
from libs.wire.writers import card_messages
from opolyx.progression.v1 import progression_event_pb2 as pb
from opolyx.record.v1 import event_pb2 as record_pb
from services.progression.facts import Earned

FreshSeed = Callable[[], bytes]
"""Makes a seed of 32 bytes that nobody can guess."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a player stands: the fold of their events, and the secret that they are bound to.

    *seed* is that of the next card; empty before the first event, and where it was lost for good.
    """

    player_id: PlayerId
    sequence: int = 0
    experience: int = 0
    card_count: int = 0
    seed: bytes = b""


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of a match: the hash of its chain, its board, and when its rewards are granted."""

    chain_hash: bytes
    board: Board
    at_ms: int


class Granting:
    """Grants what one player earned, and gathers the events.

    Attributes:
        standing: where the player stands after them.
        events: what happened, in order.

    """

    def __init__(self, standing: Standing, ending: Ending, fresh_seed: FreshSeed) -> None:
        """Begin where a player stands; somebody without an event gets a profile first.

        Whose seed was lost is bound to another one, openly, before anything is granted.
        """
        self.standing = standing
        self.events: list[pb.ProgressionEvent] = []
        self._ending = ending
        self._fresh_seed = fresh_seed
        if not standing.sequence:
            commitment = self._commit()
            self._tell(profile_opened=pb.ProfileOpened(commitment=commitment))
        elif not standing.seed:
            commitment = self._commit()
            self._tell(commitment_renewed=pb.CommitmentRenewed(commitment=commitment))

    def grant(self, earned: Earned) -> None:
        """Reward a match: its experience, then its cards, one after the other."""
        before = self.standing.experience
        total = before + earned.experience
        cards = earned.cards + (level_drops(before, total) if earned.levels_drop else 0)
        self.standing = replace(self.standing, experience=total)
        rewarded = pb.MatchRewarded(
            match_id=earned.match_id,
            seat=earned.seat,
            experience=earned.experience,
            total_experience=total,
            level=level_of(total),
            rank=rank_of(level_of(total)),
            card_count=cards,
        )
        self._tell(match_rewarded=rewarded)
        for _ in range(cards):
            self._drop(earned)

    def _drop(self, earned: Earned) -> None:
        standing, ending = self.standing, self._ending
        drawn = draw_card(standing.player_id, standing.seed, ending.chain_hash, ending.board)
        (card,) = card_messages([drawn.drop])
        blocks = drawn.blocks if drawn.blocks > 1 else 0
        next_commitment = self._commit()
        dropped = pb.CardDropped(
            match_id=earned.match_id,
            card=card,
            draw=record_pb.Draw(label=CARD, counter=0, blocks=blocks),
            seed=standing.seed,
            chain_hash=ending.chain_hash,
            next_commitment=next_commitment,
        )
        self.standing = replace(self.standing, card_count=standing.card_count + 1)
        self._tell(card_dropped=dropped)

    def _commit(self) -> bytes:
        """Choose the next seed, and return what binds us to it."""
        self.standing = replace(self.standing, seed=self._fresh_seed())
        return card_commitment(self.standing.player_id, self.standing.seed)

    def _tell(
        self,
        *,
        profile_opened: pb.ProfileOpened | None = None,
        match_rewarded: pb.MatchRewarded | None = None,
        card_dropped: pb.CardDropped | None = None,
        commitment_renewed: pb.CommitmentRenewed | None = None,
    ) -> None:
        self.standing = replace(self.standing, sequence=self.standing.sequence + 1)
        self.events.append(
            pb.ProgressionEvent(
                player_id=self.standing.player_id,
                sequence=self.standing.sequence,
                at_ms=self._ending.at_ms,
                profile_opened=profile_opened,
                match_rewarded=match_rewarded,
                card_dropped=card_dropped,
                commitment_renewed=commitment_renewed,
            )
        )
