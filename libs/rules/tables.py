"""The table before a match, and whom a match binds (SETUP-1, SETUP-2, SETUP-4).

Pure: whoever keeps rooms asks here what may be done and does it. A table is its seats in order,
None where nobody sits.
"""

from collections.abc import Sequence
from typing import Final

from libs.kernel.reasons import Reason
from libs.rules import events as e
from libs.rules.refusals import Refusal
from libs.rules.rule_sets import RuleSet

Table = Sequence[e.SeatSpec | None]
"""The seats of a waiting room, by number."""

SEATS_LEAST: Final = 2
"""Filled seats that a match needs (SETUP-1)."""


def new_table(rules: RuleSet, seats: int) -> Table | Refusal:
    """Return an empty table of *seats*, a number that stays as it is for the room's whole life."""
    if seats not in rules.seats:
        return Refusal(Reason.INVALID_REQUEST, "SETUP-1", {"seats": seats, "allowed": rules.seats})
    return (None,) * seats


def take_seat(table: Table, seat: int, spec: e.SeatSpec) -> Table | Refusal:
    """Seat somebody on an empty chair; who sat elsewhere at the table gets up for it (SETUP-1)."""
    if not 0 <= seat < len(table):
        return Refusal(Reason.INVALID_REQUEST, "SETUP-1", {"seats": len(table)})
    if table[seat] is not None:
        return Refusal(Reason.SEAT_TAKEN, "SETUP-1", {"seat": seat})
    moved = [None if _is_same_person(taken, spec) else taken for taken in table]
    moved[seat] = spec
    return tuple(moved)


def next_creator(table: Table, creator: str) -> str | None:
    """Return who is creator when *creator* leaves: the next person in seat order (SETUP-2).

    None where nobody is left, and the room closes.
    """
    seat = next((n for n, spec in enumerate(table) if _is_player(spec, creator)), -1)
    around = (*table[seat + 1 :], *table[: max(seat, 0)])
    return next((spec.player for spec in around if spec and spec.kind == e.PERSON), None)


def seats_at_start(
    rules: RuleSet, table: Table, creator: str, starter: str, *, by_operator: bool = False
) -> tuple[e.SeatSpec, ...] | Refusal:
    """Return who plays, numbered anew without the empty seats, or why *starter* cannot start.

    Bots play alone only where an operator makes the table (SETUP-2); the rest is SETUP-1.
    """
    filled = tuple(spec for spec in table if spec is not None)
    has_people = any(spec.kind == e.PERSON for spec in filled)
    if not by_operator and not has_people:
        return Refusal(Reason.NOT_ALLOWED, "SETUP-2")
    if not by_operator and starter != creator:
        return Refusal(Reason.NOT_CREATOR, "SETUP-1")
    if len(filled) < SEATS_LEAST:
        facts = {"filled": len(filled), "needed": SEATS_LEAST}
        return Refusal(Reason.TOO_FEW_SEATS, "SETUP-1", facts)
    if rules.teams and len(filled) < len(table):
        facts = {"filled": len(filled), "needed": len(table)}
        return Refusal(Reason.TEAMS_UNEVEN, "SETUP-1", facts)
    return filled


def _is_player(spec: e.SeatSpec | None, player: str) -> bool:
    return spec is not None and spec.kind == e.PERSON and spec.player == player


def _is_same_person(taken: e.SeatSpec | None, spec: e.SeatSpec) -> bool:
    return spec.kind == e.PERSON and _is_player(taken, spec.player)
