"""The whole state of a match as plain data, and its hash (write protocol, W9).

Unlike `libs.rules.state.describe`, which people read, this loses nothing: a match that was dumped
and loaded goes on exactly as the first would have.
"""

import hashlib
import json
from dataclasses import asdict
from typing import Any, Final

from libs.rules import phases
from libs.rules.events import NOBODY, DeadlineSet, SeatSpec, Side
from libs.rules.match import ATTRIBUTES, Match
from libs.rules.pending import Auction, Debt, Offer
from libs.rules.rule_sets import rule_set

SCHEMA: Final = 1
"""Raised when older dumps can no longer be loaded: snapshots are a cache, and are made anew."""

# What a dump spells in its own way; every other attribute of a match is plain data already.
_SPELT: Final = frozenset(
    {
        "rules",
        "board",
        "specs",
        "commitment",
        "client_seeds",
        "cards",
        "auction",
        "debts",
        "offers",
        "deadline",
    }
)
# What follows from the rest, and is counted anew.
_COUNTED: Final = frozenset(
    {
        "acting",
        "built_any",
        "group_levels",
        "held",
        "living",
        "mortgage_count",
        "owned",
        "whole_groups",
    }
)
_PLAIN: Final = tuple(name for name in ATTRIBUTES if name not in _SPELT | _COUNTED)
_TUPLES: Final = ("winners", "placing")

_SHUT: Final = frozenset({phases.UNBORN, phases.SEEDING, phases.ENDED})
"""The phases in which nobody plays."""


def dump(match: Match) -> dict[str, Any]:
    """Return everything that *match* knows, ready for JSON."""
    state: dict[str, Any] = {name: getattr(match, name) for name in _PLAIN}
    state["schema"] = SCHEMA
    state["rules"] = match.rules.rule_set_id
    state["specs"] = [asdict(spec) for spec in match.specs]
    state["commitment"] = match.commitment.hex()
    state["client_seeds"] = [None if seed is None else seed.hex() for seed in match.client_seeds]
    state["cards"] = [sorted(cards.items()) for cards in match.cards]
    state["auction"] = asdict(match.auction) if match.auction else None
    state["deadline"] = asdict(match.deadline) if match.deadline else None
    state["debts"] = [asdict(debt) for debt in match.debts]
    state["offers"] = [asdict(offer) for offer in match.offers]
    return state


def load(state: dict[str, Any]) -> Match:
    """Return the match that was dumped; the inverse of `dump`, also by way of JSON."""
    match = Match()
    for name in _PLAIN:
        value = state[name]
        setattr(match, name, tuple(value) if name in _TUPLES else _own(value))
    match.rules = rule_set(state["rules"])
    match.board = match.rules.board
    match.specs = tuple(_load_spec(spec) for spec in state["specs"])
    match.commitment = bytes.fromhex(state["commitment"])
    match.client_seeds = [
        None if seed is None else bytes.fromhex(seed) for seed in state["client_seeds"]
    ]
    match.cards = tuple(dict(cards) for cards in state["cards"])
    match.auction = _load_auction(state["auction"]) if state["auction"] else None
    match.deadline = DeadlineSet(**state["deadline"]) if state["deadline"] else None
    match.debts = [_load_debt(debt) for debt in state["debts"]]
    match.offers = [_load_offer(offer) for offer in state["offers"]]
    recount(match)
    return match


def recount(match: Match) -> None:
    """Work out what follows from the facts, for a state that was written and not replayed."""
    board = match.board
    living = match.living_seats()
    is_on = match.phase not in _SHUT and match.frozen_at < 0
    match.living = len(living)
    match.acting = tuple(living) if is_on else ()
    match.built_any = any(match.built)
    match.owned[:] = [
        tuple(square for square in board.properties if match.owner[square] == seat)
        for seat in range(len(match.out))
    ]
    match.mortgage_count = sum(1 for mortgaged in match.mortgaged_round if mortgaged)
    match.held[:] = [[0] * len(board.groups) for _ in match.out]
    match.group_levels[:] = [0] * len(board.groups)
    for square in board.properties:
        group, owner = board.group_of[square], match.owner[square]
        match.group_levels[group] += match.level[square]
        if owner != NOBODY:
            match.held[owner][group] += 1
    match.whole_groups[:] = [
        tuple(group for group in board.street_groups if match.owns_group(seat, group))
        for seat in range(len(match.out))
    ]


def state_hash(match: Match) -> bytes:
    """Return SHA-256 over the canonical JSON of the whole state."""
    text = json.dumps(dump(match), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).digest()


def _own(value: Any) -> Any:
    """Copy lists, so that a loaded match shares nothing that changes with its dump."""
    return [_own(item) for item in value] if isinstance(value, list) else value


def _load_spec(spec: dict[str, Any]) -> SeatSpec:
    cards = tuple((square, rarity) for square, rarity in spec["cards"])
    return SeatSpec(spec["kind"], spec["player"], spec["strength"], cards)


def _load_auction(auction: dict[str, Any]) -> Auction:
    return Auction(
        **{**auction, "order": tuple(auction["order"]), "passed": list(auction["passed"])}
    )


def _load_debt(debt: dict[str, Any]) -> Debt:
    creditors = tuple((creditor, amount) for creditor, amount in debt["creditors"])
    return Debt(**{**debt, "creditors": creditors})


def _load_offer(offer: dict[str, Any]) -> Offer:
    sides = {
        side: Side(offer[side]["cash"], tuple(offer[side]["squares"])) for side in ("give", "take")
    }
    return Offer(**{**offer, **sides})
