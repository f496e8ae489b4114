"""Events as plain values, ready for JSON, under the names that people know them by.

In Python a field cannot be called ``from``, and a seat that is absent is a number; here both are
spelt as the vocabulary of a match spells them.
"""

from dataclasses import fields, is_dataclass
from typing import Any, Final

from libs.kernel.chance import FIRST, JACKPOT, ROLL
from libs.rules import events as e
from libs.rules.state import THIRD_FACES

_NAMES: Final[dict[type, dict[str, str]]] = {
    e.TokenMoved: {"origin": "from", "target": "to"},
    e.JumpMade: {"origin": "from", "target": "to"},
    e.PropertyReleased: {"seat": "from"},
    e.CashReceived: {"source": "from"},
    e.CashCollected: {"from_seat": "from", "to_seat": "to"},
    e.TradeOffered: {"proposer": "from", "receiver": "to"},
}
"""Fields that the vocabulary calls by a word of their own."""

_LABELS: Final[dict[type, str]] = {
    e.MatchStarted: FIRST,
    e.DiceRolled: ROLL,
    e.JackpotRolled: JACKPOT,
}
"""Which kind of draw an event tells of (FAIR-1)."""

_SHARES: Final = frozenset({"creditors", "amounts", "shares"})
_MAY_BE_THE_BANK: Final = frozenset({"source"})
_MAY_BE_NOBODY: Final = frozenset({"seat", "winner", "scope"})


def describe_event(event: e.Event) -> dict[str, Any]:
    """Return an event's type and fields; bytes are in hex, draws as label and counter."""
    kind = type(event)
    told: dict[str, Any] = {"type": event_type(event)}
    if isinstance(event, e.DeadlineSet | e.DeadlineExtended):
        told["deadline_id"] = event.deadline_id
    names = _NAMES.get(kind, {})
    for field in fields(event):
        value = getattr(event, field.name)
        told[names.get(field.name, field.name)] = _describe_field(field.name, value)
    if kind in _LABELS:
        told["draw"] = {"label": _LABELS[kind], "counter": told.pop("counter")}
        told["draw"]["blocks"] = told.pop("blocks")
    return told


def event_type(event: e.Event) -> str:
    """Return the name of an event's type."""
    return type(event).__name__


def _describe_field(name: str, value: Any) -> Any:
    if name in _SHARES:
        return [{"seat": _seat_or_bank(seat), "amount": amount} for seat, amount in value]
    if name == "inputs":
        return dict(value)
    if name == "third":
        return THIRD_FACES[value]
    if name in _MAY_BE_THE_BANK:
        return _seat_or_bank(value)
    if name in _MAY_BE_NOBODY and value == e.NOBODY:
        return None
    return _describe(value)


def _seat_or_bank(seat: int) -> int | str:
    return "bank" if seat == e.BANK else seat


def _describe(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, tuple):
        return [_describe(part) for part in value]
    if is_dataclass(value):
        return {field.name: _describe(getattr(value, field.name)) for field in fields(value)}
    return value
