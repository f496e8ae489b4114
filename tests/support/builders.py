"""Matches for tests: started, and put into the very situation that a test is about.

The functions here change a match directly, which nothing that plays may do, and have all that the
rules count beside the facts counted anew.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules.board import JAIL
from libs.rules.decide import play
from libs.rules.match import ATTRIBUTES, Match
from libs.rules.refusals import Refusal
from libs.rules.snapshot import recount

START_MS: Final = 1_000_000
MATCH_ID: Final = "01920000-0000-7000-8000-000000000000"
PLAYER_IDS: Final = tuple(f"01920000-0000-7000-8000-00000000000{n}" for n in range(1, 7))
COMMITMENT: Final = bytes(range(32))
SEED: Final = bytes(range(32, 64))

CLASSIC_1: Final = "opolyx.classic@1"
SPEED_1: Final = "opolyx.speed@1"
CLASSIC_2: Final = "opolyx.classic@2"
SPEED_2: Final = "opolyx.speed@2"
TEAMS_2: Final = "opolyx.teams@2"
RULE_SETS: Final = (CLASSIC_1, SPEED_1, CLASSIC_2, SPEED_2, TEAMS_2)
REVISION_1: Final = (CLASSIC_1, SPEED_1)
REVISION_2: Final = (CLASSIC_2, SPEED_2, TEAMS_2)

BUS: Final = e.BUS
X: Final = e.X


class ScriptedDraws:
    """Hands out listed dice in place of chance; running out of them fails the test.

    It is held to nothing: each draw takes one block, whatever its counter, so that counters in
    events are easy to foretell.
    """

    def __init__(self) -> None:
        self.first_seat = 0
        self.dice: list[tuple[int, ...]] = []
        self.jackpot_dice: list[int] = []
        self.bound: tuple[bytes | None, ...] | None = None

    def bind(self, client_seeds: Sequence[bytes | None]) -> None:
        self.bound = tuple(client_seeds)

    def first(self, counter: int, seats: int) -> tuple[int, int]:  # noqa: ARG002 - `Draws`
        assert self.first_seat < seats
        return self.first_seat, 1

    def roll(
        self,
        counter: int,  # noqa: ARG002 - `Draws`
        third: bool,  # noqa: FBT001 - `Draws`
    ) -> tuple[int, int, int, int]:
        assert self.dice, "no more dice were scripted"
        faces = self.dice.pop(0)
        assert len(faces) == (3 if third else 2), f"third die: {third}, scripted: {faces}"
        return faces[0], faces[1], faces[2] if third else 0, 1

    def jackpot(self, counter: int) -> tuple[int, int]:  # noqa: ARG002 - `Draws`
        assert self.jackpot_dice, "no more jackpot dice were scripted"
        return self.jackpot_dice.pop(0), 1

    def reveal(self) -> bytes:
        return SEED


def bots(seats: int) -> tuple[e.SeatSpec, ...]:
    """Return so many bots, who let a match start at once."""
    return tuple(e.SeatSpec(e.BOT, "", "plain") for _ in range(seats))


def people(seats: int) -> tuple[e.SeatSpec, ...]:
    """Return so many people, whose seeds a match waits for."""
    return tuple(e.SeatSpec(e.PERSON, player) for player in PLAYER_IDS[:seats])


def created(
    rule_set: str, specs: tuple[e.SeatSpec, ...], draws: ScriptedDraws | None = None
) -> Match:
    """Return a match as it is right after its creation at `START_MS`."""
    match = Match()
    command = c.CreateMatch(MATCH_ID, rule_set, specs, COMMITMENT)
    decision = play(match, command, draws or ScriptedDraws(), START_MS)
    assert not isinstance(decision, Refusal), decision
    return match


def set_turn(match: Match, seat: int) -> None:
    """Let *seat* open the round, its roll pending."""
    match.turn = seat
    assert match.deadline is not None
    match.deadline = replace(match.deadline, seat=seat, scope=seat)
    match.had_turn = [other == seat for other in range(len(match.had_turn))]


def own(match: Match, seat: int, *squares: int) -> None:
    """Give unowned property to *seat*."""
    for square in squares:
        assert match.board.is_property(square), square
        assert match.owner[square] == e.NOBODY, square
        match.owner[square] = seat
    recount(match)


def build(match: Match, levels: Mapping[int, int]) -> None:
    """Put levels onto owned streets, by square."""
    for square, level in levels.items():
        match.level[square] = level
    recount(match)


def mortgage(match: Match, squares: Iterable[int], in_round: int) -> None:
    """Have owned property mortgaged in a round."""
    for square in squares:
        match.mortgaged_round[square] = in_round
    recount(match)


def jail(match: Match, seat: int, attempts: int = 0) -> None:
    """Put *seat* into jail, with so many failed rolls."""
    match.square[seat] = JAIL
    match.in_jail[seat] = True
    match.jail_attempts[seat] = attempts


def put_out(match: Match, *seats: int) -> None:
    """Have *seats* gone out before, in this order."""
    for seat in seats:
        match.out[seat] = True
        match.out_order.append(seat)
        match.cash[seat] = 0
    recount(match)


def everything(match: Match) -> dict[str, Any]:
    """Return all that a match knows, what it only counts included, as it is now."""
    frozen = match.copy()
    return {name: getattr(frozen, name) for name in ATTRIBUTES}


def reason_of(refusal: Refusal | list[e.Event]) -> Reason:
    """Return why a decision was no."""
    assert isinstance(refusal, Refusal), refusal
    return refusal.reason
