"""Draws that a test has chosen, by the labels of FAIR-1; past its script they are the seed's.

Only an object can bring them into an engine (`services.match_engine.ground.Ground`), and only the
kit makes one. A match that was played so keeps every promise but that of fair chance: its export
does not verify.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple, Self, TypeVar

from libs.kernel.chance import FIRST, JACKPOT, NOT_ROLLED, ROLL, Draws, FairDraws
from libs.kernel.ids import MatchId
from libs.rules.rule_sets import RULE_SETS
from libs.scenarios.scenario import DIE, THIRD_DIE, Script
from services.testkit.errors import MisuseError

T = TypeVar("T")

_TWO: Final = 2

White = tuple[int, int]
"""The two white dice of a roll."""

Third = int | str
"""A third die: 1 to 3, "bus" or "x"."""


class _Drawn(NamedTuple):
    """A draw of the match: its label, and whether a third die was rolled with it."""

    label: str
    has_third: bool = False


class Dice:
    """What a match draws, each kind in the order in which it is drawn.

    A draw is known by its counter: whatever is decided twice, after a conflict or a restart, draws
    the same again, as it does from a seed.
    """

    def __init__(
        self,
        *,
        first: int | None = None,
        roll: Iterable[White] = (),
        third: Iterable[Third] = (),
        jackpot: Iterable[int] = (),
    ) -> None:
        """Script who plays *first*, the white dice of each *roll*, the *third* and *jackpot* dice.

        Raises:
            MisuseError: a die has no such face.

        """
        if first is not None and (type(first) is not int or first < 0):
            raise MisuseError(f"first is a seat, from 0, not {first!r}")
        self._first = first
        self._rolls: list[White] = []
        self._thirds: list[int] = []
        self._jackpots: list[int] = []
        self._drawn: dict[int, _Drawn] = {}
        self.then(roll=roll, third=third, jackpot=jackpot)

    @classmethod
    def of_script(cls, script: Script, first: int) -> Self:
        """Return the draws of a scenario file."""
        made = cls(first=first, roll=script.dice, jackpot=script.jackpot_die)
        made._thirds += script.third_die
        return made

    def then(
        self,
        *,
        roll: Iterable[White] = (),
        third: Iterable[Third] = (),
        jackpot: Iterable[int] = (),
    ) -> Self:
        """Script what comes after that, also while the match goes on; returns itself.

        Raises:
            MisuseError: a die has no such face; nothing is added.

        """
        rolls, thirds = [_white(each) for each in roll], list(third)
        jackpots = list(jackpot)
        if wrong := [die for die in jackpots if not _is_die(die)]:
            raise MisuseError(f"the jackpot die shows 1 to 6, not {wrong[0]!r}")
        if wrong_thirds := [die for die in thirds if die not in THIRD_DIE]:
            raise MisuseError(f'the third die shows 1, 2, 3, "bus" or "x", not {wrong_thirds[0]!r}')
        self._rolls += rolls
        self._thirds += [THIRD_DIE[die] for die in thirds]
        self._jackpots += jackpots
        return self

    @property
    def left(self) -> int:
        """How many draws of the script were not made yet, whoever plays first apart."""
        scripted = len(self._rolls) + len(self._thirds) + len(self._jackpots)
        made = (
            min(len(self._rolls), self._count(ROLL)),
            min(len(self._thirds), self._count_thirds()),
            min(len(self._jackpots), self._count(JACKPOT)),
        )
        return scripted - sum(made)

    def check(self, rule_set: str, seats: int) -> None:
        """Go on if a match can draw so.

        Raises:
            MisuseError: it has no such seat, or no such die.

        """
        rules = RULE_SETS[rule_set]
        if self._first is not None and self._first >= seats:
            raise MisuseError(f"seat {self._first} cannot be first of {seats} seats")
        if self._thirds and not rules.third_die_round:
            raise MisuseError(f"{rule_set} rolls no third die")
        if self._jackpots and not rules.jackpot:
            raise MisuseError(f"{rule_set} has no jackpot die")

    # For draws.

    def first(self, counter: int) -> int | None:
        """Return who plays first; None for the seed's choice."""
        self._note(counter, _Drawn(FIRST))
        return self._first

    def roll(self, counter: int, *, third: bool) -> tuple[White | None, int | None]:
        """Return the dice of the roll at *counter*; None for the seed's."""
        self._note(counter, _Drawn(ROLL, third))
        white = _at(self._rolls, self._count(ROLL) - 1)
        return white, _at(self._thirds, self._count_thirds() - 1) if third else None

    def jackpot(self, counter: int) -> int | None:
        """Return the jackpot die at *counter*; None for the seed's."""
        self._note(counter, _Drawn(JACKPOT))
        return _at(self._jackpots, self._count(JACKPOT) - 1)

    def _note(self, counter: int, drawn: _Drawn) -> None:
        """Take note of a draw, the last one: what was known beyond never became of the match."""
        self._drawn = {at: known for at, known in self._drawn.items() if at < counter}
        self._drawn[counter] = drawn

    def _count(self, label: str) -> int:
        return sum(drawn.label == label for drawn in self._drawn.values())

    def _count_thirds(self) -> int:
        return sum(drawn.has_third for drawn in self._drawn.values())


class ScriptedDraws:
    """The draws of a match that has a script (see `libs.kernel.chance.Draws`)."""

    def __init__(self, dice: Dice, fair: Draws) -> None:
        """Draw what *dice* say, and past that what is *fair*."""
        self._dice = dice
        self._fair = fair

    def bind(self, client_seeds: Sequence[bytes | None]) -> None:
        """Fix the key of what is fair. See `Draws.bind`."""
        self._fair.bind(client_seeds)

    def first(self, counter: int, seats: int) -> tuple[int, int]:
        """Name the seat that plays first. See `Draws.first`."""
        fair, blocks = self._fair.first(counter, seats)
        chosen = self._dice.first(counter)
        return fair if chosen is None else chosen, blocks

    def roll(self, counter: int, third: bool) -> tuple[int, int, int, int]:  # noqa: FBT001 - the protocol's
        """Roll the dice of one move. See `Draws.roll`."""
        white_1, white_2, fair_third, blocks = self._fair.roll(counter, third)
        white, chosen = self._dice.roll(counter, third=third)
        face = fair_third if chosen is None else chosen
        return *(white or (white_1, white_2)), face if third else NOT_ROLLED, blocks

    def jackpot(self, counter: int) -> tuple[int, int]:
        """Roll the jackpot die. See `Draws.jackpot`."""
        fair, blocks = self._fair.jackpot(counter)
        chosen = self._dice.jackpot(counter)
        return fair if chosen is None else chosen, blocks

    def reveal(self) -> bytes:
        """Return the seed. See `Draws.reveal`."""
        return self._fair.reveal()


class DiceBook:
    """Which matches of a stack have a script. The draws of its engine come from here."""

    def __init__(self) -> None:
        self._scripts: dict[MatchId, Dice] = {}

    def write(self, match_id: MatchId, dice: Dice) -> None:
        """Give a match its script, before it is made."""
        self._scripts[match_id] = dice

    def draws_of(self, match_id: MatchId, seed: bytes) -> Draws:
        """Return the chance of a match. See `services.match_engine.ground.DrawsOf`."""
        fair = FairDraws(match_id, seed)
        dice = self._scripts.get(match_id)
        return fair if dice is None else ScriptedDraws(dice, fair)


def _at(script: Sequence[T], place: int) -> T | None:
    return script[place] if place < len(script) else None


def _is_die(value: object) -> bool:
    return type(value) is int and value in DIE


def _white(roll: Any) -> White:
    if not isinstance(roll, tuple | list) or len(roll) != _TWO:
        raise MisuseError(f"a roll is two white dice, such as (3, 4), not {roll!r}")
    if wrong := [die for die in roll if not _is_die(die)]:
        raise MisuseError(f"a die shows 1 to 6, not {wrong[0]!r}")
    return roll[0], roll[1]
