"""How collection cards are drawn, so that anyone can check it (XP-5, FAIR-1, FAIR-2)."""

import hashlib
import hmac
from collections import Counter

from libs.rules.boards.classic import CLASSIC
from libs.rules.collecting import card_commitment, draw_card
from libs.rules.rewards import RARITY_PERCENT
from tests.support.builders import PLAYER_IDS

PLAYER = PLAYER_IDS[0]
SEED = bytes(range(32))
END = bytes(range(32, 64))


def hashed(number: int) -> bytes:
    return hashlib.sha256(number.to_bytes(4, "big")).digest()


def test_the_commitment_is_the_hash_of_label_player_and_seed() -> None:
    """FAIR-1."""
    expected = hashlib.sha256(b"opolyx/card/1/commit" + PLAYER.encode("ascii") + SEED).digest()

    assert card_commitment(PLAYER, SEED) == expected


def test_a_draw_is_what_the_documented_bytes_give() -> None:
    """XP-5, FAIR-1: counted again from the definition."""
    for number in range(200):
        end = hashed(number)
        text = b"opolyx/card/1" + PLAYER.encode("ascii") + end
        key = hmac.new(SEED, text, "sha256").digest()
        block = hmac.new(key, b"card\0" + bytes(8), "sha256").digest()
        square, rarity = (int.from_bytes(block[n : n + 8], "big") for n in (0, 8))
        bounds = (("common", 60), ("uncommon", 85), ("rare", 95), ("epic", 99), ("legendary", 100))
        expected = next(name for name, bound in bounds if rarity % 100 < bound)

        drawn = draw_card(PLAYER, SEED, end, CLASSIC)

        assert drawn.drop == (CLASSIC.properties[square % 28], expected)
        assert drawn.blocks == 1


def test_a_draw_hangs_on_the_player_the_seed_and_the_end() -> None:
    """FAIR-2."""
    others = (
        draw_card(PLAYER_IDS[1], SEED, END, CLASSIC),
        draw_card(PLAYER, END, END, CLASSIC),
        draw_card(PLAYER, SEED, SEED, CLASSIC),
    )

    assert len({draw_card(PLAYER, SEED, END, CLASSIC), *others}) == 4
    assert len({card_commitment(player, SEED) for player in PLAYER_IDS}) == len(PLAYER_IDS)


def test_cards_are_as_rare_as_they_should_be() -> None:
    """XP-5."""
    number = 20_000
    drawn = [draw_card(PLAYER, SEED, hashed(n), CLASSIC).drop for n in range(number)]
    rarities = Counter(drop.rarity for drop in drawn)
    squares = Counter(drop.square for drop in drawn)

    assert set(squares) == set(CLASSIC.properties)
    assert all(abs(count - number / 28) < 130 for count in squares.values())
    for rarity, percent in RARITY_PERCENT:
        assert abs(rarities[rarity] - number * percent / 100) < 250
