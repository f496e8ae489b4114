"""The event dictionary: every event with its fields, its rules, and one that happened."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final, get_args

from google.protobuf import json_format

from libs.rules import events as e
from libs.rules.evolve import apply
from libs.rules.explain import explain
from libs.rules.match import Match
from libs.scenarios.draws import ScriptedDraws
from libs.scenarios.files import read_file
from libs.scenarios.running import run
from libs.scenarios.setting import set_up
from libs.wire.events import write_event
from opolyx.record.v1 import event_pb2 as pb
from tests.docs.making import public
from tests.docs.making.markdown import heading, made_by, page
from tests.docs.making.messages import content_part, title_of, words
from tests.golden import stream
from tests.support.protos import Element, named
from tests.support.repository import ROOT

HERE: Final = public.EVENTS_PAGE

INTRO: Final = """
What happens in a match is these events and nothing else. They come in records, one for each
accepted command, the cause first (`ReadEvents` and the streams of
[`MatchService`](api.md#opolyx.match.v1.MatchService)), and are numbered from 1 without a gap.
Whoever takes them in, in their order, knows the match.

In all of them: seats are numbers from 0, squares 0 to 39, money whole units (`int64`), times
milliseconds since 1970 UTC and durations milliseconds, both with `_ms`. What is 0, false, empty or
absent is not there in JSON. An absent seat is nobody, or the bank among creditors. The rules are
those of the [rule book](../../libs/rules/README.md); `MatchService.Explain` tells the same of any
event of any match. The examples are from recorded matches, and from scenarios where those have
none.
"""

SCENARIOS: Final = ROOT / "tests" / "rules" / "scenarios"


@dataclass
class Told:
    """What the recorded matches and scenarios show of one kind of event."""

    example: e.Event | None = None
    text: str = ""
    rules: set[str] = field(default_factory=set)


def events_page() -> str:
    """Return the page."""
    cases = public.event_cases()
    return page(
        "# Event dictionary",
        made_by("`protos/opolyx/record/v1`, recorded matches and scenarios"),
        INTRO,
        ", ".join(
            public.link(_message(case).name, title_of(_message(case)), HERE) for case in cases
        ),
        *(_event(case) for case in cases),
    )


def _event(case: Element) -> str:
    message = _message(case)
    told = witnessed()[title_of(message)]
    assert told.example is not None, f"no recorded match and no scenario shows {message.name}"
    return page(
        heading(2, title_of(message), message.name),
        words(message, HERE),
        f"In the record `{case.proto.name}`, number {case.proto.number}. "
        f"Rules: {', '.join(sorted(told.rules))}.",
        content_part(message, 2, HERE),
        f"```json\n{_json(told.example)}\n```",
        f"> {told.text}",
    )


def _message(case: Element) -> Element:
    return named(case.proto.type_name.removeprefix("."))


def _json(event: e.Event) -> str:
    message = pb.Event.FromString(write_event(event))
    text: dict[str, Any] = json_format.MessageToDict(message)
    return json.dumps(text)


@cache
def witnessed() -> dict[str, Told]:
    """Return what is known of each event, by the name of its class."""
    found = {kind.__name__: Told() for kind in get_args(e.Event)}
    for match, event in _happened():
        told = found[event.__class__.__name__]
        explanation = explain(match, event)
        told.rules.update(explanation.rules)
        if told.example is None:
            told.example, told.text = event, explanation.text
    return found


def _happened() -> Iterator[tuple[Match, e.Event]]:
    """Go through all events that there are, each with the match as it was before it."""
    # The second revision first: what it shows is what is played.
    files = sorted(stream.FOLDER.glob("*.ndjson"), key=lambda p: ("-2-" not in p.name, p.name))
    for file in files:
        events = [event for step in stream.read(file).steps for event in step.events]
        yield from _replayed(Match(), events)
    for file in sorted(SCENARIOS.glob("*.json")):
        scenario = read_file(file)
        match = set_up(scenario, ScriptedDraws(scenario.script, scenario.setup.turn))
        yield from _replayed(match, [event for step in run(scenario).events for event in step])


def _replayed(match: Match, events: list[e.Event]) -> Iterator[tuple[Match, e.Event]]:
    for event in events:
        yield match, event
        apply(match, [event])
