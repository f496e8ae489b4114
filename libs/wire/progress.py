"""Checks what progression says of a player: sums, levels, and every draw of a card (XP-4 to XP-6).

All that is needed are the events of the player, from the first on; anybody has them by the event
log. That the matches ended as the events say is to be checked by the matches' own records.
"""

from collections.abc import Iterable
from typing import Final

from google.protobuf.message import DecodeError

from libs.rules.board import Board
from libs.rules.boards.classic import CLASSIC
from libs.rules.collecting import CARD, card_commitment, draw_card
from libs.rules.rewards import level_of, rank_of, reward_key
from libs.wire.events import UnreadableError
from libs.wire.writers import card_messages
from opolyx.progression.v1 import progression_event_pb2 as pb
from opolyx.record.v1 import event_pb2 as record_pb

_SEED_SIZE: Final = 32


class BrokenProgressError(Exception):
    """The events of a player do not go together; the text says which one, and why."""


def read_progress(data: bytes) -> pb.ProgressionEvent:
    """Read one event.

    Raises:
        UnreadableError: these bytes are none.

    """
    try:
        return pb.ProgressionEvent.FromString(data)
    except DecodeError as error:
        raise UnreadableError("these bytes are no event of progress") from error


def check_progress(events: Iterable[pb.ProgressionEvent], board: Board = CLASSIC) -> int:
    """Check all events of one player, in order; returns how many cards were drawn.

    Raises:
        BrokenProgressError: a number is missing, a sum is wrong, a match was rewarded twice, or a
            card is not the one that the seed gives, to which the service was bound before.

    """
    checking = _Checking(board)
    for event in events:
        checking.take(event)
    checking.finish()
    return checking.cards


class _Checking:
    """The events so far."""

    def __init__(self, board: Board) -> None:
        self.cards = 0
        self._board = board
        self._player_id = ""
        self._sequence = 0
        self._experience = 0
        self._commitment = b""
        self._rewarded: set[str] = set()
        self._match_id = ""
        self._cards_due = 0

    def take(self, event: pb.ProgressionEvent) -> None:
        self._sequence += 1
        self._player_id = self._player_id or event.player_id
        self._require(event.sequence == self._sequence, "is out of order")
        self._require(event.player_id == self._player_id, "is somebody else's")
        match event.WhichOneof("event"):
            case "profile_opened":
                self._require(self._sequence == 1, "opens the profile again")
                self._commitment = event.profile_opened.commitment
            case "match_rewarded":
                self._reward(event.match_rewarded)
            case "card_dropped":
                self._drop(event.card_dropped)
            case "commitment_renewed":
                self._require(self._sequence > 1, "is there before the profile was opened")
                self._require(not self._cards_due, "is there where a card is missing")
                self._commitment = event.commitment_renewed.commitment
            case None:
                self._require(False, "is not known here")  # noqa: FBT003 - reads as an assertion

    def finish(self) -> None:
        self._require(not self._cards_due, "is the last, and a card is missing")

    def _reward(self, rewarded: pb.MatchRewarded) -> None:
        key = reward_key(rewarded.match_id, rewarded.seat)
        self._require(self._sequence > 1, "is there before the profile was opened")
        self._require(not self._cards_due, "is there where a card is missing")
        self._require(key not in self._rewarded, "rewards a seat again (XP-6)")
        self._require(rewarded.experience >= 0, "takes experience away")
        self._rewarded.add(key)
        self._experience += rewarded.experience
        self._require(rewarded.total_experience == self._experience, "has a wrong sum")
        level = level_of(self._experience)
        told = (rewarded.level, rewarded.rank)
        self._require(told == (level, rank_of(level)), "has a wrong level (XP-4)")
        self._match_id, self._cards_due = rewarded.match_id, rewarded.card_count

    def _drop(self, dropped: pb.CardDropped) -> None:
        self._require(self._cards_due > 0, "drops a card that was not earned")
        self._require(dropped.match_id == self._match_id, "drops a card for another match")
        self._require(len(dropped.seed) == _SEED_SIZE, "has no seed")
        bound_to = card_commitment(self._player_id, dropped.seed)
        self._require(bound_to == self._commitment, "has another seed than was committed to")
        drawn = draw_card(self._player_id, dropped.seed, dropped.chain_hash, self._board)
        (card,) = card_messages([drawn.drop])
        draw = record_pb.Draw(label=CARD, blocks=drawn.blocks if drawn.blocks > 1 else 0)
        self._require((dropped.card, dropped.draw) == (card, draw), "has another card than drawn")
        self._commitment = dropped.next_commitment
        self._cards_due -= 1
        self.cards += 1

    def _require(self, holds: bool, what: str) -> None:  # noqa: FBT001 - reads as an assertion
        if not holds:
            raise BrokenProgressError(f"event {self._sequence} {what}")
