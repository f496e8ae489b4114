"""``opolyx scenario``: files played, and files written from matches."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from libs.scenarios.capture import Capture
from services.console.app import app
from tests.support.matches import Table


def scenario(*steps: dict[str, Any], name: str = "played", **more: Any) -> dict[str, Any]:
    """Return a scenario of two seats."""
    return {
        "id": name,
        "rule_set": "opolyx.classic@2",
        "seats": 2,
        "draws": {"dice": [[1, 2], [2, 3]]},
        "steps": list(steps),
    } | more


ROLL = {"seat": 0, "command": "roll"}
GOOD = scenario(ROLL, {"expect": {"seats.0.square": 3}}, name="good")
BAD = scenario(ROLL, {"expect": {"seats.0.square": 4, "seats.9.cash": 1}}, name="bad")
WRONG = scenario(name="wrong", setup={"turn": 2})
SHORT = scenario(ROLL, name="short", draws={})


@pytest.fixture
def write(tmp_path: Path) -> Any:
    """Return what writes scenarios to files and names them."""

    def write_all(*scenarios: dict[str, Any]) -> list[str]:
        paths = []
        for document in scenarios:
            path = tmp_path / f"{document['id']}.json"
            path.write_text(json.dumps(document))
            paths.append(str(path))
        return paths

    return write_all


@pytest.mark.parametrize(
    ("step", "where"),
    [
        ({"events": ["DiceThrown"]}, 'steps.0.events.0: no event is called "DiceThrown"'),
        (ROLL | {"refused": "SO_THERE"}, 'steps.0.refused: no reason is called "SO_THERE"'),
    ],
    ids=["an event", "a reason"],
)
def test_a_misspelt_name_makes_the_file_wrong(
    cli: CliRunner, write: Any, step: dict[str, Any], where: str
) -> None:
    (path,) = write(scenario(step))

    told = cli.invoke(app, ["scenario", path])

    assert told.exit_code == 2
    assert told.stderr == f"{path}: {where}\n"


@pytest.mark.parametrize(
    ("scenarios", "code"),
    [([GOOD], 0), ([GOOD, BAD], 1), ([BAD, WRONG], 2), ([WRONG, GOOD], 2), ([SHORT], 2)],
    ids=["well", "failed", "wrong", "wrong first", "too few draws"],
)
def test_the_exit_code_is_that_of_the_worst_file(
    cli: CliRunner, write: Any, scenarios: list[dict[str, Any]], code: int
) -> None:
    assert cli.invoke(app, ["scenario", *write(*scenarios)]).exit_code == code


def test_a_file_that_does_not_exist_is_not_found(cli: CliRunner, write: Any) -> None:
    told = cli.invoke(app, ["scenario", *write(GOOD), "nowhere.json"])

    assert told.exit_code == 3
    assert "nowhere.json: there is no such file" in told.stderr


def test_nothing_in_a_file_or_its_name_steers_the_terminal(cli: CliRunner, tmp_path: Path) -> None:
    path = tmp_path / "red\x1b[31m\udcff.json"
    path.write_text(json.dumps(scenario({"expect": {"a\x9b": "\x7f"}}, name="one\ntwo\x1b[2J")))

    table = cli.invoke(app, ["scenario", str(path)])
    in_json = cli.invoke(app, ["scenario", "-o", "json", str(path)])
    path.write_text("{")
    wrong = cli.invoke(app, ["scenario", str(path)])

    assert (table.exit_code, wrong.exit_code) == (1, 2)
    assert table.stdout.startswith(r"FAILED  one\ntwo\u001b[2J")
    assert r"step 1: a\u009b: expected \u007f" in table.stdout
    assert r"red\u001b[31m\udcff.json: no JSON" in wrong.stderr
    for line in (table.stdout + in_json.stdout + wrong.stderr).splitlines():
        assert line.isprintable()
    (played,) = json.loads(in_json.stdout)
    assert (played["file"], played["id"]) == (str(path), "one\ntwo\x1b[2J")


def test_failures_are_told_by_step(cli: CliRunner, write: Any) -> None:
    told = cli.invoke(app, ["scenario", *write(GOOD, BAD)])

    assert told.stdout.splitlines() == [
        "ok      good",
        "        draws left over: 1 of dice",
        "FAILED  bad",
        "        step 2: seats.0.square: expected 4, found 3",
        "        step 2: seats.9.cash: expected 1, found nothing: there is no such path",
        "        draws left over: 1 of dice",
    ]


def test_what_is_wrong_in_a_file_is_told_by_its_path(cli: CliRunner, write: Any) -> None:
    (path,) = write(WRONG)

    told = cli.invoke(app, ["scenario", path])

    assert told.stderr == f"{path}: setup.turn: must be 0 to 1, and is 2\n"
    assert told.stdout == ""


def test_json_has_every_steps_events_and_the_state(cli: CliRunner, write: Any) -> None:
    told = cli.invoke(app, ["scenario", "-o", "json", *write(GOOD, BAD, WRONG)])

    good, bad, wrong = json.loads(told.stdout)
    assert (good["id"], good["ok"], good["failures"]) == ("good", True, [])
    assert [event["type"] for event in good["steps"][0]["events"]] == [
        "DiceRolled",
        "TokenMoved",
        "PropertyOffered",
        "DeadlineSet",
    ]
    assert good["steps"][0]["events"][1] == {
        "type": "TokenMoved",
        "seat": 0,
        "from": 0,
        "to": 3,
        "how": "roll",
    }
    assert good["steps"][1] == {"step": 2, "events": []}
    assert good["draws_left"] == {"dice": [[2, 3]], "third_die": [], "jackpot_die": []}
    assert good["state"]["phase"] == "buy"
    assert bad["failures"] == [
        {
            "step": 2,
            "what": "seats.0.square",
            "expected": 4,
            "found": 3,
            "text": "step 2: seats.0.square: expected 4, found 3",
        },
        {
            "step": 2,
            "what": "seats.9.cash",
            "expected": 1,
            "found": None,
            "text": "step 2: seats.9.cash: expected 1, found nothing: there is no such path",
        },
    ]
    assert (wrong["ok"], wrong["error"]) == (False, "setup.turn: must be 0 to 1, and is 2")


def test_every_event_of_a_match_is_json(cli: CliRunner, write: Any) -> None:
    document = scenario({"wait_s": 1_000}, {"expect": {"phase": "ended"}})

    told = cli.invoke(app, ["scenario", "-o", "json", *write(document)])

    (ended,) = json.loads(told.stdout)
    assert ended["ok"]
    assert ended["steps"][0]["events"][-1] == {"type": "SeedRevealed", "seed": "00" * 32}


@pytest.mark.parametrize(
    "arguments",
    [[], ["--at", "7"], ["some.json", "--at", "7"], ["some.json", "--from", "match.opolyx"]],
)
def test_files_and_a_match_do_not_go_together(cli: CliRunner, arguments: list[str]) -> None:
    assert cli.invoke(app, ["scenario", *arguments]).exit_code == 2


def test_a_scenario_of_a_match_passes_when_it_is_played(
    cli: CliRunner, export: Path, table: Table, tmp_path: Path
) -> None:
    middle = table.chain.last_seq // 2
    captured = tmp_path / "captured.json"

    written = cli.invoke(app, ["scenario", "--from", str(export), "--at", str(middle)])
    captured.write_text(written.stdout)
    played = cli.invoke(app, ["scenario", "-o", "json", str(captured)])
    replayed = cli.invoke(app, ["replay", str(export), "--at", str(middle), "-o", "json"])

    assert written.exit_code == 0
    assert written.stderr.startswith("set up at sequence ")
    (outcome,) = json.loads(played.stdout)
    assert outcome["ok"], outcome["failures"]
    assert outcome["draws_left"]["dice"]
    assert f"lead to {middle}" not in written.stderr or (
        outcome["state"]["seats"] == json.loads(replayed.stdout)["seats"]
    )


def test_a_set_up_within_a_round_is_said_to_be_one(
    cli: CliRunner, export: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    within = Capture({"id": "within"}, setup_sequence=7, end_sequence=9, opens_round=False)
    monkeypatch.setattr("services.console.capturing.capture", lambda _records, _at: within)

    written = cli.invoke(app, ["scenario", "--from", str(export), "--at", "9"])

    assert written.exit_code == 0
    assert "it begins within a round" in written.stderr
    assert json.loads(written.stdout) == {"id": "within"}


def test_the_last_state_is_the_one_that_is_meant_if_none_is_named(
    cli: CliRunner, export: Path, table: Table
) -> None:
    written = cli.invoke(app, ["scenario", "--from", str(export)])

    assert f"steps lead to {table.chain.last_seq}" in written.stderr
    assert json.loads(written.stdout)["steps"][-1]["expect"]["phase"] == "ended"


@pytest.mark.parametrize(
    ("sequence", "code"), [("0", 2), ("-1", 2), ("1", 1), ("9999999", 2), ("x", 2)]
)
def test_a_sequence_that_leads_nowhere_is_told(
    cli: CliRunner, export: Path, sequence: str, code: int
) -> None:
    told = cli.invoke(app, ["scenario", "--from", str(export), "--at", sequence])

    assert told.exit_code == code
    assert told.stdout == ""


def test_a_match_that_does_not_exist_is_not_found(cli: CliRunner) -> None:
    assert cli.invoke(app, ["scenario", "--from", "nowhere.opolyx"]).exit_code == 3
