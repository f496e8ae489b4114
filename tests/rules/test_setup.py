"""Birth of a match: seats, client seeds, who begins (SETUP-1 to SETUP-4, FAIR-1)."""

import pytest

from libs.kernel.chance import FairDraws
from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules import phases
from libs.rules.decide import decide
from libs.rules.match import Match
from tests.support.builders import (
    CLASSIC_2,
    COMMITMENT,
    MATCH_ID,
    RULE_SETS,
    SEED,
    TEAMS_2,
    ScriptedDraws,
    bots,
    created,
    people,
    reason_of,
)
from tests.support.spec import Table, given, kinds, only

CLIENT_SEED = bytes(range(16))


def waiting(seats: int = 2, rules: str = CLASSIC_2) -> Table:
    """Return a match of people, all of whom may still give a client seed."""
    draws = ScriptedDraws()
    return Table(created(rules, people(seats), draws), draws)


def create(
    rules: str = CLASSIC_2,
    specs: tuple[e.SeatSpec, ...] | None = None,
    commitment: bytes = COMMITMENT,
) -> list[e.Event]:
    """Return the events of creating a match that may be created."""
    command = c.CreateMatch(MATCH_ID, rules, specs or bots(4), commitment)
    decision = decide(Match(), command, ScriptedDraws(), 0)
    assert isinstance(decision, list), decision
    return decision


def refusal(
    rules: str = CLASSIC_2,
    specs: tuple[e.SeatSpec, ...] | None = None,
    commitment: bytes = COMMITMENT,
) -> Reason:
    """Return why a match may not be created."""
    command = c.CreateMatch(MATCH_ID, rules, specs or bots(4), commitment)
    return reason_of(decide(Match(), command, ScriptedDraws(), 0))


@pytest.mark.parametrize("rules", RULE_SETS)
def test_a_match_of_bots_starts_at_once(rules: str) -> None:
    """SETUP-1, FAIR-1."""
    events = create(rules)

    assert kinds(events) == [
        e.MatchCreated,
        e.MatchStarted,
        e.RoundStarted,
        e.TurnStarted,
        e.DeadlineSet,
    ]
    assert only(events, e.MatchCreated).commitment == COMMITMENT


def test_a_match_with_people_waits_five_seconds_for_their_seeds() -> None:
    """FAIR-1, CLOCK-1."""
    events = create(specs=(*people(1), *bots(1)))

    assert kinds(events) == [e.MatchCreated, e.DeadlineSet]
    assert only(events, e.DeadlineSet) == e.DeadlineSet(phases.SEEDING, -1, 1, -1, 5_000, 0)


@pytest.mark.parametrize("rules", [r for r in RULE_SETS if r != TEAMS_2])
@pytest.mark.parametrize("seats", [2, 3, 4, 5, 6])
def test_two_to_six_seats_may_play(rules: str, seats: int) -> None:
    """SETUP-1."""
    assert len(only(create(rules, bots(seats)), e.MatchCreated).seats) == seats


@pytest.mark.parametrize("seats", [1, 7])
def test_fewer_than_two_and_more_than_six_seats_may_not(seats: int) -> None:
    """SETUP-1."""
    assert refusal(specs=bots(1) * seats) is Reason.INVALID_REQUEST


@pytest.mark.parametrize("seats", [4, 6])
def test_teams_play_two_against_two_or_three_against_three(seats: int) -> None:
    """SETUP-1, SETUP-4."""
    assert only(create(TEAMS_2, bots(seats)), e.MatchStarted).teams == (0, 1, 0, 1, 0, 1)[:seats]


@pytest.mark.parametrize("seats", [2, 3, 5])
def test_other_numbers_of_seats_make_no_teams(seats: int) -> None:
    """SETUP-1."""
    assert refusal(TEAMS_2, bots(seats)) is Reason.INVALID_REQUEST


def test_there_are_no_teams_outside_teams() -> None:
    """SETUP-4."""
    assert only(create(), e.MatchStarted).teams == ()


def test_a_seats_team_is_its_number_mod_2() -> None:
    """SETUP-4."""
    match = given(TEAMS_2, seats=6).match

    assert [match.is_rival(0, other) for other in range(6)] == [False, True] * 3


def test_a_match_remembers_what_it_was_made_of() -> None:
    """SETUP-1, FAIR-1."""
    match = created(CLASSIC_2, people(2))

    assert (match.match_id, match.rules.rule_set_id) == (MATCH_ID, CLASSIC_2)
    assert (match.specs, match.commitment) == (people(2), COMMITMENT)


@pytest.mark.parametrize("size", [0, 31, 33])
def test_a_commitment_that_is_no_hash_is_refused(size: int) -> None:
    """FAIR-1."""
    assert refusal(commitment=bytes(size)) is Reason.INVALID_REQUEST


def test_an_unknown_rule_set_is_refused() -> None:
    """SETUP-1."""
    assert refusal("opolyx.classic@3") is Reason.INVALID_REQUEST


@pytest.mark.parametrize(
    "spec",
    [
        e.SeatSpec("ghost"),
        e.SeatSpec(e.BOT, "", "plain", ((0, "rare"),)),
        e.SeatSpec(e.BOT, "", "plain", ((1, "mythic"),)),
    ],
    ids=["kind", "square", "rarity"],
)
def test_a_seat_that_cannot_be_is_refused(spec: e.SeatSpec) -> None:
    """SETUP-1."""
    assert refusal(specs=(*bots(1), spec)) is Reason.INVALID_REQUEST


def test_a_match_is_made_once() -> None:
    """SETUP-1."""
    table = given()

    refused = table.refused(c.CreateMatch(MATCH_ID, CLASSIC_2, bots(2), COMMITMENT))

    assert refused.reason is Reason.MATCH_EXISTS


@pytest.mark.parametrize("first", [0, 1, 2])
def test_the_first_seat_is_drawn(first: int) -> None:
    """SETUP-3."""
    table = waiting(3)
    table.draws.first_seat = first
    table.when(c.ContributeSeed(0, b""), c.ContributeSeed(1, b""))

    events = table.when(c.ContributeSeed(2, b""))

    assert only(events, e.MatchStarted).first_seat == first
    assert only(events, e.TurnStarted) == e.TurnStarted(first, 1)


def test_each_seat_is_drawn_first_now_and_then() -> None:
    """SETUP-3: by the match's own dice."""
    seen = [0] * 4
    for seed in range(64):
        draws = FairDraws(MATCH_ID, bytes([seed]) * 32)
        decision = decide(
            Match(), c.CreateMatch(MATCH_ID, CLASSIC_2, bots(4), COMMITMENT), draws, 0
        )
        assert isinstance(decision, list)
        seen[only(decision, e.MatchStarted).first_seat] += 1

    assert all(seen), seen


def test_the_last_seed_starts_the_match() -> None:
    """FAIR-1."""
    table = waiting()
    table.when(c.ContributeSeed(1, CLIENT_SEED))

    events = table.when(c.ContributeSeed(0, b""))

    assert kinds(events) == [
        e.SeedContributed,
        e.MatchStarted,
        e.RoundStarted,
        e.TurnStarted,
        e.DeadlineSet,
    ]
    assert table.draws.bound == (b"", CLIENT_SEED)


def test_the_deadline_starts_the_match_without_the_missing_seeds() -> None:
    """FAIR-1, CLOCK-1."""
    table = waiting()
    table.when(c.ContributeSeed(1, CLIENT_SEED))

    events = table.time_out()

    assert kinds(events) == [e.MatchStarted, e.RoundStarted, e.TurnStarted, e.DeadlineSet]
    assert table.draws.bound == (None, CLIENT_SEED)


def test_a_seat_gives_one_seed() -> None:
    """FAIR-1."""
    table = waiting()
    table.when(c.ContributeSeed(1, b""))

    assert table.refused(c.ContributeSeed(1, CLIENT_SEED)).reason is Reason.SEED_TOO_LATE


def test_a_bot_gives_no_seed() -> None:
    """FAIR-1."""
    draws = ScriptedDraws()
    table = Table(created(CLASSIC_2, (*people(1), *bots(1)), draws), draws)

    assert table.refused(c.ContributeSeed(1, CLIENT_SEED)).reason is Reason.SEED_TOO_LATE


def test_no_seed_is_taken_once_the_match_has_started() -> None:
    """FAIR-1."""
    assert given().refused(c.ContributeSeed(0, CLIENT_SEED)).reason is Reason.SEED_TOO_LATE


@pytest.mark.parametrize("size", [1, 15, 33, 64])
def test_a_seed_of_the_wrong_size_is_refused(size: int) -> None:
    """FAIR-1."""
    assert waiting().refused(c.ContributeSeed(0, bytes(size))).reason is Reason.SEED_INVALID


@pytest.mark.parametrize("size", [0, 16, 32])
def test_a_seed_of_16_to_32_bytes_or_none_is_taken(size: int) -> None:
    """FAIR-1."""
    events = waiting().when(c.ContributeSeed(0, bytes(size)))

    assert events == [e.SeedContributed(0, bytes(size))]


def test_nothing_but_seeds_is_taken_before_the_start() -> None:
    """SETUP-3."""
    assert waiting().refused(c.Roll(0)).reason is Reason.MATCH_NOT_STARTED


def test_nobody_can_leave_before_the_start() -> None:
    """SURR-1."""
    assert waiting().refused(c.Surrender(0)).reason is Reason.MATCH_NOT_STARTED


def test_everybody_starts_with_the_same_cash() -> None:
    """SETUP-1."""
    assert given(seats=6).match.cash == [15_000] * 6


def test_the_seed_is_revealed_with_the_end_and_not_before() -> None:
    """FAIR-1, FAIR-2."""
    table = given(seats=2)

    events = table.when(c.Surrender(1))

    assert events[-1] == e.SeedRevealed(SEED)


def test_the_state_of_a_match_does_not_hold_its_seed() -> None:
    """FAIR-2: whoever reads the log up to now cannot foretell a draw."""
    draws = FairDraws(MATCH_ID, SEED)
    match = Match()
    command = c.CreateMatch(MATCH_ID, CLASSIC_2, bots(2), COMMITMENT)
    events = decide(match, command, draws, 0)

    assert SEED.hex() not in repr(events)
    assert SEED not in repr(events).encode()
    assert not any(SEED in (value, str(value).encode()) for value in vars_of(match))


def vars_of(match: Match) -> list[object]:
    """Return everything that a match holds."""
    return [getattr(match, name) for name in Match.__slots__]
