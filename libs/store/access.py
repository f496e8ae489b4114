"""What the store knows of a match beside its record: who sits there, and who else may see it."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class Watching(StrEnum):
    """Who may see a match, beside those who sit in it."""

    EVERYBODY = "everybody"
    INVITED = "invited"
    SEATS = "seats"


@dataclass(frozen=True, slots=True)
class Access:
    """Who may see a match; *guests* are the player ids of the invited, who count if INVITED."""

    watching: Watching = Watching.EVERYBODY
    guests: frozenset[str] = frozenset()

    def lets_in(self, player_id: str, players: Iterable[str]) -> bool:
        """Tell whether somebody may see a match in which *players* sit; nobody has an empty id."""
        if self.watching is Watching.EVERYBODY:
            return True
        is_guest = self.watching is Watching.INVITED and player_id in self.guests
        return bool(player_id) and (is_guest or player_id in players)

    def with_guest(self, player_id: str) -> "Access":
        """Return the same with one more guest."""
        return Access(self.watching, self.guests | {player_id})


PUBLIC = Access()
"""What a match has of which nothing else is known: those from before there were others."""


class Label(NamedTuple):
    """By what a match is found. Only its guests ever change.

    Attributes:
        rule_set: the rules that it pins; empty where that is not known yet.
        players: the player ids of the people who sit in it.
        access: who else may see it.

    """

    rule_set: str
    players: tuple[str, ...]
    access: Access = PUBLIC
