"""Who may move, remove, kick and invite whom in a room (SETUP-1, SETUP-2, SETUP-4)."""

import pytest

from libs.kernel.reasons import Reason
from services.lobby import commands as c
from services.lobby import events as e
from services.lobby.room import State
from services.lobby.seating import Binding
from tests.lobby.sitting import ANN, BOB, CEM, DAN, MATCH, Sitting, bot, join, leave, ready, start


def take(player: str, seat: int, from_seat: int | None = None) -> c.TakeSeat:
    return c.TakeSeat(player=player, seat=seat, from_seat=from_seat)


def kick(seat: int, player: str = ANN, target: str = "") -> c.KickSeat:
    return c.KickSeat(player=player, seat=seat, target=target)


def hand_over(seat: int, player: str = ANN) -> c.HandOver:
    return c.HandOver(player=player, seat=seat)


def remove(seat: int, player: str = ANN) -> c.RemoveBot:
    return c.RemoveBot(player=player, seat=seat)


def admit(player: str, *, is_current: bool = True) -> c.AdmitGuest:
    return c.AdmitGuest(player=player, is_current=is_current)


@pytest.fixture
def sitting() -> Sitting:
    """Ann, who made the room, Bob, and a bot on the last of four seats."""
    sitting = Sitting()
    sitting.do(join(BOB), bot(seat=3))
    return sitting


# Moving.


def test_a_person_takes_any_empty_seat_and_is_not_ready_there(sitting: Sitting) -> None:
    sitting.do(ready(BOB))
    events = sitting.do(take(BOB, 2))

    assert events == (e.SeatChanged(from_seat=1, to_seat=2),)
    assert sitting.seated() == [ANN, "", BOB, "steady"]
    assert sitting.room.ready == frozenset()


def test_in_teams_a_person_chooses_the_side_by_the_seat() -> None:
    sitting = Sitting(rule_set="opolyx.teams@2")
    sitting.do(join(BOB), take(BOB, 2), bot(seat=1), bot(seat=3), ready(BOB))
    (starting,) = sitting.do(start())

    assert isinstance(starting, e.MatchStarting)
    # SETUP-4: seats 0 and 2 are one team.
    assert [spec.player for spec in starting.seats[::2]] == [ANN, BOB]


def test_the_creator_moves_people_and_bots(sitting: Sitting) -> None:
    sitting.do(ready(BOB), take(ANN, 2, from_seat=1), take(ANN, 1, from_seat=3))

    assert sitting.seated() == [ANN, "steady", BOB, ""]
    assert sitting.room.ready == frozenset()


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (take(BOB, 2, from_seat=0), Reason.NOT_CREATOR),
        (take(BOB, 2, from_seat=9), Reason.NOT_CREATOR),
        (take(CEM, 2), Reason.NOT_SEATED),
        (take(CEM, 2, from_seat=1), Reason.NOT_SEATED),
        (take(BOB, 0), Reason.SEAT_TAKEN),
        (take(BOB, 1), Reason.SEAT_TAKEN),
        (take(ANN, 3, from_seat=1), Reason.SEAT_TAKEN),
        (take(ANN, 3, from_seat=2), Reason.SEAT_EMPTY),
        (take(BOB, 4), Reason.INVALID_REQUEST),
        (take(ANN, 2, from_seat=4), Reason.INVALID_REQUEST),
    ],
)
def test_who_goes_where_is_up_to_oneself_and_the_creator(
    sitting: Sitting, command: c.TakeSeat, reason: Reason
) -> None:
    assert sitting.reason(command) is reason


def test_a_seat_that_there_is_not_is_named_by_its_field(sitting: Sitting) -> None:
    refusal = sitting.refusal(take(ANN, 2, from_seat=4))

    assert refusal.facts == {"field": "from_seat", "must": "be below 4"}


# Bots.


def test_a_bot_is_removed(sitting: Sitting) -> None:
    assert sitting.do(remove(3)) == (e.SeatLeft(seat=3),)
    assert sitting.seated() == [ANN, BOB, "", ""]


def test_a_bot_that_nobody_names_is_the_usual_one_of_the_room() -> None:
    sitting = Sitting(bot_strength="shark")
    sitting.do(c.AddBot(player=ANN, strength=""), c.AddBot(player=ANN, strength="novice"))

    assert sitting.seated() == [ANN, "shark", "novice", ""]


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (remove(3, BOB), Reason.NOT_CREATOR),
        (remove(2), Reason.SEAT_EMPTY),
        (remove(1), Reason.SEAT_EMPTY),
        (remove(4), Reason.INVALID_REQUEST),
    ],
)
def test_the_creator_removes_bots_alone(
    sitting: Sitting, command: c.RemoveBot, reason: Reason
) -> None:
    assert sitting.reason(command) is reason


# Telling people to go.


def test_whoever_is_kicked_stays_out(sitting: Sitting) -> None:
    events = sitting.do(ready(BOB), kick(1, target=BOB))

    assert events == (e.PersonKicked(seat=1, player=BOB),)
    assert sitting.seated() == [ANN, "", "", "steady"]
    assert sitting.room.ready == frozenset()
    assert sitting.reason(join(BOB)) is Reason.BANNED_FROM_ROOM
    assert sitting.reason(admit(BOB)) is Reason.BANNED_FROM_ROOM


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (kick(0, BOB), Reason.NOT_CREATOR),
        (kick(1, CEM), Reason.NOT_CREATOR),
        (kick(0), Reason.INVALID_REQUEST),
        (kick(4), Reason.INVALID_REQUEST),
        (kick(2), Reason.SEAT_EMPTY),
        (kick(3), Reason.SEAT_EMPTY),
        (kick(1, target=CEM), Reason.SEAT_EMPTY),
    ],
)
def test_the_creator_kicks_other_people_who_sit_there(
    sitting: Sitting, command: c.KickSeat, reason: Reason
) -> None:
    assert sitting.reason(command) is reason


def test_the_room_is_handed_to_another_person(sitting: Sitting) -> None:
    assert sitting.do(hand_over(1)) == (e.CreatorReplaced(creator=BOB),)
    assert sitting.reason(kick(1)) is Reason.NOT_CREATOR
    sitting.do(kick(0, BOB))

    assert sitting.seated() == ["", BOB, "", "steady"]


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (hand_over(0, BOB), Reason.NOT_CREATOR),
        (hand_over(0), Reason.INVALID_REQUEST),
        (hand_over(9), Reason.INVALID_REQUEST),
        (hand_over(2), Reason.SEAT_EMPTY),
        (hand_over(3), Reason.SEAT_EMPTY),
    ],
)
def test_a_room_is_handed_over_by_its_creator_to_a_person(
    sitting: Sitting, command: c.HandOver, reason: Reason
) -> None:
    assert sitting.reason(command) is reason


# Private rooms.


@pytest.fixture
def private() -> Sitting:
    return Sitting(is_listed=False)


@pytest.mark.parametrize(
    "command",
    [join(BOB), leave(BOB), ready(BOB), bot(BOB), start(BOB), take(BOB, 2), kick(0, BOB)],
    ids=lambda command: type(command).__name__,
)
def test_a_private_room_is_not_there_for_others(private: Sitting, command: c.Command) -> None:
    assert private.reason(command) is Reason.ROOM_NOT_FOUND
    assert private.reason(command, expected=9) is Reason.ROOM_NOT_FOUND


def test_whoever_was_invited_joins_and_comes_back(private: Sitting) -> None:
    private.do(admit(BOB), join(BOB), leave(BOB), join(BOB))

    assert private.seated() == [ANN, BOB, "", ""]


def test_whoever_made_a_private_room_and_left_comes_back(private: Sitting) -> None:
    private.do(admit(BOB), join(BOB), leave(ANN), join(ANN))

    assert private.seated() == [ANN, BOB, "", ""]
    assert private.room.creator == BOB


def test_whoever_was_kicked_from_a_private_room_sees_it_no_more(private: Sitting) -> None:
    private.do(admit(BOB), join(BOB), kick(1))

    assert private.reason(join(BOB)) is Reason.ROOM_NOT_FOUND
    assert not private.room.is_seen_by(BOB)


def test_an_operator_sees_every_room(private: Sitting) -> None:
    assert private.reason(leave(BOB), sees_all=True) is Reason.NOT_SEATED


def test_an_invitation_that_is_taken_again_changes_nothing(private: Sitting) -> None:
    private.do(admit(BOB))

    assert private.do(admit(BOB)) == ()
    assert private.do(admit(ANN)) == ()


def test_an_invitation_that_has_expired_is_none(private: Sitting) -> None:
    assert private.reason(admit(BOB, is_current=False)) is Reason.INVITE_NOT_FOUND


def test_whose_invitation_has_expired_learns_nothing_of_the_room(private: Sitting) -> None:
    private.do(admit(BOB), join(BOB), kick(1))
    kicked = private.reason(admit(BOB, is_current=False))
    private.do(leave(ANN))

    assert kicked is Reason.INVITE_NOT_FOUND
    assert private.reason(admit(CEM, is_current=False)) is Reason.INVITE_NOT_FOUND


def test_an_invitation_is_taken_whatever_has_become_of_the_room_but_its_closing(
    private: Sitting,
) -> None:
    private.do(bot(), start(), admit(BOB), c.ReportMade(match_id=MATCH), admit(CEM))
    closed = Sitting(is_listed=False)
    closed.do(leave(ANN))

    assert private.room.guests == {ANN, BOB, CEM}
    assert closed.reason(admit(BOB)) is Reason.ROOM_CLOSED


# The end of rooms.


def test_an_idle_room_closes_for_everybody_in_it(sitting: Sitting) -> None:
    assert sitting.do(c.CloseIdle()) == (e.RoomClosed(why=e.ClosedWhy.IDLE),)
    assert sitting.room.bound == frozenset()
    assert sitting.reason(join(CEM)) is Reason.ROOM_CLOSED


def test_a_room_that_something_happened_in_is_not_closed(sitting: Sitting) -> None:
    assert sitting.reason(c.CloseIdle(), expected=2) is Reason.STALE_SEQUENCE


def test_a_room_that_starts_is_not_idle(sitting: Sitting) -> None:
    sitting.do(ready(BOB), start())

    assert sitting.reason(c.CloseIdle()) is Reason.ROOM_CLOSED


def test_a_room_whose_match_is_never_made_lets_go_of_its_people(sitting: Sitting) -> None:
    sitting.do(ready(BOB), start(), c.ReportNotMade(match_id=MATCH))

    assert sitting.room.state is State.CLOSED
    assert sitting.room.closed_why is e.ClosedWhy.MATCH_NOT_MADE
    assert sitting.room.bound == frozenset()
    assert sitting.reason(c.ReportMade(match_id=MATCH)) is Reason.ROOM_CLOSED


def test_a_match_that_is_there_is_not_given_up(sitting: Sitting) -> None:
    sitting.do(ready(BOB), start(), c.ReportMade(match_id=MATCH))

    assert sitting.reason(c.ReportNotMade(match_id=MATCH)) is Reason.ROOM_CLOSED


# Playing again.


@pytest.fixture
def played() -> Sitting:
    """A private room whose match was played: Ann on 0, Bob on 2, a shark on 3; Cem may watch."""
    played = Sitting(is_listed=False, watching=e.Watching.INVITED, bot_strength="novice")
    played.do(admit(BOB), admit(CEM), join(BOB, 2), c.AddBot(player=ANN, strength="shark", seat=3))
    played.do(ready(BOB), start(), c.ReportMade(match_id=MATCH))
    return played


def again(played: Sitting, player: str) -> c.Rematch:
    return c.Rematch(player=player, played=played.room)


def test_the_first_who_plays_again_makes_the_room_on_the_same_terms(played: Sitting) -> None:
    rematch = Sitting.blank()
    (created, *_) = rematch.do(again(played, BOB))

    assert created == e.RoomCreated(
        rule_set="opolyx.classic@1",
        seat_count=4,
        is_listed=False,
        creator=BOB,
        watching=e.Watching.INVITED,
        bot_strength="novice",
        rematch_of=played.room.room_id,
    )
    assert rematch.seated() == ["", "", BOB, "shark"]
    assert rematch.room.guests == {ANN, BOB, CEM}


def test_the_others_get_the_seats_that_they_had(played: Sitting) -> None:
    rematch = Sitting.blank()
    rematch.do(again(played, BOB), again(played, ANN))

    assert rematch.seated() == [ANN, "", BOB, "shark"]
    assert rematch.do(again(played, ANN)) == ()


def test_whoever_finds_their_seat_taken_gets_another(played: Sitting) -> None:
    rematch = Sitting.blank()
    rematch.do(again(played, BOB), join(CEM, 0), again(played, ANN))

    assert rematch.seated() == [CEM, ANN, BOB, "shark"]


def test_whoever_finds_every_seat_taken_is_told_so(played: Sitting) -> None:
    rematch = Sitting.blank()
    rematch.do(again(played, BOB), join(CEM, 0), admit(DAN), join(DAN, 1))

    assert rematch.reason(again(played, ANN)) is Reason.ROOM_FULL


def test_whoever_was_kicked_from_the_rematch_stays_out_of_it(played: Sitting) -> None:
    rematch = Sitting.blank()
    rematch.do(again(played, BOB), again(played, ANN), kick(0, BOB))

    assert rematch.reason(again(played, ANN)) is Reason.BANNED_FROM_ROOM


def test_whoever_sits_elsewhere_does_not_play_again(played: Sitting) -> None:
    rematch = Sitting.blank()
    elsewhere = Binding(room_id="a third room")

    assert rematch.reason(again(played, ANN), bound=elsewhere) is Reason.ALREADY_IN_MATCH
