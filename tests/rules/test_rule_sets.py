"""Every switch and number of the five rule sets, written out (section 1 of the rules)."""

from typing import Final

import pytest

from libs.rules.rule_sets import RULE_SETS, UnknownRuleSetError, rule_set

SETS: Final = (
    "opolyx.classic@1",
    "opolyx.speed@1",
    "opolyx.classic@2",
    "opolyx.speed@2",
    "opolyx.teams@2",
)
ALL_SEATS: Final = (2, 3, 4, 5, 6)

PARAMETERS: Final = {
    # classic@1, speed@1, classic@2, speed@2, teams@2
    "starting_cash": (15_000, 15_000, 15_000, 15_000, 15_000),
    "salary": (2_000, 2_000, 2_000, 2_000, 2_000),
    "landing_bonus": (0, 0, 1_000, 1_000, 1_000),
    "round_cap": (500, 300, 500, 300, 500),
    "tax_first_round": (100, 40, 100, 40, 100),
    "tax_full_round": (200, 100, 200, 100, 200),
    "tax_first_bp": (100, 100, 100, 100, 100),
    "tax_full_bp": (9_900, 9_900, 9_900, 9_900, 9_900),
    "even_building": (True, False, True, False, True),
    "levels_per_turn": (1, 0, 1, 1, 1),
    "mortgage_expiry_rounds": (0, 10, 0, 10, 0),
    "redeem_fee_percent": (10, 10, 10, 10, 10),
    "third_die_round": (0, 7, 0, 7, 0),
    "jump_to_nearest_of_either": (False, False, False, False, False),
    "turn_clock_ms": (75_000, 45_000, 75_000, 45_000, 75_000),
    "payment_pause_ms": (75_000, 75_000, 75_000, 75_000, 75_000),
    "bid_clock_ms": (10_000, 10_000, 10_000, 10_000, 10_000),
    "decision_least_ms": (10_000, 10_000, 10_000, 10_000, 10_000),
    "seeding_ms": (5_000, 5_000, 5_000, 5_000, 5_000),
    "missed_turns_limit": (3, 3, 2, 2, 2),
    "any_action_forgives": (True, True, False, False, False),
    "auction_step": (100, 100, 100, 100, 100),
    "jackpot": (False, False, True, True, True),
    "jackpot_stake": (1_000, 1_000, 1_000, 1_000, 1_000),
    "manage_all_turn": (True, True, False, False, False),
    "bail_before_roll": (True, True, False, False, False),
    "bail": (500, 500, 500, 500, 500),
    "jail_attempts": (3, 3, 3, 3, 3),
    "open_offers": (1, 1, 3, 3, 3),
    "offer_ms": (60_000, 60_000, 60_000, 60_000, 60_000),
    "fair_share_percent": (50, 50, 50, 50, 50),
    "cards_raise_rent": (False, False, True, True, True),
    "every_seat_earns": (False, False, True, True, True),
    "seats": (ALL_SEATS, ALL_SEATS, ALL_SEATS, ALL_SEATS, (4, 6)),
    "teams": (False, False, False, False, True),
    "board_id": ("classic", "classic", "classic", "classic", "classic"),
    "rule_set_id": SETS,
}
"""An entry is a name and its value by rule set; a switch that is not here fails a test."""


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_parameter_is_as_the_guides_say(name: str) -> None:
    values = tuple(getattr(rule_set(rule_set_id), name) for rule_set_id in SETS)

    assert values == PARAMETERS[name]


def test_the_five_rule_sets_are_all_there_are() -> None:
    assert tuple(RULE_SETS) == SETS


@pytest.mark.parametrize("rule_set_id", SETS)
def test_no_switch_of_a_rule_set_is_left_out_of_the_table(rule_set_id: str) -> None:
    assert set(rule_set(rule_set_id).__dataclass_fields__) == set(PARAMETERS)


def test_a_released_rule_set_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        rule_set(SETS[0]).salary = 1  # type: ignore[misc]


def test_an_unknown_rule_set_is_named() -> None:
    with pytest.raises(UnknownRuleSetError, match=r"opolyx\.classic@9"):
        rule_set("opolyx.classic@9")
