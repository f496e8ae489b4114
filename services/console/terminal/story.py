"""What has happened in a match, as it is told: sentences with names, each of one event."""

from collections import deque
from typing import Final, NamedTuple

from libs.rules import events as e
from libs.rules.match import Match
from libs.wire.record import Record
from services.console.narrating import narrate
from services.console.terminal.people import People

SENTENCES_MOST: Final = 2000
"""So much of a match is remembered: the last of it."""


class Told(NamedTuple):
    """A sentence, and the sequence of the event that it tells."""

    sequence: int
    sentence: str


class Story:
    """The story of a match, its end at least.

    Attributes:
        seed: the secret seed, once it was revealed; empty before.

    """

    def __init__(self, people: People) -> None:
        self.seed = b""
        self._people = people
        self._told: deque[Told] = deque(maxlen=SENTENCES_MOST)

    def take(self, record: Record, match: Match) -> list[Told]:
        """Add a record of *match*; returns what is told about it."""
        told = []
        for sequence, event in enumerate(record.events, start=record.first_seq):
            if isinstance(event, e.SeedRevealed):
                self.seed = event.seed
            sentence = narrate(event, match.board)
            if sentence is not None:
                told.append(Told(sequence, self._people.told(sentence)))
        self._told.extend(told)
        return told

    def last(self, count: int) -> list[Told]:
        """Return the last *count* sentences, the latest last."""
        return list(self._told)[-count:] if count else []
