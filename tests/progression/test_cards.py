"""Collection cards: when they drop, and that their draws can be checked (XP-5)."""

from pathlib import Path

import pytest

from libs.chassis.key_files import LostKeysError
from libs.chassis.sealing import Sealer, UnsealableError
from libs.kernel.ids import PlayerId
from libs.rules.collecting import card_commitment
from libs.rules.rewards import level_of
from libs.store.connections import Connections
from libs.wire.progress import check_progress
from services.progression.store import open_sealer
from tests.progression.played import Played, played
from tests.progression.rig import ANN, BEN, Rig
from tests.support.builders import CLASSIC_1, CLASSIC_2, SPEED_1

pytestmark = pytest.mark.postgres


def many(rule_set: str, number: int, people: list[PlayerId]) -> list[Played]:
    """Return matches that paid all who sat down, or who won by revision 1."""
    return [played(rule_set, 3, people, seeds=range(7 * n + 1, 60)) for n in range(number)]


async def test_every_third_level_drops_a_card_by_revision_2(rig: Rig) -> None:
    """XP-5."""
    for match in many(CLASSIC_2, 7, [ANN, BEN]):
        await rig.read(match.table)

    progress = await rig.progress(ANN)
    assert level_of(progress.experience) >= 3
    assert progress.card_count == level_of(progress.experience) // 3
    assert len(await rig.cards(ANN)) == progress.card_count


async def test_levels_drop_nothing_by_revision_1(rig: Rig) -> None:
    """XP-2, XP-5."""
    wins = [
        played(rule_set, 2, [ANN], lambda m: m.experience(0) == 200, seeds=range(first, 60))
        for rule_set in (CLASSIC_1, SPEED_1)
        for first in (1, 30)
    ]
    for match in wins:
        await rig.read(match.table)

    progress = await rig.progress(ANN)
    assert level_of(progress.experience) == 4
    assert progress.card_count == len(wins)


async def test_every_draw_can_be_checked_by_the_events_alone(rig: Rig) -> None:
    """XP-5, FAIR-1."""
    matches = [*many(CLASSIC_2, 7, [ANN, BEN]), *many(CLASSIC_1, 5, [ANN, BEN])]
    for match in matches:
        await rig.read(match.table)

    for player in (ANN, BEN):
        drawn = check_progress(await rig.events(player))
        assert drawn == (await rig.progress(player)).card_count >= 1


async def test_a_card_hangs_on_the_end_of_the_match_that_brought_it(rig: Rig) -> None:
    """FAIR-2."""
    match = played(CLASSIC_1, 2, [ANN], lambda m: m.experience(0) == 200)

    await rig.read(match.table)

    opened, _, dropped = await rig.events(ANN)
    assert dropped.card_dropped.chain_hash == match.table.chain.last_hash
    seed = dropped.card_dropped.seed
    assert opened.profile_opened.commitment == card_commitment(ANN, seed)


async def test_the_profile_shows_the_cards_of_each_reward(rig: Rig) -> None:
    match = played(CLASSIC_1, 2, [ANN], lambda m: m.experience(0) == 200)
    loss = played(CLASSIC_1, 2, [ANN], lambda m: m.experience(0) == 0, seeds=range(30, 60))

    for each in (match, loss):
        await rig.read(each.table)

    latest, first = (await rig.progress(ANN)).recent
    _, _, dropped, _ = await rig.events(ANN)
    [card] = first.cards
    assert latest.cards == ()
    assert (card.square, card.rarity) == (
        dropped.card_dropped.card.square,
        dropped.card_dropped.card.rarity,
    )
    assert card.match_id == match.match_id


class TestTheSeedOfTheNextCard:
    async def test_is_not_to_be_read_in_the_store(self, rig: Rig, connections: Connections) -> None:
        matches = many(CLASSIC_1, 3, [ANN, BEN])
        await rig.read(matches[0].table)
        kept = await connections.fetch("SELECT sealed_seed FROM progression.profile")
        for match in matches[1:]:
            await rig.read(match.table)

        events = [*await rig.events(ANN), *await rig.events(BEN)]
        seeds = [each.card_dropped.seed for each in events if each.HasField("card_dropped")]
        assert seeds
        assert not any(seed in row["sealed_seed"] for seed in seeds for row in kept)

    async def test_outlives_a_new_key(
        self, rig: Rig, connections: Connections, tmp_path: Path
    ) -> None:
        first, second = many(CLASSIC_2, 2, [ANN])
        await rig.read(first.table)
        (tmp_path / "keys" / "seal-0002.key").write_text("ab" * 32)
        newer = Rig(connections, Sealer.open(tmp_path / "keys"))

        await newer.read(second.table)

        row = await connections.fetchrow("SELECT key_id FROM progression.profile")
        assert row is not None
        assert row["key_id"] == "seal-0002"
        check_progress(await newer.events(ANN))

    async def test_keeps_the_service_from_starting_without_its_key(
        self, rig: Rig, connections: Connections, tmp_path: Path
    ) -> None:
        (first,) = many(CLASSIC_2, 1, [ANN, BEN])
        await rig.read(first.table)
        folder = tmp_path / "other keys"

        with pytest.raises(LostKeysError, match="the next cards of 2 people"):
            await open_sealer(folder, connections)

        assert not folder.exists()
        assert (await open_sealer(tmp_path / "keys", connections)).key_id == "seal-0001"

    async def test_is_not_made_up_anew_where_its_key_is_lost(
        self, rig: Rig, connections: Connections, tmp_path: Path
    ) -> None:
        first, second = many(CLASSIC_2, 2, [ANN])
        await rig.read(first.table)
        before = await rig.events(ANN)
        elsewhere = Rig(connections, Sealer.open(tmp_path / "other keys"))

        with pytest.raises(UnsealableError):
            await elsewhere.read(second.table)

        assert await rig.events(ANN) == before

    async def test_is_chosen_anew_openly_where_its_key_was_given_up(
        self, rig: Rig, connections: Connections, tmp_path: Path
    ) -> None:
        first, *others = many(CLASSIC_1, 5, [ANN, BEN])
        await rig.read(first.table)
        before = {player: await rig.events(player) for player in (ANN, BEN)}
        folder = tmp_path / "other keys"
        folder.mkdir()
        (folder / "seal-0001.lost").touch()
        later = Rig(connections, await open_sealer(folder, connections))

        for match in others:
            await later.read(match.table)

        drawn = 0
        for player, first_events in before.items():
            events = await later.events(player)
            renewed = [each.HasField("commitment_renewed") for each in events]
            assert events[: len(first_events)] == first_events
            assert [place for place, is_one in enumerate(renewed) if is_one] == [len(first_events)]
            cards = check_progress(events)
            assert cards == (await later.progress(player)).card_count
            drawn += cards - check_progress(first_events)
        assert drawn > 0
