"""The draws of collection cards, which anyone can check like those of a match (XP-5, FAIR-1).

For each player there is a secret seed, which was committed to before the match whose end decides
the card had one. Neither side alone can choose the card: the seed was fixed before, and the end of
the match is known to nobody until then. Drawing reveals the seed, and the next one is committed to.
"""

from hashlib import sha256
from hmac import digest as hmac_digest
from typing import Final, NamedTuple

from libs.kernel.chance import SEED_SIZE, BlockReader
from libs.rules.board import Board
from libs.rules.rewards import CardDrop, drop_card

CARD: Final = "card"
"""The label of these draws. Each begins at counter 0, since it has a key of its own."""

_KEY: Final = b"opolyx/card/1"
_COMMITMENT: Final = b"opolyx/card/1/commit"


class DrawnCard(NamedTuple):
    """A card, and how many blocks its draw took."""

    drop: CardDrop
    blocks: int


def card_commitment(player_id: str, seed: bytes) -> bytes:
    """Return what is published of a seed before its card is drawn: it binds and tells nothing."""
    return sha256(_COMMITMENT + player_id.encode() + seed).digest()


def draw_card(player_id: str, seed: bytes, chain_hash: bytes, board: Board) -> DrawnCard:
    """Draw the card that a seed gives a player at the end of a match, by the hash of its chain."""
    assert len(seed) == SEED_SIZE, len(seed)
    key = hmac_digest(seed, _KEY + player_id.encode() + chain_hash, "sha256")

    def block(counter: int) -> bytes:
        return hmac_digest(key, CARD.encode() + b"\0" + counter.to_bytes(8, "big"), "sha256")

    reader = BlockReader(block, 0)
    return DrawnCard(drop_card(reader, board), reader.blocks)
