"""``opolyx rules`` and ``opolyx board``: everything that the rules count with."""

import json
from dataclasses import asdict, fields

import pytest
from typer.testing import CliRunner

from libs.rules.boards.classic import CLASSIC
from libs.rules.building import redeem_cost
from libs.rules.cards import DECK
from libs.rules.match import Match
from libs.rules.rule_sets import RULE_SETS, RuleSet
from services.console.app import app
from services.console.cards import SENTENCES
from services.console.output import render
from services.console.rules import SWITCHES, spell
from tests.architecture.rule_ids import SPECIFIED


def test_all_rule_sets_are_listed(cli: CliRunner) -> None:
    table = cli.invoke(app, ["rules", "list"])
    listed = cli.invoke(app, ["rules", "list", "-o", "json"])

    assert all(rule_set_id in table.stdout for rule_set_id in RULE_SETS)
    assert [entry["rule_set_id"] for entry in json.loads(listed.stdout)] == list(RULE_SETS)


@pytest.mark.parametrize("rule_set_id", RULE_SETS)
def test_every_switch_and_number_is_shown(cli: CliRunner, rule_set_id: str) -> None:
    table = cli.invoke(app, ["rules", "show", rule_set_id])
    shown = cli.invoke(app, ["rules", "show", rule_set_id, "-o", "json"])

    switches = asdict(RULE_SETS[rule_set_id])
    assert json.loads(shown.stdout) == json.loads(json.dumps(switches))
    assert all(name in table.stdout for name in switches)


def test_every_switch_has_a_name_for_people() -> None:
    names = [field.name for field in fields(RuleSet)]
    missing = [name for name in names if name not in SWITCHES]

    assert not missing, f"name them in SWITCHES, services/console/rules.py: {missing}"
    assert list(SWITCHES) == names, "SWITCHES has the order of RuleSet, and nothing else"


def test_the_rules_that_a_switch_belongs_to_exist() -> None:
    named = [rule for switch in SWITCHES.values() for rule in switch.rules.split(", ")]

    assert [rule for rule in named if rule not in (*SPECIFIED, "-")] == []


@pytest.mark.parametrize(
    ("name", "value", "spelt"),
    [
        ("teams", False, "no"),
        ("third_die_round", 0, "never"),
        ("third_die_round", 7, "7"),
        ("levels_per_turn", 0, "no limit"),
        ("landing_bonus", 0, "0"),
        ("turn_clock_ms", 75_000, "75 s"),
        ("tax_full_bp", 9_900, "99 %"),
        ("redeem_fee_percent", 10, "10 %"),
        ("starting_cash", 15_000, "15,000"),
        ("seats", (4, 6), "4, 6"),
    ],
)
def test_values_are_spelt_for_people(name: str, value: object, spelt: str) -> None:
    assert spell(name, value) == spelt


def test_an_unknown_rule_set_is_not_found(cli: CliRunner) -> None:
    told = cli.invoke(app, ["rules", "show", "opolyx.classic"])

    assert told.exit_code == 3
    assert "opolyx.classic@2" in told.stderr


def test_the_board_shows_forty_squares(cli: CliRunner) -> None:
    table = cli.invoke(app, ["board", "show"])
    shown = json.loads(cli.invoke(app, ["board", "show", "-o", "json"]).stdout)

    assert len(table.stdout.splitlines()) == 1 + 40
    assert [square["square"] for square in shown["squares"]] == list(range(40))
    assert shown["squares"][39] == {
        "square": 39,
        "name": "dark_blue 2",
        "kind": "street",
        "group": "dark_blue",
        "price": 4_000,
        "amount": None,
        "mortgage": 2_000,
        "redeem": 2_200,
        "build_cost": 2_000,
        "rents": [500, 2_000, 6_000, 14_000, 17_000, 20_000],
    }
    assert len(shown["groups"]) == 10


def test_a_tax_is_no_price_and_no_group(cli: CliRunner) -> None:
    squares = json.loads(cli.invoke(app, ["board", "show", "-o", "json"]).stdout)["squares"]

    taxes = {square["square"]: square for square in squares if square["amount"] is not None}
    assert {number: tax["amount"] for number, tax in taxes.items()} == {4: 2_000, 38: 1_000}
    for tax in taxes.values():
        assert (tax["kind"], tax["group"], tax["price"], tax["redeem"]) == ("tax", None, None, None)


@pytest.mark.parametrize("rule_set_id", RULE_SETS)
def test_mortgages_are_shown_as_the_rules_pay_them(cli: CliRunner, rule_set_id: str) -> None:
    match = Match()
    match.rules = RULE_SETS[rule_set_id]
    match.board = CLASSIC

    told = cli.invoke(app, ["board", "show", "--rule-set", rule_set_id, "-o", "json"]).stdout

    owned = [square for square in json.loads(told)["squares"] if square["price"]]
    assert len(owned) == 28
    for square in owned:
        assert square["mortgage"] == CLASSIC.mortgage_value[square["square"]]
        assert square["redeem"] == redeem_cost(match, square["square"])


def test_the_sixteen_cards_are_shown(cli: CliRunner) -> None:
    table = cli.invoke(app, ["cards", "show"]).stdout
    cards = json.loads(cli.invoke(app, ["cards", "show", "-o", "json"]).stdout)

    assert [card["card"] for card in cards] == list(range(1, 17))
    assert all(card["text"] in table for card in cards)
    assert cards[0] == {
        "card": 1,
        "effect": "receive",
        "amount": 1_000,
        "text": "receive 1,000 from the bank",
    }
    assert (cards[7]["amount"], cards[7]["text"]) == (None, "go to jail")
    assert cards[12]["text"] == "go back 3 squares"


def test_every_effect_of_a_card_has_a_sentence() -> None:
    assert [card.effect for card in DECK if card.effect not in SENTENCES] == []


def test_an_unknown_board_is_not_found(cli: CliRunner) -> None:
    assert cli.invoke(app, ["board", "show", "round"]).exit_code == 3
    assert cli.invoke(app, ["board", "show", "--rule-set", "opolyx.go@1"]).exit_code == 3


@pytest.mark.parametrize(
    "value",
    [
        {},
        [],
        None,
        "text",
        {"a": []},
        [[n, n + 1] for n in range(200)],
        {"long": {str(n): {"owner": n, "level": [1, 2]} for n in range(40)}},
        [{"text": "x" * 200}],
        ["é"],
    ],
    ids=str,
)
def test_readable_json_is_json_and_fits_where_it_can(value: object) -> None:
    text = render(value)

    assert json.loads(text) == value
    assert all(len(line) <= 102 or "x" * 200 in line for line in text.splitlines())
