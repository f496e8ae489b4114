"""Progress as messages."""

from libs.rules.rewards import LEVEL_MAX, experience_needed, level_of, rank_of
from opolyx.progression.v1 import profile_pb2
from opolyx.record.v1 import event_pb2 as record_pb
from services.progression.profiles import Card, Granted, Progress
from services.progression.ranking import Ranked


def profile_message(progress: Progress, *, with_matches: bool) -> profile_pb2.Profile:
    """Write somebody's progress, with what each of the last matches brought or without."""
    level = level_of(progress.experience)
    return profile_pb2.Profile(
        player_id=progress.player_id,
        sequence=progress.sequence,
        experience=progress.experience,
        level=level,
        rank=rank_of(level),
        level_experience=experience_needed(level),
        next_level_experience=experience_needed(level + 1) if level < LEVEL_MAX else None,
        card_count=progress.card_count,
        recent_rewards=map(_reward, progress.recent) if with_matches else (),
    )


def entry_message(ranked: Ranked) -> profile_pb2.LeaderboardEntry:
    """Write a line of the leaderboard."""
    level = level_of(ranked.point.experience)
    return profile_pb2.LeaderboardEntry(
        place=ranked.place,
        player_id=ranked.point.player_id,
        experience=ranked.point.experience,
        level=level,
        rank=rank_of(level),
    )


def _reward(granted: Granted) -> profile_pb2.Reward:
    return profile_pb2.Reward(
        match_id=granted.match_id,
        seat=granted.seat,
        experience=granted.experience,
        cards=[card_message(card, with_match=True) for card in granted.cards],
        granted_ms=granted.granted_ms,
    )


def card_message(card: Card, *, with_match: bool) -> profile_pb2.CollectedCard:
    """Write a collection card, with the match that it came from or without."""
    # A number that was stored is one of the enum's.
    rarity = record_pb.CollectionCard.Rarity.ValueType(card.rarity)
    return profile_pb2.CollectedCard(
        card=record_pb.CollectionCard(square=card.square, rarity=rarity),
        match_id=card.match_id if with_match else "",
        dropped_ms=card.dropped_ms if with_match else 0,
    )
