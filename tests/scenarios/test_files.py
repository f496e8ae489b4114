"""What may stand in a scenario file, and what is told about one that is none."""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from libs.scenarios.files import read_file, read_text
from libs.scenarios.reading import MalformedError
from libs.scenarios.running import run
from libs.scenarios.scenario import Act, Expect, PropertySetup, SeatSetup, Wait
from tests.support.repository import ROOT

LEAST: Final[dict[str, Any]] = {
    "id": "least",
    "rule_set": "opolyx.classic@2",
    "seats": 2,
    "steps": [],
}


def test_a_file_in_full_is_read() -> None:
    scenario = read_text(
        json.dumps(
            LEAST
            | {
                "rules": ["RENT-1"],
                "setup": {
                    "round": 5,
                    "turn": 1,
                    "seats": [{"cash": 9000}, {"in_jail": True, "jail_attempts": 2}],
                    "properties": {"1": {"owner": 0, "level": 1}, "3": {"owner": None}},
                    "next_card": 7,
                    "cards": {"0": {"39": "legendary"}},
                },
                "draws": {"dice": [[1, 6]], "third_die": [3, "bus", "x"], "jackpot_die": [4]},
                "steps": [
                    {"seat": 1, "command": "roll"},
                    {"seat": 1, "command": {"build": {"square": 3}}, "refused": "NOT_OWNER"},
                    {"wait_s": 7.5},
                    {"expect": {"round": 5}, "events": ["DiceRolled"]},
                    {"events_exactly": []},
                ],
            }
        )
    )

    assert scenario.setup.seats == (
        SeatSetup(cash=9000),
        SeatSetup(in_jail=True, jail_attempts=2),
    )
    assert scenario.setup.properties == {1: PropertySetup(owner=0, level=1), 3: PropertySetup()}
    assert scenario.setup.cards == {0: {39: "legendary"}}
    assert scenario.script.third_die == (3, 4, 5)
    assert scenario.steps == (
        Act(1, "roll", {}, None),
        Act(1, "build", {"square": 3}, "NOT_OWNER"),
        Wait(7_500),
        Expect({"round": 5}, ("DiceRolled",), None),
        Expect({}, None, ()),
    )


def test_yaml_is_read_alike(tmp_path: Path) -> None:
    in_yaml = tmp_path / "rent.yaml"
    in_yaml.write_text(
        "id: rent\n"
        "rule_set: opolyx.classic@2\n"
        "seats: 2\n"
        "setup:\n  properties:\n    1: {owner: 0}\n  cards: {0: {39: rare}}\n"
        "draws: {dice: [[1, 2]], third_die: [bus, x]}\n"
        "steps:\n  - {seat: 0, command: roll}\n  - expect: {properties.1.owner: 0}\n"
    )
    in_json = tmp_path / "rent.json"
    in_json.write_text(
        json.dumps(
            LEAST
            | {
                "id": "rent",
                "setup": {"properties": {"1": {"owner": 0}}, "cards": {"0": {"39": "rare"}}},
                "draws": {"dice": [[1, 2]], "third_die": ["bus", "x"]},
                "steps": [
                    {"seat": 0, "command": "roll"},
                    {"expect": {"properties.1.owner": 0}},
                ],
            }
        )
    )

    assert read_file(in_yaml) == read_file(in_json)


@pytest.mark.parametrize(
    ("changed", "path"),
    [
        ({"name": "x"}, "name"),
        ({"id": ""}, "id"),
        ({"rules": "RENT-1"}, "rules"),
        ({"rules": [1]}, "rules.0"),
        ({"seats": "two"}, "seats"),
        ({"seats": True}, "seats"),
        ({"seats": 2.0}, "seats"),
        ({"setup": []}, "setup"),
        ({"setup": {"rounds": 2}}, "setup.rounds"),
        ({"setup": {"last_card": 3}}, "setup.last_card"),
        ({"setup": {"seats": {"0": {}}}}, "setup.seats"),
        ({"setup": {"seats": [{}, {"team": 1}]}}, "setup.seats.1.team"),
        ({"setup": {"seats": [{"out": 1}]}}, "setup.seats.0.out"),
        ({"setup": {"properties": {"one": {}}}}, "setup.properties.one"),
        ({"setup": {"properties": {"01": {}}}}, "setup.properties.01"),
        ({"setup": {"properties": {"1": {"levels": 2}}}}, "setup.properties.1.levels"),
        ({"setup": {"properties": {"1": {"mortgaged": 2}}}}, "setup.properties.1.mortgaged"),
        ({"setup": {"cards": {"0": {"x": "rare"}}}}, "setup.cards.0.x"),
        ({"setup": {"cards": {"0": ["rare"]}}}, "setup.cards.0"),
        ({"setup": {"jump_pending": 0}}, "setup.jump_pending"),
        ({"draws": {"die": []}}, "draws.die"),
        ({"draws": {"dice": [[1, 7]]}}, "draws.dice.0.1"),
        ({"draws": {"dice": [[1, 2, 3]]}}, "draws.dice.0"),
        ({"draws": {"dice": [5]}}, "draws.dice.0"),
        ({"draws": {"third_die": [4]}}, "draws.third_die.0"),
        ({"draws": {"third_die": [True]}}, "draws.third_die.0"),
        ({"draws": {"jackpot_die": [0]}}, "draws.jackpot_die.0"),
        ({"steps": {}}, "steps"),
        ({"steps": [{}]}, "steps.0"),
        ({"steps": ["roll"]}, "steps.0"),
        ({"steps": [{"say": 1}]}, "steps.0.say"),
        ({"steps": [{"command": "roll"}]}, "steps.0.seat"),
        ({"steps": [{"seat": 0}]}, "steps.0.command"),
        ({"steps": [{"seat": "0", "command": "roll"}]}, "steps.0.seat"),
        ({"steps": [{"seat": 0, "command": "jump"}]}, "steps.0.command"),
        ({"steps": [{"seat": 0, "command": {"jump": {}}}]}, "steps.0.command"),
        ({"steps": [{"seat": 0, "command": {"buy": {}, "roll": {}}}]}, "steps.0.command"),
        ({"steps": [{"seat": 0, "command": 7}]}, "steps.0.command"),
        ({"steps": [{"seat": 0, "command": "roll", "refused": False}]}, "steps.0.refused"),
        ({"steps": [{"seat": 0, "command": "roll", "expect": {}}]}, "steps.0.expect"),
        ({"steps": [{"wait_s": 1, "expect": {}}]}, "steps.0.expect"),
        ({"steps": [{"wait_s": -1}]}, "steps.0.wait_s"),
        ({"steps": [{"wait_s": "1"}]}, "steps.0.wait_s"),
        ({"steps": [{"wait_s": 0.0001}]}, "steps.0.wait_s"),
        ({"steps": [{"wait_s": 1e300}]}, "steps.0.wait_s"),
        ({"steps": [{"expect": []}]}, "steps.0.expect"),
        ({"steps": [{"events": "DiceRolled"}]}, "steps.0.events"),
        ({"steps": [{"events_exactly": [1]}]}, "steps.0.events_exactly.0"),
        ({"steps": [{"events": ["DiceRolled", "DiceThrown"]}]}, "steps.0.events.1"),
        ({"steps": [{"events_exactly": ["dice_rolled"]}]}, "steps.0.events_exactly.0"),
        ({"steps": [{"seat": 0, "command": "roll", "refused": "WHY"}]}, "steps.0.refused"),
        ({"steps": [{"seat": 0, "command": "roll", "refused": ""}]}, "steps.0.refused"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_is_named_by_its_path(changed: dict[str, Any], path: str) -> None:
    with pytest.raises(MalformedError) as malformed:
        read_text(json.dumps(LEAST | changed))

    assert malformed.value.path == path
    assert str(malformed.value).startswith(f"{path}: ")


@pytest.mark.parametrize("key", ["id", "rule_set", "seats", "steps"])
def test_what_every_scenario_has_is_missed(key: str) -> None:
    given = {name: value for name, value in LEAST.items() if name != key}

    with pytest.raises(MalformedError, match=f"^{key}: is missing$"):
        read_text(json.dumps(given))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no JSON"),
        ("{'id': 1}", "line 1, column 2"),
        ("[]", "must be an object, not a list"),
        ('{"id": "a", "id": "b"}', 'the key "id" stands twice'),
        ('{"seats": NaN}', "NaN is no number"),
        ("[" * 100_000, "nested too deeply"),
        ('{"seats": ' + "1" * 5_000 + "}", "a number is too long"),
        ('{"seats": 9223372036854775808}', "seats: a number is too long"),
        ('{"steps": [{"wait_s": 1e999}]}', "steps.0.wait_s: inf is no number"),
        ("[" * 60 + "]" * 60, "nested too deeply"),
        (r'{"id": "\ud800"}', "id: a text has half a surrogate pair"),
        (r'{"steps": [{"expect": {"\udfff": 1}}]}', "steps.0.expect: a text has half"),
        (" " * 1_000_001, "longer than 1000000 characters"),
    ],
    ids=[
        "empty",
        "quotes",
        "a list",
        "a key twice",
        "no number",
        "deep",
        "long",
        "beyond 64 bits",
        "infinite",
        "deeper than needed",
        "half a character",
        "half a character in a key",
        "a long file",
    ],
)
def test_what_is_no_json_is_said_to_be_none(text: str, says: str) -> None:
    with pytest.raises(MalformedError, match=says):
        read_text(text)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("id: [", "no YAML"),
        ("id: a\nid: b", 'the key "id" stands twice'),
        ("true: 1", "neither a text nor a number"),
        ("id: !!python/object:os.system x", "no YAML"),
        ("id: 2020-99-99", "no YAML"),
        ("id: !!bool abc", "no YAML: a value is none of its kind"),
        ('id: !!int ""', "no YAML: a value is none of its kind"),
        ('id: !!float ""', "no YAML: a value is none of its kind"),
        ("id: !!timestamp abc", "no YAML: a value is none of its kind"),
        ("id: !!map abc", "no YAML: a value is none of its kind"),
        (r'id: "\UFFFFFFFF"', "no YAML: a value is none of its kind"),
        (f"seats: 0x{'f' * 6_000}", "seats: a number is too long"),
        ("? 0x" + "f" * 6_000 + "\n: 1", "no YAML"),
        ("? [1]\n: 1", "a list as key is neither a text nor a number"),
        ("steps: [{expect: {round: 2001-01-01}}]", "steps.0.expect.round: JSON knows no date"),
        ("steps: [{expect: {round: !!binary aGVsbG8=}}]", "JSON knows no bytes"),
        ("steps: [{expect: {round: !!set {a, b}}}]", "JSON knows no set"),
        ("steps: [{expect: {round: !!omap [a: 1]}}]", "JSON knows no tuple"),
        ("steps: [{expect: {round: .nan}}]", "nan is no number"),
        ("steps: [{wait_s: .inf}]", "inf is no number"),
        ("steps: " + "[" * 3_000, "nested too deeply"),
        ("rules: &a [x, x]\nsteps: [*a, *a]", "an alias"),
        ("steps: [{expect: {debts: &a [*a]}}]", "an alias"),
    ],
    ids=lambda value: value[:30],
)
def test_what_is_no_yaml_is_said_to_be_none(text: str, says: str) -> None:
    with pytest.raises(MalformedError, match=says):
        read_text(text, is_yaml=True)


def test_a_file_that_is_no_text_is_malformed(tmp_path: Path) -> None:
    path = tmp_path / "binary.json"
    path.write_bytes(b"\xff\xfe\x00")

    with pytest.raises(MalformedError, match="UTF-8"):
        read_file(path)


def test_a_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    path = tmp_path / "marked.json"
    path.write_text(json.dumps(LEAST), encoding="utf-8-sig")

    assert read_file(path).scenario_id == "least"


def test_the_example_of_the_guide_is_one() -> None:
    guide = (ROOT / "libs/scenarios/README.md").read_text(encoding="utf-8")
    example = guide.partition("```json\n")[2].partition("```")[0]

    assert run(read_text(example)).ok
