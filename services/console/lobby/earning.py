"""What somebody has earned, as plain values and as lines for people."""

from collections.abc import Iterable, Sequence
from typing import Final

from libs.rules.boards.classic import CLASSIC
from libs.wire.words import words_by_number
from opolyx.progression.v1.profile_pb2 import CollectedCard, LeaderboardEntry, Profile, Reward
from opolyx.record.v1.event_pb2 import CollectionCard
from services.console.lobby.describing import (
    UNKNOWN,
    Plain,
    fact_lines,
    moment,
    name_or_id,
)
from services.console.naming import label
from services.console.output import table_lines

_RARITIES: Final = words_by_number(CollectionCard.Rarity)


def describe_profile(profile: Profile, name: str) -> Plain:
    """Return a profile as plain values, null where there is nothing."""
    has_next = profile.HasField("next_level_experience")
    return {
        "player_id": profile.player_id,
        "name": name or None,
        "sequence": profile.sequence,
        "level": profile.level,
        "rank": profile.rank,
        "experience": profile.experience,
        "level_experience": profile.level_experience,
        "next_level_experience": profile.next_level_experience if has_next else None,
        "card_count": profile.card_count,
        "rewards": [_describe_reward(reward) for reward in profile.recent_rewards],
    }


def describe_card(collected: CollectedCard) -> Plain:
    """Return a collection card as plain values."""
    return {
        "square": collected.card.square,
        "rarity": _RARITIES.get(collected.card.rarity, UNKNOWN),
        "match_id": collected.match_id or None,
        "dropped_ms": collected.dropped_ms or None,
    }


def describe_entry(entry: LeaderboardEntry, name: str) -> Plain:
    """Return a line of the leaderboard as plain values."""
    return {
        "place": entry.place,
        "player_id": entry.player_id,
        "name": name or None,
        "experience": entry.experience,
        "level": entry.level,
        "rank": entry.rank,
    }


def profile_lines(profile: Plain, cards: Sequence[Plain] | None) -> list[str]:
    """Return the lines of a profile, with a list of its cards if there is to be one."""
    following = profile["next_level_experience"]
    missing = None if following is None else following - profile["experience"]
    facts = {
        "player": profile["player_id"],
        "name": name_or_id(profile["name"], None) or None,
        "level": f"{profile['level']}, {profile['rank']}",
        "experience": f"{profile['experience']:,}",
        "to the next level": None if missing is None else f"{missing:,}",
        "cards": profile["card_count"],
    }
    lines = fact_lines(facts)
    if profile["rewards"]:
        lines += ["", *_reward_table(profile["rewards"])]
    if cards:
        lines += ["", *card_table(cards)]
    return lines


def card_table(cards: Iterable[Plain]) -> list[str]:
    """Return the lines of a list of collection cards."""
    return table_lines(
        ("square", "name", "rarity", "match", "dropped (UTC)"),
        (
            (
                card["square"],
                label(CLASSIC, card["square"]),
                card["rarity"],
                card["match_id"],
                card["dropped_ms"] and moment(card["dropped_ms"]),
            )
            for card in cards
        ),
    )


def entry_table(entries: Iterable[Plain]) -> list[str]:
    """Return the lines of the leaderboard."""
    return table_lines(
        ("place", "who", "experience", "level", "rank", "player"),
        (
            (
                entry["place"],
                name_or_id(entry["name"], None) or None,
                entry["experience"],
                entry["level"],
                entry["rank"],
                entry["player_id"],
            )
            for entry in entries
        ),
    )


def _reward_table(rewards: Iterable[Plain]) -> list[str]:
    return table_lines(
        ("granted (UTC)", "experience", "cards", "seat", "match"),
        (
            (
                moment(reward["granted_ms"]),
                reward["experience"],
                ", ".join(f"{card['square']} {card['rarity']}" for card in reward["cards"]) or None,
                reward["seat"],
                reward["match_id"],
            )
            for reward in rewards
        ),
    )


def _describe_reward(reward: Reward) -> Plain:
    return {
        "match_id": reward.match_id,
        "seat": reward.seat,
        "experience": reward.experience,
        "cards": [describe_card(card) for card in reward.cards],
        "granted_ms": reward.granted_ms,
    }
