"""Rooms before a match (SETUP-1, SETUP-2, SETUP-4). Whom one binds, the lobby knows."""

import pytest

from libs.kernel.reasons import Reason
from libs.rules import events as e
from libs.rules.refusals import Refusal
from libs.rules.rule_sets import rule_set, team_of
from libs.rules.tables import (
    Table,
    new_table,
    next_creator,
    seats_at_start,
    take_seat,
)
from tests.support.builders import (
    CLASSIC_2,
    PLAYER_IDS,
    RULE_SETS,
    TEAMS_2,
)

ANN, BEN, CEM, DEE = (e.SeatSpec(e.PERSON, player) for player in PLAYER_IDS[:4])
BOT = e.SeatSpec(e.BOT, "", "plain")


def start(rules: str, table: Table, starter: e.SeatSpec = ANN) -> tuple[e.SeatSpec, ...] | Reason:
    """Let somebody start a table that Ann made."""
    outcome = seats_at_start(rule_set(rules), table, ANN.player, starter.player)
    return outcome.reason if isinstance(outcome, Refusal) else outcome


def seated(table: Table | Refusal) -> Table:
    assert not isinstance(table, Refusal), table
    return table


@pytest.mark.parametrize("rules", RULE_SETS)
def test_a_room_has_the_seats_that_its_rule_set_allows(rules: str) -> None:
    """SETUP-1."""
    allowed = [n for n in range(9) if not isinstance(new_table(rule_set(rules), n), Refusal)]

    assert allowed == ([4, 6] if rules == TEAMS_2 else [2, 3, 4, 5, 6])


def test_a_person_takes_any_empty_seat() -> None:
    """SETUP-1."""
    table = seated(take_seat((None, None, ANN, None), 3, BEN))

    assert table == (None, None, ANN, BEN)


def test_who_takes_another_seat_leaves_the_one_before() -> None:
    """SETUP-1: so in Teams one changes sides."""
    assert take_seat((ANN, None, BEN, None), 1, ANN) == (None, ANN, BEN, None)


def test_bots_fill_as_many_seats_as_they_are_given() -> None:
    """SETUP-1."""
    assert take_seat((ANN, BOT, None), 2, BOT) == (ANN, BOT, BOT)


def test_a_taken_seat_is_refused() -> None:
    """SETUP-1."""
    refused = take_seat((ANN, None), 0, BEN)

    assert isinstance(refused, Refusal)
    assert refused.reason is Reason.SEAT_TAKEN


@pytest.mark.parametrize("seat", [-1, 2])
def test_a_seat_that_the_room_does_not_have_is_refused(seat: int) -> None:
    """SETUP-1."""
    refused = take_seat((ANN, None), seat, BEN)

    assert isinstance(refused, Refusal)
    assert refused.reason is Reason.INVALID_REQUEST


def test_empty_seats_are_closed_and_the_others_numbered_anew() -> None:
    """SETUP-1."""
    assert start(CLASSIC_2, (None, ANN, None, BOT, BEN, None)) == (ANN, BOT, BEN)


@pytest.mark.parametrize("table", [(ANN, None), (None, ANN, None, None)])
def test_one_filled_seat_is_too_few(table: Table) -> None:
    """SETUP-1."""
    assert start(CLASSIC_2, table) is Reason.TOO_FEW_SEATS


@pytest.mark.parametrize("table", [(ANN, BEN, CEM, None), (ANN, BOT, None, None)])
def test_teams_start_with_all_seats_filled(table: Table) -> None:
    """SETUP-1."""
    assert start(TEAMS_2, table) is Reason.TEAMS_UNEVEN


def test_full_teams_start() -> None:
    """SETUP-1."""
    assert start(TEAMS_2, (ANN, BEN, CEM, BOT)) == (ANN, BEN, CEM, BOT)


def test_only_the_creator_starts() -> None:
    """SETUP-1."""
    assert start(CLASSIC_2, (ANN, BEN), starter=BEN) is Reason.NOT_CREATOR


def test_bots_alone_are_refused() -> None:
    """SETUP-2."""
    assert start(CLASSIC_2, (BOT, BOT)) is Reason.NOT_ALLOWED


def test_an_operator_may_let_bots_play_alone() -> None:
    """SETUP-2."""
    outcome = seats_at_start(rule_set(CLASSIC_2), (BOT, None, BOT), "", "", by_operator=True)

    assert outcome == (BOT, BOT)


@pytest.mark.parametrize(
    ("table", "heir"),
    [
        ((ANN, BEN, CEM), BEN),
        ((BEN, None, ANN, BOT), BEN),
        ((BEN, ANN, BOT, CEM), CEM),
        ((BEN, CEM), BEN),
    ],
    ids=["next", "round the table", "past a bot", "gone already"],
)
def test_a_creator_who_leaves_hands_the_room_on(table: Table, heir: e.SeatSpec) -> None:
    """SETUP-2."""
    assert next_creator(table, ANN.player) == heir.player


def test_a_room_without_people_closes() -> None:
    """SETUP-2."""
    assert next_creator((ANN, BOT, None), ANN.player) is None


@pytest.mark.parametrize(("seat", "team"), [(0, 0), (1, 1), (2, 0), (5, 1)])
def test_a_seats_team_is_its_number_mod_2(seat: int, team: int) -> None:
    """SETUP-4."""
    assert team_of(seat) == team
