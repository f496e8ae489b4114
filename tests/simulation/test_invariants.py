"""The auditor finds what is wrong: each law is broken once, and is missed."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import get_args

import pytest

from libs.rules import commands as c
from libs.rules import events as e
from libs.rules.evolve import evolve
from libs.rules.ledger import CASH_EVENTS
from libs.rules.match import Match
from libs.simulation.invariants import (
    Auditor,
    BrokenInvariantError,
    check_property,
    check_seats,
)
from libs.simulation.playing import run_match, set_up
from tests.support.builders import CLASSIC_2
from tests.support.spec import given

Forge = Callable[[Match, list[e.Event]], None]


def audited(forge: Forge, after: int = 200) -> None:
    """Play a match and lie to its auditor once, as soon as *forge* finds something to lie about."""
    auditor, seen = Auditor(), 0

    def watch(match: Match, command: c.Command, at_ms: int, events: Sequence[e.Event]) -> None:
        nonlocal seen
        seen += 1
        told = [replace(event) for event in events]
        if seen > after:
            forge(match, told)
        auditor(match, command, at_ms, told)

    run_match(set_up(CLASSIC_2, 4, 1, 0), watch)


def state(change: Callable[[Match], None]) -> Forge:
    return lambda match, _: change(match)


def event(kind: type, name: str, value: int) -> Forge:
    def forge(_: Match, told: list[e.Event]) -> None:
        for one in told:
            if isinstance(one, kind):
                setattr(one, name, value)

    return forge


def more_cash(match: Match) -> None:
    match.cash[0] += 1


def negative_cash(match: Match) -> None:
    match.cash[0] = -1


def other_owner(match: Match) -> None:
    match.owner[39] = 0 if match.owner[39] else 1


@pytest.mark.parametrize(
    ("forge", "law"),
    [
        (state(more_cash), "live state"),
        (state(negative_cash), "live state"),
        (state(other_owner), "live state"),
        (event(e.DiceRolled, "counter", 5), "no block out"),
        (event(e.CardDrawn, "card", 3), "in their order"),
        (event(e.RoundStarted, "round", 99), "rounds are counted"),
        (event(e.TurnEnded, "seat", 5), "the turn that ends"),
        (event(e.SalaryPaid, "amount", -2_000), "an amount"),
        (event(e.LevelBuilt, "amount", 1), "live state"),
        (lambda _, told: told.clear(), "has events"),
        (lambda _, told: told.append(told[-1]), "live state|one turn at a time"),
    ],
)
def test_a_lie_is_found(forge: Forge, law: str) -> None:
    with pytest.raises(BrokenInvariantError, match=law):
        audited(forge)


def test_time_that_falls_is_found() -> None:
    auditor = Auditor()
    auditor._check_time(5, e.TurnEnded(0), is_fired=False)

    with pytest.raises(BrokenInvariantError, match="time never falls"):
        auditor._check_time(4, e.TurnEnded(0), is_fired=False)


def test_levels_on_half_a_group_are_found() -> None:
    """BUILD-1."""
    table = given().owned(0, 1)
    table.match.level[1] = 1

    with pytest.raises(BrokenInvariantError, match="whole groups"):
        check_property(table.match)


def test_levels_on_mortgaged_groups_are_found() -> None:
    """MORT-1."""
    table = given().owned(0, 1, 3).levels({1: 1}).mortgaged(3)

    with pytest.raises(BrokenInvariantError, match="unmortgaged"):
        check_property(table.match)


def test_uneven_building_is_found() -> None:
    """BUILD-2."""
    table = given().owned(0, 1, 3).levels({1: 2})

    with pytest.raises(BrokenInvariantError, match="even"):
        check_property(table.match)


def test_too_many_levels_are_found() -> None:
    """BUILD-1."""
    table = given().owned(0, 1, 3).levels({1: 6, 3: 6})

    with pytest.raises(BrokenInvariantError, match="five"):
        check_property(table.match)


@pytest.mark.parametrize("square", [0, 10, 30])
def test_an_owned_corner_is_found(square: int) -> None:
    """BOARD-2."""
    match = given().match
    match.owner[square] = 1

    with pytest.raises(BrokenInvariantError, match="only properties"):
        check_property(match)


def test_wrong_counts_are_found() -> None:
    levels, held, living = given().match, given().match, given().match
    levels.group_levels[0] = 1
    held.held[1][2] = 1
    living.living = 2

    with pytest.raises(BrokenInvariantError, match="levels are counted"):
        check_property(levels)
    with pytest.raises(BrokenInvariantError, match="holdings are counted"):
        check_property(held)
    with pytest.raises(BrokenInvariantError, match="living are counted"):
        check_seats(living)


def test_the_riches_of_the_dead_are_found() -> None:
    """BANK-2, SURR-1."""
    match = given().gone(1).match
    match.cash[1] = 7

    with pytest.raises(BrokenInvariantError, match="no cash"):
        check_seats(match)


def test_a_prisoner_elsewhere_is_found() -> None:
    """JAIL-1."""
    match = given().match
    match.in_jail[0] = True
    match.square[0] = 11

    with pytest.raises(BrokenInvariantError, match="in jail"):
        check_seats(match)


def test_cash_moves_in_the_events_of_the_ledger_and_in_no_other() -> None:
    moving: set[type] = set()
    replica = Match()

    def watch(_: Match, command: c.Command, at_ms: int, events: Sequence[e.Event]) -> None:
        nonlocal replica
        if isinstance(command, c.CreateMatch):
            replica = Match()
        for one in events:
            before = replica.cash[:]
            evolve(replica, one)
            if before != replica.cash and before:
                moving.add(one.__class__)
        assert at_ms

    for rule_set in ("opolyx.classic@1", "opolyx.speed@2"):
        for number in range(10):
            run_match(set_up(rule_set, 4, 1, number, ("shark", "novice", "steady")), watch)

    assert moving <= CASH_EVENTS.keys()
    assert CASH_EVENTS.keys() - moving == {e.SeatSurrendered}, "bots never surrender"
    assert CASH_EVENTS.keys() <= set(get_args(e.Event))
