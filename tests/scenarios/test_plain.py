"""Events in JSON have the names of the vocabulary."""

import json
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libs.rules import events as e
from libs.scenarios.plain import describe_event
from tests.support.events import instances


@pytest.mark.parametrize(
    ("event", "told"),
    [
        (e.TokenMoved(1, 38, 3, "roll"), {"seat": 1, "from": 38, "to": 3, "how": "roll"}),
        (e.PropertyReleased(5, 2, "bankrupt"), {"square": 5, "from": 2, "why": "bankrupt"}),
        (
            e.CashReceived(0, 1_000, e.BANK, "card"),
            {"seat": 0, "amount": 1_000, "from": "bank", "why": "card"},
        ),
        (e.CashCollected(2, 0, 250, 6), {"from": 2, "to": 0, "amount": 250, "card": 6}),
        (e.AuctionClosed(5, e.NOBODY, 0), {"square": 5, "winner": None, "amount": 0}),
        (
            e.DiceRolled(0, 4, 4, e.BUS, 7, 1),
            {
                "seat": 0,
                "white_1": 4,
                "white_2": 4,
                "third": "bus",
                "draw": {"label": "roll", "counter": 7, "blocks": 1},
            },
        ),
        (
            e.DebtPaid(1, 0, ((e.BANK, 10), (2, 5)), 3),
            {
                "debt": 1,
                "debtor": 0,
                "amounts": [{"seat": "bank", "amount": 10}, {"seat": 2, "amount": 5}],
                "withheld": 3,
            },
        ),
    ],
)
def test_an_event_is_told_in_the_words_of_the_vocabulary(
    event: e.Event, told: dict[str, Any]
) -> None:
    assert describe_event(event) == {"type": type(event).__name__} | told


def test_a_deadline_is_told_with_its_id() -> None:
    told = describe_event(e.DeadlineSet("seeding", e.NOBODY, 1, e.NOBODY, 5_000, 0))

    assert told["deadline_id"] == "seeding:-1:1"
    assert told["seat"] is None


@pytest.mark.parametrize("kind", get_args(e.Event), ids=lambda kind: kind.__name__)
@given(data=st.data())
def test_every_event_is_plain(kind: type, data: st.DataObject) -> None:
    told = describe_event(data.draw(instances(kind)))

    assert json.loads(json.dumps(told)) == told
