"""``opolyx diff`` and ``opolyx explain`` of a recorded match."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from libs.rules import events as e
from libs.rules.clocks import decision_deadlines
from libs.rules.state import describe
from libs.scenarios.plain import describe_event
from libs.wire.record import Record, decode
from services.console.app import app
from services.console.diff import changes
from services.console.explain import explain_at
from services.console.folding import state_at
from tests.support.matches import Table


@pytest.fixture(scope="module")
def records(table: Table) -> list[Record]:
    """Return the records of the match that the export is of."""
    return [decode(stored.data) for stored in table.records]


def first(records: list[Record], kind: type[e.Event]) -> tuple[int, Any]:
    """Return the first event of a kind, and its sequence."""
    return next(
        (record.first_seq + place, event)
        for record in records
        for place, event in enumerate(record.events)
        if isinstance(event, kind)
    )


def test_a_purchase_changes_cash_and_owner(
    cli: CliRunner, export: Path, records: list[Record]
) -> None:
    sequence, bought = first(records, e.PropertyBought)

    told = cli.invoke(app, ["diff", str(export), str(sequence - 1), str(sequence), "-o", "json"])

    found = {change["what"]: change for change in json.loads(told.stdout)}
    cash = found[f"seats.{bought.seat}.cash"]
    owner = found[f"properties.{bought.square}.owner"]
    assert told.exit_code == 0
    assert cash["before"] - cash["after"] == bought.price
    assert (owner["before"], owner["after"]) == (None, bought.seat)
    assert (found["sequence"]["before"], found["sequence"]["after"]) == (sequence - 1, sequence)


def test_a_change_taken_back_is_the_same_the_other_way_round(records: list[Record]) -> None:
    early, late = (state_at(records, sequence)[0] for sequence in (100, 400))

    forwards, backwards = changes(early, late), changes(late, early)

    assert sorted(change.path for change in forwards) == sorted(c.path for c in backwards)
    undone = {change.path: (change.after, change.before) for change in backwards}
    assert {change.path: (change.before, change.after) for change in forwards} == undone


def test_a_deadline_that_stays_is_no_change_as_time_goes_by(records: list[Record]) -> None:
    """A state tells how long is left, and that is less after each record."""
    moments = [state_at(records, record.last_seq) for record in records[:200]]
    (before, before_ms), (after, after_ms) = next(
        (earlier, later)
        for earlier, later in pairwise(moments)
        if later[1] > earlier[1]
        and decision_deadlines(later[0]) == decision_deadlines(earlier[0]) != []
    )

    assert "deadline" not in {change.path[0] for change in changes(before, after)}
    assert describe(before, before_ms)["deadline"] != describe(after, after_ms)["deadline"]


def test_freezing_is_a_change(records: list[Record]) -> None:
    match, frozen = (state_at(records, 100)[0] for _ in range(2))
    frozen.frozen_at = 5

    assert [change.path for change in changes(match, frozen)] == [("frozen",)]


def test_people_get_a_table_of_what_changed(cli: CliRunner, export: Path) -> None:
    told = cli.invoke(app, ["diff", str(export), "100", "130"])

    lines = told.stdout.splitlines()
    assert lines[0].endswith(", from sequence 100 to 130")
    assert lines[2].split() == ["what", "before", "after"]
    assert any(line.startswith("seat 0 cash ") for line in lines)
    assert any(line.startswith("deadline due ") and line.endswith(" UTC") for line in lines)


def test_nothing_changes_within_a_moment(cli: CliRunner, export: Path) -> None:
    told = cli.invoke(app, ["diff", str(export), "130", "130"])
    empty = cli.invoke(app, ["diff", str(export), "130", "130", "-o", "ndjson"])

    assert told.stdout.splitlines()[-1] == "nothing changed"
    assert (empty.exit_code, empty.stdout) == (0, "")


def test_every_event_is_explained_as_the_rules_explain_it(
    cli: CliRunner, export: Path, records: list[Record]
) -> None:
    for kind in (e.MatchCreated, e.DiceRolled, e.DebtPaid, e.AuctionClosed, e.MatchEnded):
        sequence, event = first(records, kind)

        told = cli.invoke(app, ["explain", str(export), str(sequence), "-o", "json"])

        explained = json.loads(told.stdout)
        assert told.exit_code == 0
        assert explained["sequence"] == sequence
        assert explained["event"] == json.loads(json.dumps(describe_event(event)))
        assert explained["text"].startswith(f"{explained['rules'][0]}: ")


def test_an_explanation_has_the_numbers_of_the_moment(export: Path, records: list[Record]) -> None:
    sequence, bought = first(records, e.PropertyBought)

    explained = explain_at(export, records, sequence)

    assert explained.event == bought
    assert f"{bought.price:,}" in explained.text or str(bought.price) in explained.text


def test_people_get_the_words_and_a_table(cli: CliRunner, export: Path) -> None:
    told = cli.invoke(app, ["explain", str(export), "1"])

    lines = told.stdout.splitlines()
    assert lines[0].endswith(", event 1: MatchCreated")
    assert lines[1].startswith("SETUP-1: 3 seats")
    assert lines[3].split() == ["what", "value"]
    assert lines[4].split() == ["rules", "SETUP-1,", "FAIR-1"]


@pytest.mark.parametrize("arguments", [["explain"], ["diff", "1"]], ids=lambda given: given[0])
@pytest.mark.parametrize("sequence", ["0", "99999999", "last"])
def test_a_sequence_that_the_match_does_not_have_is_wrong_usage(
    cli: CliRunner, export: Path, arguments: list[str], sequence: str
) -> None:
    command, *rest = arguments

    told = cli.invoke(app, [command, str(export), *rest, sequence])

    assert (told.exit_code, told.stdout) == (2, "")


@pytest.mark.parametrize("arguments", [["explain", "1"], ["diff", "1", "2"]])
def test_no_file_is_not_found(cli: CliRunner, tmp_path: Path, arguments: list[str]) -> None:
    command, *rest = arguments

    assert cli.invoke(app, [command, str(tmp_path / "none"), *rest]).exit_code == 3


@pytest.mark.parametrize("arguments", [["explain", "9"], ["diff", "1", "9"]])
def test_what_is_no_export_is_malformed(
    cli: CliRunner, export: Path, tmp_path: Path, arguments: list[str]
) -> None:
    path = tmp_path / "cut.opolyx"
    path.write_bytes(export.read_bytes()[:-100])
    command, *rest = arguments

    told = cli.invoke(app, [command, str(path), *rest])

    assert (told.exit_code, told.stdout) == (2, "")
    assert str(path) in told.stderr
