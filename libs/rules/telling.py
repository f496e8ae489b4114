"""The words that explanations share: seats, squares, amounts, shares and durations in English."""

from collections.abc import Iterable
from typing import Final

from libs.rules import events as e
from libs.rules.match import Match
from libs.rules.state import MS_PER_S

Clause = tuple[str, str]
"""The id of a rule, and what it did here."""

Clauses = list[Clause]
"""What one event rests on, the first rule first."""

BP_PER_PERCENT: Final = 100


def seat_name(seat: int) -> str:
    """Return what a seat, or the bank, is called."""
    return "the bank" if seat == e.BANK else f"seat {seat}"


def square_name(match: Match, square: int) -> str:
    """Return a square's number and what it is, such as ``square 8 (light_blue 2)``."""
    return f"square {square} ({match.board.label(square)})"


def money(amount: int) -> str:
    """Return an amount in whole units, such as ``15,000``."""
    return f"{amount:,}"


def percent(basis_points: int) -> str:
    """Return basis points as a percentage, such as ``99 %`` or ``50.49 %``."""
    whole, rest = divmod(basis_points, BP_PER_PERCENT)
    return f"{whole}.{rest:02} %" if rest else f"{whole} %"


def seconds(duration_ms: int) -> str:
    """Return milliseconds as seconds, such as ``75 s`` or ``9.5 s``."""
    return f"{duration_ms / MS_PER_S:g} s"


def listed(words: Iterable[str]) -> str:
    """Join words by commas; ``nothing`` where there are none."""
    return ", ".join(words) or "nothing"


def plural(count: int, word: str) -> str:
    """Return a count with its word, such as ``1 level`` or ``3 levels``."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def shares_named(shares: tuple[e.Share, ...]) -> str:
    """Return who gets how much, such as ``20 to seat 0, 5 to the bank``."""
    return listed(f"{money(amount)} to {seat_name(seat)}" for seat, amount in shares)


def blocks_named(counter: int, blocks: int) -> str:
    """Return which blocks of the match's chance a draw took, such as ``drawn from block 12``."""
    if blocks == 1:
        return f"drawn from block {counter}"
    return f"drawn from blocks {counter} to {counter + blocks - 1}"
