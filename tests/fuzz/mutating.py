"""Bytes that once were a request, and no longer are what they were."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tests.support.walks import Dice

CHANGES_MAX: Final = 4
"""How often a request is changed, at most."""

INSERTED_MAX: Final = 8
"""How many bytes are put in or doubled at once, at most."""


def mutated(data: bytes, dice: Dice) -> bytes:
    """Return *data* after one to `CHANGES_MAX` changes, each as *dice* has it."""
    for _ in range(1 + dice.below(CHANGES_MAX)):
        data = _changed(data, dice)
    return data


def _changed(data: bytes, dice: Dice) -> bytes:
    at = dice.below(len(data) + 1)
    match dice.below(6):
        case 0:  # put in
            return data[:at] + _random(dice) + data[at:]
        case 1:  # cut off
            return data[:at]
        case 2:  # take out
            return data[:at] + data[at + 1 + dice.below(INSERTED_MAX) :]
        case 3:  # say twice
            return data[:at] + data[max(at - 1 - dice.below(INSERTED_MAX), 0) :]
        case 4:  # turn one bit
            return _with(data, at, lambda byte: byte ^ 1 << dice.below(8))
        case _:  # put another byte there: of those that mean something, for half of the time
            special = (0x00, 0x7F, 0x80, 0xFF)[dice.below(4)]
            return _with(data, at, lambda _: special if dice.below(2) else dice.below(256))


def _random(dice: Dice) -> bytes:
    return bytes(dice.below(256) for _ in range(1 + dice.below(INSERTED_MAX)))


def _with(data: bytes, at: int, change: Callable[[int], int]) -> bytes:
    if at == len(data):
        return data
    return data[:at] + bytes([change(data[at])]) + data[at + 1 :]
