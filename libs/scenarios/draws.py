"""Draws that come from a script instead of a seed."""

from collections.abc import Sequence
from typing import Final, TypeVar

from libs.kernel.chance import NOT_ROLLED, SEED_SIZE
from libs.scenarios.scenario import Script

Drawn = TypeVar("Drawn")

SEED: Final = bytes(SEED_SIZE)
"""The seed that a scenario's match reveals: nothing was drawn from it."""


class OutOfDrawsError(LookupError):
    """A step draws more than the script holds; *kind* is the list that is empty."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


class ScriptedDraws:
    """The draws of a scenario, each kind taken in its order (see `libs.kernel.chance.Draws`).

    Unlike a match's own chance it remembers what was taken: a decision must be made once.
    """

    def __init__(self, script: Script, first_seat: int) -> None:
        self._dice = list(script.dice)
        self._third_die = list(script.third_die)
        self._jackpot_die = list(script.jackpot_die)
        self._first_seat = first_seat

    @property
    def left(self) -> Script:
        """What was not drawn."""
        return Script(
            dice=tuple(self._dice),
            third_die=tuple(self._third_die),
            jackpot_die=tuple(self._jackpot_die),
        )

    def bind(self, client_seeds: Sequence[bytes | None]) -> None:
        """Do nothing: a script depends on no seed."""

    def first(self, counter: int, seats: int) -> tuple[int, int]:
        """Name the seat whose turn the set-up says it is."""
        assert counter == 0
        assert self._first_seat < seats
        return self._first_seat, 1

    def roll(self, counter: int, third: bool) -> tuple[int, int, int, int]:  # noqa: ARG002, FBT001 - the protocol's
        """Take the next dice, and the next third die if one is rolled."""
        white, other = _take(self._dice, "dice")
        face = _take(self._third_die, "third_die") if third else NOT_ROLLED
        return white, other, face, 1

    def jackpot(self, counter: int) -> tuple[int, int]:  # noqa: ARG002 - the protocol's
        """Take the next jackpot die."""
        return _take(self._jackpot_die, "jackpot_die"), 1

    def reveal(self) -> bytes:
        """Return the seed that stands for none."""
        return SEED


def _take(draws: list[Drawn], kind: str) -> Drawn:
    if not draws:
        raise OutOfDrawsError(kind)
    return draws.pop(0)
