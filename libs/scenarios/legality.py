"""Whether a match could stand as a set-up has it, and if not, why."""

from collections.abc import Iterable
from typing import Final

from libs.rules.board import JAIL, MAX_LEVEL, SQUARES
from libs.rules.cards import DECK_SIZE, RARITIES
from libs.rules.rolling import DOUBLES_TO_JAIL
from libs.rules.rule_sets import RuleSet
from libs.scenarios.reading import MalformedError
from libs.scenarios.scenario import PropertySetup, SeatSetup, Setup

SEATS: Final = "setup.seats"
PROPERTIES: Final = "setup.properties"


def check(rules: RuleSet, seats: int, setup: Setup) -> None:
    """Check a set-up against its rule set, from the table down to single properties.

    Raises:
        MalformedError: no match of *seats* seats could stand so.

    """
    if seats not in rules.seats:
        allowed = ", ".join(map(str, rules.seats))
        raise MalformedError("seats", f"{rules.rule_set_id} is for {allowed} seats, not {seats}")
    _within(setup.round, 1, rules.round_cap, "setup.round")
    _within(setup.turn, 0, seats - 1, "setup.turn")
    _within(setup.next_card, 1, DECK_SIZE, "setup.next_card")
    if len(setup.seats) > seats:
        raise MalformedError(SEATS, f"has {len(setup.seats)} seats, but the match has {seats}")
    for seat, given in enumerate(setup.seats):
        _check_seat(rules, seat, given)
    _check_table(rules, seats, setup)
    _check_turn(rules, setup)
    for square, held in setup.properties.items():
        _check_property(rules, seats, setup, square, held)
    for group in rules.board.groups:
        _check_group(rules, setup, group)
    _check_cards(rules, seats, setup)


def _check_seat(rules: RuleSet, seat: int, given: SeatSetup) -> None:
    path = f"{SEATS}.{seat}"
    if given.cash is not None and given.cash < 0:
        raise MalformedError(f"{path}.cash", f"must not be below 0, and is {given.cash}")
    if given.square is not None:
        _within(given.square, 0, SQUARES - 1, f"{path}.square")
        if rules.board.kind[given.square] == "go_to_jail":
            raise MalformedError(f"{path}.square", "nobody stays there: it leads to jail")
    if given.in_jail and given.square not in (None, JAIL):
        reason = f"a jailed seat stands on {JAIL}, not on {given.square}"
        raise MalformedError(f"{path}.square", reason)
    attempts_max = rules.jail_attempts - 1 if given.in_jail else 0
    _within(given.jail_attempts, 0, attempts_max, f"{path}.jail_attempts")
    # Whoever is surrendered for missed turns keeps their number; nobody else has so many.
    missed_max = rules.missed_turns_limit - (0 if given.out else 1)
    _within(given.missed_turns, 0, missed_max, f"{path}.missed_turns")
    if given.out and given.cash:
        raise MalformedError(f"{path}.cash", "a seat that is out has no cash")
    if given.out and given.in_jail:
        raise MalformedError(f"{path}.in_jail", "a seat that is out is in no jail")


def _check_table(rules: RuleSet, seats: int, setup: Setup) -> None:
    living = [seat for seat in range(seats) if not _seat(setup, seat).out]
    if rules.teams and {seat % 2 for seat in living} != {0, 1}:
        raise MalformedError(SEATS, "both teams need a living seat, or the match is over")
    if len(living) <= 1:
        raise MalformedError(SEATS, "at least two seats must be living, or the match is over")
    if setup.turn not in living:
        raise MalformedError("setup.turn", f"seat {setup.turn} is out and has no turn")


def _check_turn(rules: RuleSet, setup: Setup) -> None:
    _within(setup.doubles_in_turn, 0, DOUBLES_TO_JAIL - 1, "setup.doubles_in_turn")
    is_jailed = _seat(setup, setup.turn).in_jail
    if is_jailed and setup.doubles_in_turn:
        raise MalformedError("setup.doubles_in_turn", "doubles never count in jail")
    if not setup.jump_pending:
        return
    if not 0 < rules.third_die_round <= setup.round:
        raise MalformedError("setup.jump_pending", "no third die is rolled in this round")
    if is_jailed:
        raise MalformedError("setup.jump_pending", "no third die is rolled in jail")


def _check_property(
    rules: RuleSet, seats: int, setup: Setup, square: int, given: PropertySetup
) -> None:
    path = f"{PROPERTIES}.{square}"
    if not rules.board.is_property(square):
        raise MalformedError(path, f"square {square} is no property")
    _check_owner(seats, setup, given, path)
    is_street = rules.board.is_street(square)
    _within(given.level, 0, MAX_LEVEL if is_street else 0, f"{path}.level")
    _check_mortgage(rules, setup, given, path)
    if not given.built_this_turn:
        return
    if not is_street:
        raise MalformedError(f"{path}.built_this_turn", "only streets are built on")
    if given.level and given.owner != setup.turn:
        raise MalformedError(f"{path}.built_this_turn", "only the turn's seat can have built")
    limit = rules.levels_per_turn or None
    _within(given.built_this_turn, 0, limit, f"{path}.built_this_turn")


def _check_owner(seats: int, setup: Setup, given: PropertySetup, path: str) -> None:
    if given.owner is not None:
        _within(given.owner, 0, seats - 1, f"{path}.owner")
        if _seat(setup, given.owner).out:
            raise MalformedError(f"{path}.owner", f"seat {given.owner} is out and owns nothing")
    elif given.level:
        raise MalformedError(f"{path}.level", "nobody owns it, so nothing is built on it")
    elif given.mortgaged:
        raise MalformedError(f"{path}.mortgaged", "nobody owns it, so it is not mortgaged")


def _check_mortgage(rules: RuleSet, setup: Setup, given: PropertySetup, path: str) -> None:
    if given.mortgaged_round is None:
        return
    if not given.mortgaged:
        raise MalformedError(f"{path}.mortgaged_round", "it is not mortgaged")
    _within(given.mortgaged_round, 1, setup.round, f"{path}.mortgaged_round")
    expiry = rules.mortgage_expiry_rounds
    if expiry and given.mortgaged_round + expiry < setup.round:
        last = given.mortgaged_round + expiry
        raise MalformedError(
            f"{path}.mortgaged_round", f"went back to the bank at the end of round {last}"
        )


def _check_group(rules: RuleSet, setup: Setup, group: tuple[int, ...]) -> None:
    held = [setup.properties.get(square, PropertySetup()) for square in group]
    levels = [given.level for given in held]
    if not any(levels):
        return
    built = next(square for square, level in zip(group, levels, strict=True) if level)
    path = f"{PROPERTIES}.{built}.level"
    names = _spell(group)
    if len({given.owner for given in held}) > 1:
        raise MalformedError(path, f"only whole groups are built on: one seat must own {names}")
    if any(given.mortgaged for given in held):
        raise MalformedError(path, f"a group with levels has no mortgages: {names}")
    if rules.even_building and max(levels) - min(levels) > 1:
        raise MalformedError(path, f"{names} must be built evenly, and have levels {levels}")


def _check_cards(rules: RuleSet, seats: int, setup: Setup) -> None:
    for seat, cards in setup.cards.items():
        _within(seat, 0, seats - 1, f"setup.cards.{seat}")
        for square, rarity in cards.items():
            path = f"setup.cards.{seat}.{square}"
            if not rules.board.is_property(square):
                raise MalformedError(path, f"square {square} is no property")
            if rarity not in RARITIES:
                known = ", ".join(RARITIES)
                raise MalformedError(path, f'"{rarity}" is no rarity; known are {known}')


def _seat(setup: Setup, seat: int) -> SeatSetup:
    return setup.seats[seat] if seat < len(setup.seats) else SeatSetup()


def _within(value: int, low: int, high: int | None, path: str) -> None:
    if value < low or (high is not None and value > high):
        limits = f"at least {low}" if high is None else f"{low} to {high}" if high > low else low
        raise MalformedError(path, f"must be {limits}, and is {value}")


def _spell(squares: Iterable[int]) -> str:
    return ", ".join(map(str, squares))
