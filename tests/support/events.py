"""Hypothesis strategies for every event of a match."""

from dataclasses import fields
from typing import Any, Final, get_args, get_type_hints

from hypothesis import strategies as st

from libs.rules import events as e

EVENT_CLASSES: Final[tuple[type[e.Event], ...]] = get_args(e.Event)

DECISIONS: Final = "seeding roll buy auction debt bail bus teleport jackpot offer".split()
RARITIES: Final = "common uncommon rare epic legendary".split()
WORDS: Final[dict[tuple[type, str], list[str]]] = {
    (e.SeatSpec, "kind"): [e.PERSON, e.BOT],
    (e.DeadlineSet, "kind"): DECISIONS,
    (e.DeadlineExtended, "kind"): DECISIONS,
    (e.DeadlineExtended, "reason"): ["outage", "frozen"],
    (e.DecisionTimedOut, "kind"): DECISIONS,
    (e.TokenMoved, "how"): ["roll", "card", "jail", "jump", "teleport"],
    (e.PropertyReleased, "why"): ["bankrupt", "surrendered", "mortgage_expired"],
    (e.CashReceived, "why"): ["card"],
    (e.DebtOpened, "reason"): ["rent", "tax", "card", "bail"],
    (e.JailEntered, "why"): ["doubles", "square", "card"],
    (e.JailLeft, "how"): ["doubles", "bail", "forced_bail"],
    (e.TradeClosed, "why"): ["expired", "no_longer_holds", "side_out"],
    (e.MatchEnded, "why"): ["last_standing", "round_cap"],
}
"""Every word that the vocabulary fixes, by the field that holds it."""

MAY_BE_NOBODY: Final = {
    (e.DeadlineSet, "scope"),
    (e.DeadlineSet, "seat"),
    (e.DeadlineExtended, "scope"),
    (e.AuctionClosed, "winner"),
    (e.CashReceived, "source"),
}
LARGE: Final = frozenset(
    "amount at_ms cash clock_left counter due expires lateness minimum payout price proceeds "
    "stake starting_cash withheld".split()
)

_small: Final = st.integers(0, 2**31 - 1)
_large: Final = st.integers(0, 2**63 - 1)
_text: Final = st.text(max_size=60)
_cards: Final = st.lists(st.tuples(st.integers(0, 39), st.sampled_from(RARITIES)), max_size=4)
_tuples: Final[dict[Any, st.SearchStrategy[Any]]] = {
    tuple[int, ...]: st.lists(_small, max_size=40),
    tuple[e.Share, ...]: st.lists(st.tuples(st.integers(-1, 5), _large), max_size=6),
    tuple[e.Input, ...]: st.lists(st.tuples(_text, st.integers(-(2**63), 2**63 - 1)), max_size=6),
    tuple[tuple[int, str], ...]: _cards,
    tuple[tuple[tuple[int, str], ...], ...]: st.lists(_cards.map(tuple), max_size=6),
}


def instances(kind: type[Any]) -> st.SearchStrategy[Any]:
    """Return a strategy for a dataclass of the domain, every field with all that it may hold."""
    hints = get_type_hints(kind)
    return st.builds(
        kind, *(_values(kind, field.name, hints[field.name]) for field in fields(kind))
    )


def _values(kind: type[Any], name: str, hint: Any) -> st.SearchStrategy[Any]:
    if (kind, name) in WORDS:
        return st.sampled_from(WORDS[kind, name])
    if name == "third":
        return st.integers(0, 5)
    if name == "blocks":
        return st.integers(1, 9)
    if name == "net_worths":
        return st.lists(_large, max_size=6).map(tuple)
    if hint is int:
        numbers = _large if name in LARGE else _small
        return st.just(e.NOBODY) | numbers if (kind, name) in MAY_BE_NOBODY else numbers
    if hint in _tuples:
        return _tuples[hint].map(tuple)
    if hint == tuple[e.SeatSpec, ...]:
        return st.lists(instances(e.SeatSpec), max_size=6).map(tuple)
    plain: dict[Any, st.SearchStrategy[Any]] = {
        bool: st.booleans(),
        bytes: st.binary(max_size=40),
        str: _text,
        e.Side: st.deferred(lambda: instances(e.Side)),
    }
    return plain[hint]


ANY_EVENT: Final[st.SearchStrategy[e.Event]] = st.sampled_from(EVENT_CLASSES).flatmap(instances)
"""Any event of any class."""
