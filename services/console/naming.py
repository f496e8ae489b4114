"""What squares and seats are called in all output."""

from collections.abc import Sequence

from libs.rules.board import Board


def label(board: Board, square: int) -> str:
    """Return a short name, such as ``light_blue 2``, ``chance`` or ``corner 20``.

    That corner is parking in one rule set and the jackpot in another, so it goes by its number.
    """
    if board.kind[square] == "corner20":
        return f"corner {square}"
    return board.label(square)


def spoken(board: Board, square: int) -> str:
    """Return the short name as a sentence has it, such as ``light blue 2``."""
    return label(board, square).replace("_", " ")


def name_seats(seats: Sequence[int]) -> str:
    """Return seats as a sentence has them: ``seat 1``, ``seats 0 and 2``, ``seats 0, 2 and 4``."""
    return f"{'seat' if len(seats) == 1 else 'seats'} {enumerate_words(list(map(str, seats)))}"


def enumerate_words(words: Sequence[str]) -> str:
    """Return words as one list: ``a``, ``a and b``, ``a, b and c``."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last
