"""What a match pays (XP-1 to XP-6)."""

from collections import Counter

import pytest

from libs.kernel.chance import BlockReader
from libs.rules import events as e
from libs.rules.boards.classic import CLASSIC
from libs.rules.rewards import (
    LEVEL_MAX,
    CardDrop,
    Reward,
    drop_card,
    experience_needed,
    level_drops,
    level_of,
    rank_of,
    reward_key,
    rewards,
)
from libs.rules.rule_sets import rule_set
from tests.support.builders import (
    CLASSIC_1,
    CLASSIC_2,
    MATCH_ID,
    REVISION_1,
    REVISION_2,
    RULE_SETS,
    TEAMS_2,
    bots,
    people,
)

NOBODY_OUT = (False,) * 6


def ended(
    placing: tuple[int, ...],
    in_round: int = 21,
    groups: tuple[int, ...] = (0,) * 6,
    winners: tuple[int, ...] = (),
) -> e.MatchEnded:
    """Return the end of a match in which nobody had anything left."""
    worths = (0,) * len(placing)
    return e.MatchEnded(winners or placing[:1], placing, worths, groups, in_round, "round_cap")


@pytest.mark.parametrize("rules", RULE_SETS)
@pytest.mark.parametrize("in_round", [1, 20])
def test_a_match_that_ends_in_round_20_or_earlier_pays_nothing(rules: str, in_round: int) -> None:
    """XP-1."""
    end = ended((0, 1, 2, 3), in_round)

    assert rewards(end, people(4), rule_set(rules), NOBODY_OUT) == ()


@pytest.mark.parametrize("rules", RULE_SETS)
def test_a_match_that_ends_in_round_21_pays(rules: str) -> None:
    """XP-1."""
    assert rewards(ended((0, 1, 2, 3)), people(4), rule_set(rules), NOBODY_OUT)


@pytest.mark.parametrize("rules", [CLASSIC_1, CLASSIC_2])
def test_bots_never_earn(rules: str) -> None:
    """XP-1."""
    assert rewards(ended((0, 1)), bots(2), rule_set(rules), NOBODY_OUT) == ()


def test_people_earn_beside_bots() -> None:
    """XP-1, XP-3."""
    specs = (*bots(1), *people(1))

    assert rewards(ended((0, 1)), specs, rule_set(CLASSIC_2), NOBODY_OUT) == (Reward(1, 120 + 30),)


@pytest.mark.parametrize("rules", REVISION_1)
def test_revision_1_pays_the_winner_200_and_a_card(rules: str) -> None:
    """XP-2."""
    end = ended((2, 0, 1), groups=(3, 3, 3))

    assert rewards(end, people(3), rule_set(rules), NOBODY_OUT) == (Reward(2, 200, cards=1),)


def test_revision_1_pays_nobody_when_a_bot_wins() -> None:
    """XP-2."""
    specs = (*people(1), *bots(1))

    assert rewards(ended((1, 0)), specs, rule_set(CLASSIC_1), NOBODY_OUT) == ()


def test_revision_2_pays_by_place() -> None:
    """XP-3."""
    out = (True,) * 6

    paid = rewards(ended((3, 1, 0, 5, 4, 2)), people(6), rule_set(CLASSIC_2), out)

    assert [reward.experience for reward in paid] == [80, 120, 20, 200, 40, 60]
    assert [reward.seat for reward in paid] == [0, 1, 2, 3, 4, 5]


def test_revision_2_pays_25_for_each_whole_street_group() -> None:
    """XP-3."""
    end = ended((0, 1), groups=(0, 3))

    paid = rewards(end, people(2), rule_set(CLASSIC_2), (True, True))

    assert [reward.experience for reward in paid] == [200, 120 + 75]


def test_revision_2_pays_30_for_still_living_even_without_a_penny() -> None:
    """XP-3."""
    paid = rewards(ended((0, 1, 2)), people(3), rule_set(CLASSIC_2), (False, False, True))

    assert [reward.experience for reward in paid] == [230, 150, 80]


def test_each_member_of_the_winning_team_counts_as_first_and_the_others_as_second() -> None:
    """XP-3."""
    end = ended((3, 1, 0, 2), winners=(1, 3))

    paid = rewards(end, people(4), rule_set(TEAMS_2), (False, True, False, False))

    assert [reward.experience for reward in paid] == [150, 200, 150, 230]


@pytest.mark.parametrize("rules", REVISION_2)
def test_revision_2_gives_no_card_but_those_of_levels(rules: str) -> None:
    """XP-3, XP-5."""
    paid = rewards(ended((0, 1, 2, 3)), people(4), rule_set(rules), NOBODY_OUT)

    assert all(reward.cards == 0 for reward in paid)


@pytest.mark.parametrize(
    ("level", "needed"), [(1, 0), (2, 100), (3, 300), (4, 600), (5, 1_000), (60, 177_000)]
)
def test_a_level_needs_50_n_n_minus_1(level: int, needed: int) -> None:
    """XP-4."""
    assert experience_needed(level) == needed


@pytest.mark.parametrize("level", range(2, LEVEL_MAX + 1))
def test_a_level_is_reached_with_its_last_point(level: int) -> None:
    """XP-4."""
    needed = experience_needed(level)

    assert (level_of(needed - 1), level_of(needed)) == (level - 1, level)


@pytest.mark.parametrize("experience", [177_000, 183_000, 10_000_000])
def test_there_is_no_level_above_60(experience: int) -> None:
    """XP-4."""
    assert level_of(experience) == 60


def test_without_experience_one_is_at_level_1() -> None:
    """XP-4."""
    assert (level_of(0), level_of(49), level_of(99)) == (1, 1, 1)


@pytest.mark.parametrize(
    ("first", "last", "rank"),
    [
        (1, 9, "Newcomer"),
        (10, 19, "Trader"),
        (20, 29, "Broker"),
        (30, 39, "Investor"),
        (40, 49, "Magnate"),
        (50, 60, "Tycoon"),
    ],
)
def test_a_rank_has_its_levels(first: int, last: int, rank: str) -> None:
    """XP-4."""
    assert {rank_of(level) for level in range(first, last + 1)} == {rank}


@pytest.mark.parametrize(
    ("before", "after", "drops"),
    [
        (0, 299, 0),
        (0, 300, 1),
        (299, 300, 1),
        (300, 1_499, 0),
        (300, 1_500, 1),
        (0, 1_500, 2),
        (0, 177_000, 20),
        (177_000, 999_999, 0),
        (300, 300, 0),
    ],
)
def test_every_third_level_drops_a_card(before: int, after: int, drops: int) -> None:
    """XP-5."""
    assert level_drops(before, after) == drops


def words(*numbers: int) -> BlockReader:
    """Return a reader that will read these 8-byte words."""
    raw = b"".join(number.to_bytes(8, "big") for number in numbers).ljust(32, b"\0")
    return BlockReader(lambda _: raw, 0)


@pytest.mark.parametrize("number", range(28))
def test_each_of_the_28_properties_may_drop(number: int) -> None:
    """XP-5."""
    assert drop_card(words(number, 0), CLASSIC).square == CLASSIC.properties[number]


def test_rarities_drop_in_60_25_10_4_and_1_of_100() -> None:
    """XP-5."""
    drawn = Counter(drop_card(words(0, number), CLASSIC).rarity for number in range(100))

    assert drawn == {"common": 60, "uncommon": 25, "rare": 10, "epic": 4, "legendary": 1}


def test_a_word_that_would_favour_a_square_is_skipped() -> None:
    """XP-5."""
    assert drop_card(words(2**64 - 1, 5, 99), CLASSIC) == CardDrop(
        CLASSIC.properties[5], "legendary"
    )


def test_a_reward_has_one_key_for_each_match_and_seat() -> None:
    """XP-6."""
    keys = [reward_key(match_id, seat) for match_id in (MATCH_ID, "other") for seat in range(6)]

    assert len(set(keys)) == 12
    assert reward_key(MATCH_ID, 3) == reward_key(MATCH_ID, 3)
