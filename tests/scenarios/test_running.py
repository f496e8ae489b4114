"""Commands, time, draws and expectations of a scenario, played."""

from typing import Any

import pytest

from libs.scenarios.running import Outcome, run
from libs.scenarios.scenario import Script, read_scenario

DICE = [[1, 2], [2, 4], [3, 5], [1, 3]]


def play(
    *steps: dict[str, Any],
    setup: dict[str, Any] | None = None,
    draws: dict[str, Any] | None = None,
    rule_set: str = "opolyx.classic@2",
) -> Outcome:
    """Play a scenario of three seats."""
    return run(
        read_scenario(
            {
                "id": "played",
                "rule_set": rule_set,
                "seats": 3,
                "setup": setup or {},
                "draws": {"dice": DICE} if draws is None else draws,
                "steps": list(steps),
            }
        )
    )


def failures(outcome: Outcome) -> list[str]:
    """Return what is told about an outcome."""
    return [str(failure) for failure in outcome.failures]


def by(seat: int, command: str | dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return the step of a command."""
    return {"seat": seat, "command": command} | more


ROLL = by(0, "roll")


def test_steps_lead_to_a_state_and_leave_what_was_not_drawn() -> None:
    outcome = play(ROLL, by(0, "buy"), {"expect": {"turn": 1, "properties.3.owner": 0}})

    assert outcome.ok
    assert outcome.left == Script(dice=((2, 4), (3, 5), (1, 3)))
    assert [[type(event).__name__ for event in step] for step in outcome.events] == [
        ["DiceRolled", "TokenMoved", "PropertyOffered", "DeadlineSet"],
        ["PropertyBought", "TurnEnded", "TurnStarted", "DeadlineSet"],
        [],
    ]
    assert outcome.state["seats"][0]["cash"] == 14_400


def test_the_seat_of_the_set_up_opens_the_round() -> None:
    """ROUND-1: the round is complete with the turn of the seat before it."""
    setup = {"turn": 1, "round": 7}
    miss = {"wait_s": 75}

    outcome = play(
        miss, {"expect": {"turn": 2, "round": 7}}, miss, miss, {"expect": {"turn": 1, "round": 8}},
        setup=setup,
    )  # fmt: skip

    assert failures(outcome) == []


def test_the_round_goes_past_seats_that_are_out() -> None:
    outcome = play(
        {"wait_s": 150},
        {"expect": {"turn": 2, "round": 2}},
        setup={"turn": 2, "seats": [{}, {"out": True}]},
    )

    assert failures(outcome) == []


def test_seats_that_are_out_went_out_in_the_order_of_their_numbers() -> None:
    """END-3: the last out is placed first among them."""
    steps = [by(0, "surrender"), {"expect": {"winners": [3], "placing": [3, 0, 2, 1]}}]
    document = {
        "id": "out",
        "rule_set": "opolyx.classic@2",
        "seats": 4,
        "setup": {"seats": [{}, {"out": True}, {"out": True}]},
        "steps": steps,
    }

    assert failures(run(read_scenario(document))) == []


# Refusals.


def test_a_refusal_is_expected_by_its_reason_or_whatever_it_is() -> None:
    outcome = play(
        by(1, "roll", refused="NOT_YOUR_TURN"),
        by(1, "roll", refused=True),
        {"expect": {"seats.1.square": 0}, "events_exactly": []},
    )

    assert failures(outcome) == []


@pytest.mark.parametrize(
    ("step", "says"),
    [
        (by(1, "roll"), "roll: expected accepted, found NOT_YOUR_TURN (TURN-1; turn 0)"),
        (by(0, "roll", refused=True), "roll: expected refused, found accepted"),
        (by(0, "roll", refused="MATCH_ENDED"), "roll: expected MATCH_ENDED, found accepted"),
        (by(1, "roll", refused="WRONG_PHASE"), "roll: expected WRONG_PHASE, found NOT_YOUR_TURN"),
    ],
    ids=["refused", "accepted", "accepted for a reason", "another reason"],
)
def test_a_command_that_goes_otherwise_is_a_failure_of_its_step(
    step: dict[str, Any], says: str
) -> None:
    outcome = play({"wait_s": 1}, step)

    assert failures(outcome) == [f"step 2: {says}"]


@pytest.mark.parametrize("seat", [3, 99, -1])
def test_a_seat_that_the_match_does_not_have_is_not_seated(seat: int) -> None:
    assert failures(play(by(seat, "roll", refused="NOT_SEATED"))) == []


@pytest.mark.parametrize(
    "command",
    [
        "build",
        {"build": {}},
        {"build": 3},
        {"build": {"square": "3"}},
        {"build": {"square": 3.0}},
        {"build": {"square": True}},
        {"build": {"square": None}},
        {"build": {"square": 3, "level": 1}},
        {"roll": {"dice": [6, 6]}},
        {"roll": []},
        {"bet_jackpot": {"numbers": 3}},
        {"bet_jackpot": {"numbers": [1, "2"]}},
        {"offer_trade": {"give": {"cash": 1}}},
        {"offer_trade": {"to": 1, "give": 100}},
        {"offer_trade": {"to": 1, "give": {"gold": 1}}},
        {"offer_trade": {"to": 1, "take": {"squares": 1}}},
        {"offer_trade": {"to": 1, "take": {"cash": "all"}}},
        {"accept_trade": {"offer": [1]}},
        {"contribute_seed": {"client_seed": "no hex"}},
        {"contribute_seed": {"client_seed": 12}},
        "contribute_seed",
    ],
    ids=str,
)
def test_fields_that_cannot_be_are_refused_and_no_mistake_of_the_file(command: Any) -> None:
    # Whoever sends it: the request is looked at before the seat.
    steps = [by(seat, command, refused="INVALID_REQUEST") for seat in (0, 9)]

    assert failures(play(*steps)) == []


def test_fields_that_cannot_be_are_told_by_their_path_and_not_by_a_rule() -> None:
    (failure,) = play(by(0, {"build": {"square": "one"}})).failures

    found = 'INVALID_REQUEST (build.square: must be a whole number, not "one")'
    assert (failure.what, failure.expected, failure.found) == ("build", "accepted", found)


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ({"build": {"square": 0}}, "NOT_A_PROPERTY"),
        ({"build": {"square": -1}}, "NOT_A_PROPERTY"),
        ({"build": {"square": 10**30}}, "NOT_A_PROPERTY"),
        ({"choose_bus_move": {"total": 13}}, "WRONG_PHASE"),
        ({"offer_trade": {"to": 1}}, "TRADE_EMPTY"),
        ({"offer_trade": {"to": 1, "give": {"cash": 100}}}, "TRADE_EMPTY"),
        ({"accept_trade": {"offer": 1}}, "OFFER_NOT_FOUND"),
        ({"contribute_seed": {"client_seed": ""}}, "SEED_TOO_LATE"),
        ({"contribute_seed": {"client_seed": "00" * 16}}, "SEED_TOO_LATE"),
        ({"roll": None}, None),
        ({"roll": {}}, None),
    ],
    ids=str,
)
def test_fields_that_could_be_are_for_the_rules_to_judge(command: Any, reason: str | None) -> None:
    step = by(0, command, refused=reason) if reason else by(0, command)

    assert failures(play(step)) == []


# Time.


def test_time_moves_without_a_deadline_on_its_way() -> None:
    outcome = play({"wait_s": 74.5}, {"expect": {"deadline.in_s": 0.5}, "events_exactly": []})

    assert failures(outcome) == []


def test_a_deadline_fires_in_the_moment_that_it_is_reached() -> None:
    outcome = play(
        {"wait_s": 75},
        {"expect": {"turn": 1, "deadline.in_s": 75}, "events": ["DecisionTimedOut", "TurnEnded"]},
    )

    assert failures(outcome) == []


def test_deadlines_fire_each_when_it_is_due_those_that_are_set_on_the_way_too() -> None:
    """Roll, then two turns that pass: the third has 40 of its 75 seconds left."""
    outcome = play({"wait_s": 75 + 75 + 35}, {"expect": {"turn": 2, "deadline.in_s": 40}})

    assert failures(outcome) == []
    assert [event.lateness for event in outcome.events[0] if hasattr(event, "lateness")] == [0, 0]


def test_a_long_wait_ends_a_match_and_goes_on() -> None:
    outcome = play({"wait_s": 100_000}, {"expect": {"phase": "ended", "deadline": None}})

    assert failures(outcome) == []


def test_an_offer_lapses_before_the_roll_and_is_no_decision() -> None:
    trade = {"to": 1, "give": {"cash": 600}, "take": {"squares": [1]}}
    outcome = play(
        {"wait_s": 10},
        by(0, {"offer_trade": trade}),
        {"expect": {"deadline": {"kind": "roll", "in_s": 65}, "offers.0.expires_in_s": 60}},
        {"wait_s": 60},
        {"expect": {"offers": [], "deadline.in_s": 5}, "events_exactly": ["TradeClosed"]},
        setup={"properties": {"1": {"owner": 1}}},
    )

    assert failures(outcome) == []


# Expectations.


@pytest.mark.parametrize(
    ("expected", "says"),
    [
        ({"turn": 1}, "turn: expected 1, found 0"),
        ({"seats.0.out": 0}, "seats.0.out: expected 0, found false"),
        ({"seats.3.cash": 1}, "seats.3.cash: expected 1, found nothing: there is no such path"),
        ({"auction.bid": None}, "auction.bid: expected null, found nothing: there is no such path"),
        ({"": None}, ": expected null, found nothing: there is no such path"),
        (
            {"deadline": {"kind": "roll"}},
            'deadline: expected {"kind": "roll"}, found {"kind": "roll", "in_s": 75}',
        ),
        ({"turn": "0"}, 'turn: expected "0", found 0'),
        ({"phase": "buy"}, "phase: expected buy, found roll"),
        ({"winners": [0]}, "winners: expected [0], found []"),
    ],
    ids=lambda value: value.partition(":")[0] if isinstance(value, str) else "",
)
def test_an_expectation_that_does_not_hold_is_told(expected: dict[str, Any], says: str) -> None:
    assert failures(play({"expect": expected})) == [f"step 1: {says}"]


def test_every_failure_is_told() -> None:
    outcome = play({"expect": {"turn": 1, "round": 2}}, {"expect": {"phase": "buy"}})

    assert [failure.step for failure in outcome.failures] == [1, 1, 2]
    assert not outcome.ok


def test_events_may_have_others_between_them_and_exact_ones_not() -> None:
    everything = ["DiceRolled", "TokenMoved", "PropertyOffered", "DeadlineSet"]

    outcome = play(
        ROLL,
        {"events": ["DiceRolled", "PropertyOffered"]},
        {"events_exactly": everything, "events": everything},
        {"events_exactly": ["DiceRolled", "PropertyOffered"]},
        {"events": ["PropertyOffered", "DiceRolled"]},
        {"events": ["DiceRolled", "DiceRolled"]},
        {"events": ["DiceRolled", "AuctionOpened"]},
    )

    assert [(failure.step, failure.what) for failure in outcome.failures] == [
        (4, "events_exactly"),
        (5, "events"),
        (6, "events"),
        (7, "events"),
    ]


def test_a_refused_command_caused_nothing() -> None:
    outcome = play(ROLL, by(0, "roll", refused=True), {"events": ["DiceRolled"]})

    assert failures(outcome) == ['step 3: events: expected ["DiceRolled"], found []']


# Draws.


@pytest.mark.parametrize(
    ("kind", "draws", "setup", "steps"),
    [
        ("dice", {}, {}, [ROLL]),
        ("third_die", {"dice": [[1, 2]]}, {"round": 7}, [ROLL]),
        (
            "jackpot_die",
            {"dice": [[4, 6]]},
            {"seats": [{"square": 10}]},
            [ROLL, by(0, {"bet_jackpot": {"numbers": [1]}})],
        ),
    ],
)
def test_a_draw_that_is_missing_ends_the_scenario_at_its_step(
    kind: str, draws: dict[str, Any], setup: dict[str, Any], steps: list[dict[str, Any]]
) -> None:
    outcome = play(
        *steps, {"expect": {"turn": 2}}, setup=setup, draws=draws, rule_set="opolyx.speed@2"
    )

    assert failures(outcome) == [
        f"step {len(steps)}: draws.{kind}: expected another one, found none left"
    ]
    assert outcome.ran_out
    assert outcome.state["round"] == setup.get("round", 1)


def test_draws_of_each_kind_are_taken_in_their_order() -> None:
    outcome = play(
        ROLL,
        {"expect": {"roll": [1, 1, "x"], "jump_pending": True}},
        ROLL,
        {"expect": {"roll": [2, 4, 3], "seats.0.square": 11}},
        setup={"round": 7},
        draws={"dice": [[1, 1], [2, 4]], "third_die": ["x", 3, "bus"]},
        rule_set="opolyx.speed@2",
    )

    assert failures(outcome) == []
    assert outcome.left == Script(third_die=(4,))
