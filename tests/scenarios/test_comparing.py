"""What stands at a path of a state, and whether it is what was expected."""

import pytest

from libs.scenarios.comparing import ABSENT, is_in_order, is_same, look_up


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("a", {"b": [1, {"c": None}]}),
        ("a.b.0", 1),
        ("a.b.1.c", None),
        ("a.b.2", ABSENT),
        ("a.b.-1", ABSENT),
        ("a.b.00", ABSENT),
        ("a.b.0.c", ABSENT),
        ("a.c", ABSENT),
        ("a.", ABSENT),
    ],
)
def test_a_path_leads_to_one_value_or_nowhere(path: str, found: object) -> None:
    assert look_up({"a": {"b": [1, {"c": None}]}}, path) == found


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (1, 1, True),
        (1, 1.0, True),
        (1, True, False),
        (False, 0, False),
        (None, 0, False),
        ("1", 1, False),
        ([1, 2], [1, 2], True),
        ([1, 2], [2, 1], False),
        ([1], [1, 2], False),
        ([1], [True], False),
        ({"a": 1}, {"a": 1}, True),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ({}, [], False),
    ],
)
def test_values_are_compared_as_json_has_them(one: object, other: object, same: bool) -> None:  # noqa: FBT001 - a table
    assert is_same(one, other) is same
    assert is_same(other, one) is same


def test_the_empty_list_is_in_any_order() -> None:
    assert is_in_order([], [])
    assert is_in_order([], ["a"])
    assert not is_in_order(["a"], [])
