"""What a scenario file says, as values: a set-up, draws, and steps."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, get_args

from libs.kernel.chance import BUS, X
from libs.kernel.reasons import Reason
from libs.rules import events as e
from libs.scenarios.commands import COMMANDS
from libs.scenarios.reading import (
    MalformedError,
    as_flag,
    as_list,
    as_number_key,
    as_object,
    as_text,
    as_texts,
    as_whole,
    at,
    entries,
    is_whole,
    spell,
)

MS_PER_S: Final = 1_000
WAIT_MAX_S: Final = 10_000_000
"""More than any match lasts whose clocks run."""
DIE: Final = range(1, 7)
THIRD_DIE: Final[Mapping[object, int]] = {1: 1, 2: 2, 3: 3, "bus": BUS, "x": X}
"""The faces of the third die as files have them, and as the rules do."""
EVENT_TYPES: Final = tuple(kind.__name__ for kind in get_args(e.Event))
"""What the types of events are called."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatSetup:
    """How a seat stands; None where it is as at a start."""

    cash: int | None = None
    square: int | None = None
    in_jail: bool = False
    jail_attempts: int = 0
    missed_turns: int = 0
    out: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PropertySetup:
    """Whose a property is and what is on it; *mortgaged_round* None means this round."""

    owner: int | None = None
    level: int = 0
    mortgaged: bool = False
    mortgaged_round: int | None = None
    built_this_turn: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """A match with its turn's roll pending. *properties* by square, *cards* by seat and square."""

    round: int = 1
    turn: int = 0
    seats: tuple[SeatSetup, ...] = ()
    properties: Mapping[int, PropertySetup] = field(default_factory=dict)
    next_card: int = 1
    cards: Mapping[int, Mapping[int, str]] = field(default_factory=dict)
    doubles_in_turn: int = 0
    jump_pending: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """The draws to come, each kind in its order; the third die as `libs.kernel.chance` has it."""

    dice: tuple[tuple[int, int], ...] = ()
    third_die: tuple[int, ...] = ()
    jackpot_die: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Act:
    """A command of a seat, with its fields as they stand in the file.

    *refused* is None where it must be accepted, True where any refusal will do, else the reason.
    """

    seat: int
    name: str
    fields: Any
    refused: bool | str | None


@dataclass(frozen=True, slots=True)
class Wait:
    """Time passes."""

    duration_ms: int


@dataclass(frozen=True, slots=True)
class Expect:
    """What must hold by now: values of paths of the state, and the events of the last step.

    Of the two lists None means that nothing is said about events.
    """

    values: Mapping[str, Any]
    events: tuple[str, ...] | None
    events_exactly: tuple[str, ...] | None


Step = Act | Wait | Expect


@dataclass(frozen=True, slots=True)
class Scenario:
    """One scenario file."""

    scenario_id: str
    rules: tuple[str, ...]
    rule_set: str
    seats: int
    setup: Setup
    script: Script
    steps: tuple[Step, ...]


def read_scenario(document: object) -> Scenario:
    """Read a scenario from plain values.

    Raises:
        MalformedError: something in it has no meaning; the error says where.

    """
    known = ("id", "rules", "rule_set", "seats", "setup", "draws", "steps")
    top = as_object(document, "", known)
    for key in ("id", "rule_set", "seats", "steps"):
        if key not in top:
            raise MalformedError(key, "is missing")
    return Scenario(
        as_text(top["id"], "id"),
        as_texts(top.get("rules", []), "rules"),
        as_text(top["rule_set"], "rule_set"),
        as_whole(top["seats"], "seats", low=1),
        _read_setup(top.get("setup", {}), "setup"),
        _read_script(top.get("draws", {}), "draws"),
        tuple(_read_step(step, path) for step, path in entries(top["steps"], "steps")),
    )


_Read = Callable[[Any, str], Any]


def _read_fields(value: object, path: str, readers: Mapping[str, _Read]) -> dict[str, Any]:
    """Read an object whose fields are all optional, each by its reader."""
    given = as_object(value, path, readers)
    return {key: readers[key](given[key], at(path, key)) for key in given}


def _read_setup(value: object, path: str) -> Setup:
    return Setup(**_read_fields(value, path, _SETUP))


def _read_seats(value: object, path: str) -> tuple[SeatSetup, ...]:
    return tuple(
        SeatSetup(**_read_fields(seat, place, _SEAT)) for seat, place in entries(value, path)
    )


def _read_properties(value: object, path: str) -> dict[int, PropertySetup]:
    return {
        as_number_key(key, path): PropertySetup(**_read_fields(given, at(path, key), _PROPERTY))
        for key, given in as_object(value, path).items()
    }


def _read_cards(value: object, path: str) -> dict[int, dict[int, str]]:
    return {
        as_number_key(seat, path): _read_cards_of_seat(cards, at(path, seat))
        for seat, cards in as_object(value, path).items()
    }


def _read_cards_of_seat(value: object, path: str) -> dict[int, str]:
    return {
        as_number_key(square, path): as_text(rarity, at(path, square))
        for square, rarity in as_object(value, path).items()
    }


def _read_script(value: object, path: str) -> Script:
    return Script(**_read_fields(value, path, _SCRIPT))


def _read_rolls(value: object, path: str) -> tuple[tuple[int, int], ...]:
    rolls = []
    for roll, place in entries(value, path):
        if len(as_list(roll, place)) != 2:  # noqa: PLR2004 - the white dice
            raise MalformedError(place, "must be two dice")
        white, other = _read_dice(roll, place)
        rolls.append((white, other))
    return tuple(rolls)


def _read_dice(value: object, path: str) -> tuple[int, ...]:
    return tuple(as_whole(die, place, DIE[0], DIE[-1]) for die, place in entries(value, path))


def _read_third_dice(value: object, path: str) -> tuple[int, ...]:
    return tuple(_read_third_die(face, place) for face, place in entries(value, path))


def _read_third_die(value: object, path: str) -> int:
    if (is_whole(value) or isinstance(value, str)) and value in THIRD_DIE:
        return THIRD_DIE[value]
    raise MalformedError(path, f'must be 1, 2, 3, "bus" or "x", not {spell(value)}')


def _read_step(value: object, path: str) -> Step:
    step = as_object(value, path)
    if "command" in step or "seat" in step:
        return _read_act(as_object(step, path, ("seat", "command", "refused")), path)
    if "wait_s" in step:
        return Wait(_read_wait(as_object(step, path, ("wait_s",))["wait_s"], at(path, "wait_s")))
    if step:
        return _read_expect(as_object(step, path, ("expect", "events", "events_exactly")), path)
    raise MalformedError(path, "must have a command, wait_s, expect, events or events_exactly")


def _read_act(step: dict[str, Any], path: str) -> Act:
    for key in ("seat", "command"):
        if key not in step:
            raise MalformedError(at(path, key), "is missing")
    name, fields = _read_command(step["command"], at(path, "command"))
    refused = _read_refused(step["refused"], at(path, "refused")) if "refused" in step else None
    return Act(as_whole(step["seat"], at(path, "seat")), name, fields, refused)


def _read_refused(value: object, path: str) -> bool | str:
    if value is True:
        return True
    if not isinstance(value, str):
        raise MalformedError(path, f"must be true or a reason, not {spell(value)}")
    if value not in Reason.__members__:
        raise MalformedError(path, f'no reason is called "{value}"')
    return value


def _read_command(value: object, path: str) -> tuple[str, Any]:
    """Read a command's name and its fields, about which the rules have a say, not the file."""
    if isinstance(value, str):
        return _known_command(value, path), {}
    given = as_object(value, path)
    if len(given) != 1:
        raise MalformedError(path, "must be one name, or one name with its fields")
    ((name, fields),) = given.items()
    return _known_command(name, path), fields


def _known_command(name: str, path: str) -> str:
    if name not in COMMANDS:
        raise MalformedError(path, f'no command is called "{name}"')
    return name


def _read_wait(value: object, path: str) -> int:
    """Read seconds, with decimals down to the millisecond that the rules count in."""
    if not is_whole(value) and not isinstance(value, float):
        raise MalformedError(path, f"must be a number of seconds, not {spell(value)}")
    assert isinstance(value, int | float)
    if not 0 <= value <= WAIT_MAX_S:
        raise MalformedError(path, f"must be between 0 and {WAIT_MAX_S}, not {value}")
    duration_ms = round(value * MS_PER_S)
    if duration_ms / MS_PER_S != value:
        raise MalformedError(path, f"must be whole milliseconds, not {value}")
    return duration_ms


def _read_expect(step: dict[str, Any], path: str) -> Expect:
    return Expect(
        as_object(step.get("expect", {}), at(path, "expect")),
        *(
            _read_event_types(step[key], at(path, key)) if key in step else None
            for key in ("events", "events_exactly")
        ),
    )


def _read_event_types(value: object, path: str) -> tuple[str, ...]:
    """Read names of events. One that no event has would never be found, or never be missed."""
    names = as_texts(value, path)
    for index, name in enumerate(names):
        if name not in EVENT_TYPES:
            raise MalformedError(at(path, index), f'no event is called "{name}"')
    return names


def _or_null(read: _Read) -> _Read:
    return lambda value, path: None if value is None else read(value, path)


_SEAT: Final[Mapping[str, _Read]] = {
    "cash": as_whole,
    "square": as_whole,
    "in_jail": as_flag,
    "jail_attempts": as_whole,
    "missed_turns": as_whole,
    "out": as_flag,
}
_PROPERTY: Final[Mapping[str, _Read]] = {
    "owner": _or_null(as_whole),
    "level": as_whole,
    "mortgaged": as_flag,
    "mortgaged_round": _or_null(as_whole),
    "built_this_turn": as_whole,
}
_SETUP: Final[Mapping[str, _Read]] = {
    "round": as_whole,
    "turn": as_whole,
    "seats": _read_seats,
    "properties": _read_properties,
    "next_card": as_whole,
    "cards": _read_cards,
    "doubles_in_turn": as_whole,
    "jump_pending": as_flag,
}
_SCRIPT: Final[Mapping[str, _Read]] = {
    "dice": _read_rolls,
    "third_die": _read_third_dice,
    "jackpot_die": _read_dice,
}
