"""Golden streams as text: one record a line, the expected states on the last.

A line is ``{"at_ms": ..., "command": [...], "events": [[...], ...]}``; a command or an event is its
name and its fields in their order, bytes in hex. The last line tells the match's seed and hashes of
its state by sequence.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final, get_args

from libs.rules import commands as c
from libs.rules import events as e
from tests.support.walks import Step

FOLDER: Final = Path(__file__).parent

_KINDS: Final[dict[str, type[Any]]] = {
    kind.__name__: kind for kind in (*get_args(e.Event), *get_args(c.Command), e.Side, e.SeatSpec)
}


@dataclass(frozen=True, slots=True)
class Stream:
    """A recorded match: its records, its seed, and hashes of its state by sequence."""

    steps: tuple[Step, ...]
    seed: bytes
    hashes: dict[int, str]


def write(path: Path, stream: Stream) -> None:
    """Write a stream to a file that is not there yet."""
    lines: list[dict[str, object]] = [
        {
            "at_ms": step.at_ms,
            "command": _spell(step.command),
            "events": [_spell(event) for event in step.events],
        }
        for step in stream.steps
    ]
    lines.append({"seed": stream.seed.hex(), "hashes": stream.hashes})
    with path.open("x", encoding="utf-8") as file:
        file.writelines(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)


def read(path: Path) -> Stream:
    """Read a stream."""
    *records, end = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    steps = tuple(
        Step(_build(r["command"]), r["at_ms"], [_build(event) for event in r["events"]])
        for r in records
    )
    hashes = {int(sequence): state for sequence, state in end["hashes"].items()}
    return Stream(steps, bytes.fromhex(end["seed"]), hashes)


def _spell(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, tuple | list):
        return [_spell(item) for item in value]
    if value.__class__.__name__ in _KINDS:
        return [value.__class__.__name__, *_spell_fields(value)]
    return value


def _spell_fields(value: Any) -> Iterable[Any]:
    return (_spell(getattr(value, field.name)) for field in fields(value))


def _build(spelt: Any) -> Any:
    """Build what was spelt; a list that begins with the name of a kind is one, else a tuple."""
    if not isinstance(spelt, list):
        return spelt
    if not spelt or not isinstance(spelt[0], str) or spelt[0] not in _KINDS:
        return tuple(_build(item) for item in spelt)
    kind = _KINDS[spelt[0]]
    values = (
        bytes.fromhex(value) if field.type is bytes else _build(value)
        for field, value in zip(fields(kind), spelt[1:], strict=False)
    )
    return kind(*values)
