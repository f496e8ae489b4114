"""What the timer makes of a match's records: never less than what is open."""

import pytest

from libs.eventlog.following import Position
from libs.rules import commands as c
from libs.rules import phases
from libs.rules.clocks import fires_at, open_deadlines
from libs.rules.evolve import apply
from libs.rules.match import Match
from libs.wire.record import decode
from services.timer.armed import Told
from services.timer.followed import Followed
from tests.support.matches import OPERATOR, Table, play_match


def followed(table: Table) -> Followed:
    found = Followed()
    for record in table.records:
        position = Position(record.last_seq, record.hash)
        found = found.after(position, decode(record.data).events)
    return found


@pytest.mark.parametrize(
    ("rule_set", "seats", "seed"),
    [
        ("opolyx.classic@2", 4, 1),
        ("opolyx.classic@1", 2, 2),
        ("opolyx.speed@2", 6, 3),
        ("opolyx.speed@1", 3, 4),
        ("opolyx.teams@2", 4, 5),
    ],
)
def test_at_each_record_all_that_is_open_is_known(rule_set: str, seats: int, seed: int) -> None:
    table = play_match(rule_set, seats, seed, records_max=1_500)
    match, found = Match(), Followed()
    for record in table.records:
        events = decode(record.data).events
        apply(match, events)
        found = found.after(Position(record.last_seq, record.hash), events)
        expected = [Told(d.deadline_id, fires_at(d)) for d in open_deadlines(match)]
        more = [told for told in found.open() if told not in expected]

        assert [told for told in found.open() if told in expected] == expected
        assert all(told.deadline_id.startswith("debt:") for told in more)
        assert len(more) <= 6


def test_its_position_is_that_of_the_last_record() -> None:
    table = play_match(records_max=5)
    last = table.records[-1]

    assert followed(table).position == Position(last.last_seq, last.hash)


def test_a_frozen_match_has_nothing_to_fire_until_it_is_resumed() -> None:
    """T8."""
    table = play_match(records_max=5)
    before = followed(table).open()
    table.send(c.Freeze("a look", OPERATOR), OPERATOR)
    frozen = followed(table).open()
    table.now += 60_000
    table.send(c.Resume("seen", OPERATOR), OPERATOR)
    resumed = followed(table).open()

    assert before
    assert frozen == []
    assert [d.deadline_id for d in resumed] == [d.deadline_id for d in before]
    assert all(after.fire_ms > told.fire_ms for after, told in zip(resumed, before, strict=True))


def test_a_match_that_is_over_has_nothing_to_fire() -> None:
    table = play_match(records_max=5)
    table.send(c.Abort("enough", OPERATOR), OPERATOR)

    assert table.match.phase == phases.ENDED
    assert followed(table).is_over
    assert followed(table).open() == []
