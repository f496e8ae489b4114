"""What finished matches bring to the people who played them (XP-1 to XP-4)."""

import pytest

from libs.kernel.ids import SeededIds
from libs.rules import commands as c
from libs.rules.rewards import level_of
from libs.rules.rule_sets import UnknownRuleSetError
from tests.progression.played import LATE, Played, aborted, played
from tests.progression.rig import ANN, BEN, EVE, NOW_MS, Rig
from tests.support.builders import CLASSIC_1, CLASSIC_2, RULE_SETS, TEAMS_2
from tests.support.matches import Table, play_match

pytestmark = pytest.mark.postgres


@pytest.mark.parametrize("rule_set", RULE_SETS)
@pytest.mark.parametrize("seats", [4, 6])
async def test_every_person_earns_what_the_rules_say(rig: Rig, rule_set: str, seats: int) -> None:
    """XP-2, XP-3."""
    match = played(rule_set, seats, [ANN, BEN, EVE])

    await rig.read(match.table)

    for seat, player in enumerate([ANN, BEN, EVE]):
        progress = await rig.progress(player)
        [reward] = progress.recent
        assert (reward.match_id, reward.seat) == (match.match_id, seat)
        assert reward.experience == progress.experience == match.experience(seat)
        assert reward.granted_ms == NOW_MS


async def test_nobody_but_people_earns(rig: Rig) -> None:
    """XP-1."""
    match = played(CLASSIC_2, 4, [ANN])

    await rig.read(match.table)

    assert await rig.count("reward") == 1
    assert await rig.count("profile") == 1


async def test_a_match_of_bots_alone_leaves_nothing_behind(rig: Rig) -> None:
    """XP-1."""
    match = played(CLASSIC_2, 4, [])

    await rig.read(match.table)

    assert [await rig.count(table) for table in ("reward", "profile", "open_match")] == [0, 0, 0]


@pytest.mark.parametrize("rule_set", [CLASSIC_1, CLASSIC_2])
async def test_an_early_end_pays_nothing_and_is_listed_all_the_same(
    rig: Rig, rule_set: str
) -> None:
    """XP-1."""
    match = played(rule_set, 2, [ANN, BEN], lambda match: match.end.round < LATE)

    await rig.read(match.table)

    for player in (ANN, BEN):
        progress = await rig.progress(player)
        assert (progress.sequence, progress.experience, progress.card_count) == (2, 0, 0)
        assert [(each.experience, each.cards) for each in progress.recent] == [(0, ())]


@pytest.mark.parametrize("rule_set", [CLASSIC_1, CLASSIC_2, TEAMS_2])
async def test_an_aborted_match_pays_nothing_and_nobody_finished_it(
    rig: Rig, rule_set: str
) -> None:
    match = aborted(rule_set, [ANN, BEN])

    await rig.read(match.table)

    assert (await rig.progress(ANN)).sequence == 0
    assert [await rig.count(table) for table in ("reward", "profile", "open_match")] == [0, 0, 0]


async def test_who_surrendered_in_time_is_not_paid_for_being_alive(rig: Rig) -> None:
    """XP-3."""
    table = play_match(CLASSIC_2, 4, 5, 300, [ANN, BEN])
    assert table.match.round >= LATE
    assert table.act(c.Surrender(0))
    for seat in (1, 2):
        table.act(c.Surrender(seat))
    match = Played(table)

    await rig.read(table)

    assert match.end.winners == (3,)
    [ann, ben] = [await rig.progress(player) for player in (ANN, BEN)]
    assert (ann.experience, ben.experience) == (60, 80)


async def test_the_winner_alone_is_paid_by_revision_1(rig: Rig) -> None:
    """XP-2."""
    match = played(CLASSIC_1, 2, [ANN, BEN], lambda match: match.end.round >= LATE)
    winner, loser = (ANN, BEN) if match.end.winners == (0,) else (BEN, ANN)

    await rig.read(match.table)

    won, lost = await rig.progress(winner), await rig.progress(loser)
    assert (won.experience, won.card_count) == (200, 1)
    assert (lost.experience, lost.card_count) == (0, 0)


async def test_experience_adds_up_over_matches(rig: Rig) -> None:
    """XP-4."""
    matches = [played(CLASSIC_2, 3, [ANN, BEN], seeds=range(n, 60)) for n in (1, 20, 40)]

    for match in matches:
        await rig.read(match.table)

    progress = await rig.progress(ANN)
    assert progress.experience == sum(match.experience(0) for match in matches)
    told = (each for each in await rig.events(ANN) if each.HasField("match_rewarded"))
    *_, last = (each.match_rewarded for each in told)
    assert last.total_experience == progress.experience
    assert last.level == level_of(progress.experience)


async def test_the_last_twenty_rewards_are_shown_the_latest_first(rig: Rig) -> None:
    ids = SeededIds(b"surrendered")
    matches = []
    for seed in range(1, 23):
        table = Table(CLASSIC_2, 2, seed, [ids.player_id(seed), ANN])
        assert table.act(c.ContributeSeed(0, b""))
        assert table.act(c.ContributeSeed(1, b""))
        assert table.act(c.Surrender(0))
        await rig.read(table)
        matches.append(table.chain.match_id)

    progress = await rig.progress(ANN)

    assert [each.match_id for each in progress.recent] == matches[:1:-1]


async def test_nothing_but_the_position_is_kept_of_a_match_that_is_over(rig: Rig) -> None:
    match = played(CLASSIC_2, 3, [ANN])
    await rig.give(match.records[:-1], match.match_id)
    while_it_went_on = await rig.count("open_match")

    await rig.read(match.table)

    position = await rig.store.position(match.match_id)
    assert (while_it_went_on, await rig.count("open_match")) == (1, 0)
    assert position.last_seq == match.table.chain.last_seq
    assert position.last_hash == match.table.chain.last_hash


async def test_rules_of_a_newer_release_stop_the_reader_and_pay_nothing_wrong(rig: Rig) -> None:
    match = played(CLASSIC_2, 3, [ANN])
    await rig.give(match.records[:-1], match.match_id)
    await rig.connections.fetch("UPDATE progression.open_match SET rule_set = 'opolyx.classic@9'")

    with pytest.raises(UnknownRuleSetError):
        await rig.give(match.records[-1:], match.match_id)

    assert await rig.count("reward") == 0
