"""A set-up is a state that a match can be in, or it is said why it is none."""

import json
from typing import Any

import pytest

from libs.rules.state import describe
from libs.scenarios.draws import ScriptedDraws
from libs.scenarios.files import read_text
from libs.scenarios.reading import MalformedError
from libs.scenarios.setting import START_MS, set_up

CLASSIC_1 = "opolyx.classic@1"
CLASSIC = "opolyx.classic@2"
SPEED = "opolyx.speed@2"
SPEED_1 = "opolyx.speed@1"
TEAMS = "opolyx.teams@2"


def state_of(setup: dict[str, Any], rule_set: str = CLASSIC, seats: int = 3) -> dict[str, Any]:
    """Return the state that a set-up makes."""
    document = {"id": "set-up", "rule_set": rule_set, "seats": seats, "setup": setup, "steps": []}
    scenario = read_text(json.dumps(document))
    match = set_up(scenario, ScriptedDraws(scenario.script, scenario.setup.turn))
    return describe(match, START_MS)


def test_nothing_said_is_the_start_of_a_match() -> None:
    state = state_of({})

    assert (state["round"], state["turn"], state["phase"]) == (1, 0, "roll")
    assert state["deadline"] == {"kind": "roll", "in_s": 75}
    assert [seat["cash"] for seat in state["seats"]] == [15_000] * 3
    assert all(held["owner"] is None for held in state["properties"].values())
    assert (state["next_card"], state["last_card"], state["roll"]) == (1, None, None)


def test_everything_said_is_in_the_state() -> None:
    state = state_of(
        {
            "round": 9,
            "turn": 1,
            "seats": [
                {"cash": 7, "square": 39, "missed_turns": 1},
                {"square": 24},
                {"in_jail": True, "jail_attempts": 2},
            ],
            "properties": {
                "1": {"owner": 1, "level": 1, "built_this_turn": 1},
                "3": {"owner": 1},
                "5": {"owner": 0, "mortgaged": True},
                "15": {"owner": 0, "mortgaged": True, "mortgaged_round": 2},
            },
            "next_card": 16,
            "doubles_in_turn": 2,
            "jump_pending": True,
        },
        SPEED,
    )

    assert (state["round"], state["turn"], state["doubles_in_turn"]) == (9, 1, 2)
    assert state["jump_pending"] is True
    first = state["seats"][0]
    assert (first["cash"], first["square"], first["missed_turns"]) == (7, 39, 1)
    assert first["net_worth"] == 7 + 1_000 + 1_000
    assert state["seats"][2]["square"] == 10
    assert state["seats"][2]["jail_attempts"] == 2
    assert state["properties"]["1"] == {
        "owner": 1,
        "level": 1,
        "mortgaged": False,
        "mortgaged_round": None,
        "built_this_turn": 1,
    }
    assert state["properties"]["5"]["mortgaged_round"] == 9
    assert state["properties"]["15"]["mortgaged_round"] == 2
    assert state["next_card"] == 16


def test_a_seat_that_is_out_has_nothing_and_keeps_its_square() -> None:
    state = state_of({"seats": [{}, {"out": True, "square": 7, "missed_turns": 2}]})

    assert state["seats"][1]["out"] is True
    assert (state["seats"][1]["cash"], state["seats"][1]["square"]) == (0, 7)


def test_the_team_follows_the_seat() -> None:
    """SETUP-4."""
    state = state_of({}, TEAMS, 4)

    assert [seat["team"] for seat in state["seats"]] == [0, 1, 0, 1]


def test_uneven_groups_stand_where_the_rules_build_so() -> None:
    state = state_of({"properties": {"1": {"owner": 0, "level": 5}, "3": {"owner": 0}}}, SPEED)

    assert state["properties"]["1"]["level"] == 5


def test_without_a_limit_any_number_of_levels_may_have_been_built() -> None:
    brown = {"1": {"owner": 0, "level": 5, "built_this_turn": 7}, "3": {"owner": 0}}

    state = state_of({"properties": brown}, SPEED_1)

    assert state["properties"]["1"]["built_this_turn"] == 7


BROWN = {"1": {"owner": 0, "level": 1}, "3": {"owner": 0}}
EXPIRED = {"5": {"owner": 0, "mortgaged": True, "mortgaged_round": 4}}
TWO_OUT = [{}, {"out": True}, {"out": True}]


@pytest.mark.parametrize(
    ("setup", "path"),
    [
        ({"round": 0}, "setup.round"),
        ({"round": 501}, "setup.round"),
        ({"turn": 3}, "setup.turn"),
        ({"turn": -1}, "setup.turn"),
        ({"next_card": 0}, "setup.next_card"),
        ({"next_card": 17}, "setup.next_card"),
        ({"seats": [{}, {}, {}, {}]}, "setup.seats"),
        ({"seats": [{"cash": -1}]}, "setup.seats.0.cash"),
        ({"seats": [{"square": 40}]}, "setup.seats.0.square"),
        ({"seats": [{"square": 30}]}, "setup.seats.0.square"),
        ({"seats": [{"in_jail": True, "square": 9}]}, "setup.seats.0.square"),
        ({"seats": [{"in_jail": True, "jail_attempts": 3}]}, "setup.seats.0.jail_attempts"),
        ({"seats": [{"jail_attempts": 1}]}, "setup.seats.0.jail_attempts"),
        ({"seats": [{"missed_turns": 2}]}, "setup.seats.0.missed_turns"),
        ({"seats": [{}, {"out": True, "cash": 1}]}, "setup.seats.1.cash"),
        ({"seats": [{}, {"out": True, "in_jail": True}]}, "setup.seats.1.in_jail"),
        ({"seats": TWO_OUT}, "setup.seats"),
        ({"seats": [{"out": True}]}, "setup.turn"),
        ({"doubles_in_turn": 3}, "setup.doubles_in_turn"),
        ({"doubles_in_turn": 1, "seats": [{"in_jail": True}]}, "setup.doubles_in_turn"),
        ({"jump_pending": True, "round": 9}, "setup.jump_pending"),
        ({"properties": {"0": {}}}, "setup.properties.0"),
        ({"properties": {"40": {}}}, "setup.properties.40"),
        ({"properties": {"1": {"owner": 3}}}, "setup.properties.1.owner"),
        ({"properties": {"1": {"owner": -1}}}, "setup.properties.1.owner"),
        (
            {"properties": {"1": {"owner": 1}}, "seats": [{}, {"out": True}]},
            "setup.properties.1.owner",
        ),
        ({"properties": {"1": {"level": 1}}}, "setup.properties.1.level"),
        ({"properties": {"1": {"mortgaged": True}}}, "setup.properties.1.mortgaged"),
        ({"properties": {"1": {"owner": 0, "level": 1}}}, "setup.properties.1.level"),
        ({"properties": BROWN | {"3": {"owner": 1}}}, "setup.properties.1.level"),
        (
            {"properties": BROWN | {"3": {"owner": 0, "mortgaged": True}}},
            "setup.properties.1.level",
        ),
        ({"properties": BROWN | {"1": {"owner": 0, "level": 2}}}, "setup.properties.1.level"),
        ({"properties": BROWN | {"1": {"owner": 0, "level": 6}}}, "setup.properties.1.level"),
        ({"properties": {"5": {"owner": 0, "level": 1}}}, "setup.properties.5.level"),
        (
            {"properties": {"1": {"owner": 0, "mortgaged_round": 1}}},
            "setup.properties.1.mortgaged_round",
        ),
        (
            {"properties": {"1": {"owner": 0, "mortgaged": True, "mortgaged_round": 2}}},
            "setup.properties.1.mortgaged_round",
        ),
        (
            {"properties": {"1": {"owner": 0, "mortgaged": True, "mortgaged_round": 0}}},
            "setup.properties.1.mortgaged_round",
        ),
        (
            {"properties": {"5": {"owner": 0, "built_this_turn": 1}}},
            "setup.properties.5.built_this_turn",
        ),
        (
            {"properties": {"1": {"owner": 0, "built_this_turn": 2}}},
            "setup.properties.1.built_this_turn",
        ),
        (
            {"turn": 1, "properties": BROWN | {"1": BROWN["1"] | {"built_this_turn": 1}}},
            "setup.properties.1.built_this_turn",
        ),
        ({"cards": {"3": {"39": "rare"}}}, "setup.cards.3"),
        ({"cards": {"0": {"38": "rare"}}}, "setup.cards.0.38"),
        ({"cards": {"0": {"39": "golden"}}}, "setup.cards.0.39"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_no_match_stands_so(setup: dict[str, Any], path: str) -> None:
    with pytest.raises(MalformedError) as malformed:
        state_of(setup)

    assert malformed.value.path == path


@pytest.mark.parametrize(
    ("setup", "rule_set", "seats", "path"),
    [
        ({}, "opolyx.classic@9", 2, "rule_set"),
        ({}, CLASSIC, 1, "seats"),
        ({}, CLASSIC, 7, "seats"),
        ({}, TEAMS, 5, "seats"),
        ({"seats": [{}, {"out": True}, {}, {"out": True}]}, TEAMS, 4, "setup.seats"),
        ({"round": 301}, SPEED, 2, "setup.round"),
        ({"round": 15, "properties": EXPIRED}, SPEED, 2, "setup.properties.5.mortgaged_round"),
        ({"round": 6, "jump_pending": True}, SPEED, 2, "setup.jump_pending"),
        (
            {"round": 7, "jump_pending": True, "seats": [{"in_jail": True}]},
            SPEED,
            2,
            "setup.jump_pending",
        ),
        ({"seats": [{"missed_turns": 3}]}, CLASSIC_1, 2, "setup.seats.0.missed_turns"),
    ],
)
def test_no_match_of_these_rules_stands_so(
    setup: dict[str, Any], rule_set: str, seats: int, path: str
) -> None:
    with pytest.raises(MalformedError) as malformed:
        state_of(setup, rule_set, seats)

    assert malformed.value.path == path


def test_a_mortgage_stands_to_the_end_of_its_last_round() -> None:
    """MORT-3."""
    state = state_of({"round": 14, "properties": EXPIRED}, SPEED)

    assert state["properties"]["5"]["mortgaged_round"] == 4
