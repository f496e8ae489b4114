"""What a viewer sees of a match (FAIR-2; write protocol, I14)."""

import pytest

from libs.rules import commands as c
from libs.rules import events as e
from libs.rules.match import Match
from libs.rules.views import View, view
from tests.support.builders import CLASSIC_2, ScriptedDraws, created, people
from tests.support.spec import Table, given

SECRETS = ("client_seeds", "next_counter", "commitment", "draws", "seed", "match")


def public(window: View) -> list[str]:
    """Return every name that a view lets be read."""
    return [name for name in dir(window) if not name.startswith("_")]


def test_a_view_has_no_way_to_what_draws_depend_on() -> None:
    """FAIR-2."""
    window = view(given().match, 0)

    assert [name for name in SECRETS if name in public(window)] == []


def test_nothing_that_a_view_shows_holds_a_client_seed() -> None:
    """FAIR-2."""
    secret = b"only mine, at least 16 bytes"
    draws = ScriptedDraws()
    table = Table(created(CLASSIC_2, people(2), draws), draws)
    table.when(c.ContributeSeed(0, secret), c.ContributeSeed(1, b""))
    window = view(table.match, 0)

    shown = [getattr(window, name) for name in public(window)]

    assert not any(isinstance(value, Match) for value in shown)
    assert not any(secret.decode() in repr(value) for value in shown)


def test_a_view_shows_the_match_as_it_is_when_asked() -> None:
    table = given()
    window = view(table.match, 0)
    table.cash({1: 7})

    assert window.cash[1] == 7


@pytest.mark.parametrize(("viewer", "seen_by"), [(2, 2), (None, e.NOBODY)])
def test_a_view_knows_whose_it_is(viewer: int | None, seen_by: int) -> None:
    assert view(given().match, viewer).viewer == seen_by


def test_all_viewers_see_the_same_table() -> None:
    """DECK-2: a drawn card, too."""
    table = given().standing({0: 4}).card(11).dice((1, 2))
    table.when(c.Roll(0))
    windows = [view(table.match, viewer) for viewer in (0, 1, 2, None)]

    assert [window.last_card for window in windows] == [11] * 4


def test_a_view_shows_the_facts_of_the_table() -> None:
    table = given().group(0, "brown").levels({1: 1}).owned(1, 5).mortgaged(5, in_round=3).round(4)
    table.jailed(2, 1).missed({1: 1}).standing({0: 36}).dice((1, 2))
    table.when(c.Roll(0))
    window = view(table.match, 1)

    assert (window.phase, window.round, window.turn, window.turn_number) == ("buy", 4, 0, 1)
    assert window.dice == (1, 2, 0)
    assert list(window.square) == [39, 0, 10]
    assert (list(window.in_jail), list(window.jail_attempts)) == (
        [False, False, True],
        [0, 0, 1],
    )
    assert (list(window.missed_turns), list(window.out)) == ([0, 1, 0], [False] * 3)
    assert (window.owner[1], window.level[1], window.mortgaged_round[5]) == (0, 1, 3)
    assert (window.held[0][0], window.group_levels[0], window.built[1]) == (2, 1, 0)
    assert list(window.properties_of(1)) == [5]
    assert (window.net_worth(0), window.sale_value(0)) == (15_000 + 1_200 + 500, 250 + 600)
    assert window.debt_of(0) is None
    assert window.is_rival(0, 1)
    assert (window.next_card, window.last_card) == (1, 0)
    assert (window.auction, list(window.debts), list(window.offers)) == (None, [], [])
    assert (window.winners, window.placing) == ((), ())
    assert window.rules is table.match.rules
    assert window.board is table.match.board
    assert window.sequence == table.match.sequence
    assert list(window.cards) == [{}, {}, {}]
