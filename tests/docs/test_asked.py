"""How a client without rules knows that it is asked, as the guide to a first client has it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from libs.rules import commands as c
from libs.rules import events as e
from libs.rules.evolve import apply
from libs.rules.match import Match
from libs.rules.views import view
from libs.wire.events import write_event
from libs.wire.views import match_message
from opolyx.match.v1 import match_pb2
from opolyx.record.v1 import event_pb2, record_pb2
from tests.docs.reading import DOCS, blocks
from tests.golden.stream import FOLDER, read
from tests.support.spec import given

PAGE: Final = DOCS / "first-client.md"
STREAMS: Final = sorted(FOLDER.glob("*.ndjson"))

Asked = list[tuple[int, int]]


def recipe() -> tuple[Callable[[Any], Asked], Callable[[Asked, Any], Asked]]:
    """Return the two functions of the guide: of a snapshot, and of a record."""
    [code] = [block for block in blocks(PAGE, "python") if "def asked_after" in block]
    names: dict[str, Any] = {}
    exec(code, names)  # noqa: S102 - the guide's own
    return names["asked_at"], names["asked_after"]


def record(events: list[e.Event]) -> record_pb2.Record:
    """Return a record as a client without rules reads it."""
    written = [event_pb2.Event.FromString(write_event(event)) for event in events]
    return record_pb2.Record(events=written)


def snapshot(match: Match, at_ms: int) -> match_pb2.Match:
    """Return a match as a client is shown it that comes at this moment."""
    return match_message(view(match), at_ms, commitment=b"", chain_hash=b"")


@pytest.mark.parametrize("path", STREAMS, ids=lambda path: path.stem)
def test_the_recipe_knows_at_every_record_who_is_asked(path: Path) -> None:
    asked_at, asked_after = recipe()
    match, asked = Match(), list[tuple[int, int]]()
    for step in read(path).steps:
        apply(match, step.events)

        asked = asked_after(asked, record(step.events))

        assert [seat for _, seat in asked] == match.pending_seats()
        assert asked_at(snapshot(match, step.at_ms)) == asked, "whoever comes now knows as much"


def test_it_knows_several_debtors_until_each_has_paid_or_gone() -> None:
    """DEBT-3: card 6, drawn where the others have no cash."""
    asked_at, asked_after = recipe()
    table = given(seats=4).owned(1, 5).owned(3, 15).standing({0: 4}).card(6).dice((1, 2))
    table.cash({1: 0, 2: 0, 3: 0})
    asked = asked_at(snapshot(table.match, table.now))
    told = [[seat for _, seat in asked]]

    for command in (c.Roll(0), c.Mortgage(1, 5), c.Pay(1), c.Surrender(2), c.Mortgage(3, 15)):
        asked = asked_after(asked, record(table.when(command)))
        told.append([seat for _, seat in asked])
        assert told[-1] == table.match.pending_seats()
    asked = asked_after(asked, record(table.when(c.Pay(3))))

    assert told == [[0], [1, 2, 3], [1, 2, 3], [2, 3], [3], [3]]
    assert asked == asked_at(snapshot(table.match, table.now)) == [(0, 1)]


def test_seeds_are_asked_of_nobody_by_name() -> None:
    """What `DeadlineSet` says of its scope and seat where it is for seeds."""
    first = [record(read(path).steps[0].events) for path in STREAMS]
    told = [
        event.deadline_set
        for each in first
        for event in each.events
        if event.deadline_set.kind == event_pb2.DECISION_SEEDING
    ]

    assert told
    assert {(each.scope, each.HasField("seat")) for each in told} == {(-1, False)}
