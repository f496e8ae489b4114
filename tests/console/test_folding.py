"""Exports that verify without a key, and hold what no engine records."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from libs.rules import events as e
from libs.wire.chain import Chain
from libs.wire.export import write_export
from libs.wire.record import StoredRecord, decode
from services.console.app import app
from tests.console.conftest import KEY
from tests.support.matches import Table

FORGERIES: dict[str, tuple[type[Any], dict[str, Any], str]] = {
    "a rule set": (e.MatchCreated, {"rule_set": "speed\x1b[2J"}, "rule set, 'speed\\x1b[2J'"),
    "a seat": (e.TokenMoved, {"seat": 200}, "(TokenMoved) does not fit"),
    "a square": (e.TokenMoved, {"target": 77}, "(TokenMoved) leads to square 77"),
    "a card": (e.CardDrawn, {"card": 77}, "(CardDrawn) leads to card 77"),
    "a turn": (e.TurnStarted, {"seat": 3}, "(TurnStarted) does not fit"),
    "a debt": (e.DebtPaid, {"debt": 9999}, "(DebtPaid) does not fit"),
    "a corner": (e.PropertyBought, {"square": 10}, "properties are owned"),
    "a price": (e.PropertyBought, {"price": 999_999}, "below zero"),
}


@pytest.mark.parametrize("command", [["replay"], ["scenario", "--from"]], ids=["replay", "from"])
@pytest.mark.parametrize("forgery", FORGERIES)
def test_what_does_not_fit_is_named(
    cli: CliRunner, table: Table, tmp_path: Path, command: list[str], forgery: str
) -> None:
    kind, changes, reason = FORGERIES[forgery]
    path = tmp_path / "forged.opolyx"
    number = _forge(table, path, kind, changes)

    told = cli.invoke(app, [*command, str(path)])

    assert cli.invoke(app, ["verify", str(path)]).exit_code == 0
    assert told.exit_code == 2
    assert told.stdout == ""
    assert len(told.stderr.splitlines()) == 1
    assert told.stderr.startswith(f"{path}: line {number + 1}, record {number}")
    assert reason in told.stderr


def _forge(table: Table, path: Path, kind: type[Any], changes: dict[str, Any]) -> int:
    """Write the match with the first event of a kind changed; return the number of its record."""
    chain = Chain(table.chain.match_id)
    written: list[StoredRecord] = []
    found = 0
    for number, record in enumerate((decode(stored.data) for stored in table.records), start=1):
        events: list[Any] = list(record.events)
        for index, event in enumerate(events):
            if not found and isinstance(event, kind):
                found, events[index] = number, replace(event, **changes)
        written.append(chain.join(record.command_id, record.actor, record.at_ms, events))
    assert found, f"the match has a {kind.__name__}"
    head = KEY.sign(chain.match_id, chain.last_seq, chain.last_hash, ended=True)
    path.write_bytes(write_export(chain.match_id, written, head))
    return found
