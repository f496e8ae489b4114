"""What may be done in a room, and what that changes (SETUP-1, SETUP-2)."""

from dataclasses import replace

import pytest

from libs.kernel.reasons import Reason
from libs.rules.events import BOT, PERSON, SeatSpec
from libs.rules.refusals import Refusal
from libs.wire.limits import GUESTS_MAX
from services.lobby import commands as c
from services.lobby import events as e
from services.lobby.room import Room, State, evolve
from services.lobby.rooms import CardsUnknownError, decide
from services.lobby.seating import Binding
from tests.lobby.sitting import (
    ANN,
    BOB,
    CEM,
    DAN,
    MATCH,
    ROOM,
    Sitting,
    bot,
    join,
    leave,
    ready,
    start,
)

ELSEWHERE = Binding(room_id="another room")


@pytest.fixture
def sitting() -> Sitting:
    return Sitting()


def test_whoever_makes_a_room_sits_on_its_first_seat_as_its_creator(sitting: Sitting) -> None:
    assert sitting.seated() == [ANN, "", "", ""]
    assert sitting.room.creator == ANN
    assert sitting.room.state is State.WAITING
    assert sitting.room.sequence == 1


def test_a_room_is_not_made_by_somebody_who_sits_elsewhere() -> None:
    command = c.CreateRoom(player=ANN, rule_set="opolyx.classic@1", seat_count=2, is_listed=True)
    decision = decide(Room(room_id=ROOM, created_ms=1), command, bound=ELSEWHERE)

    assert isinstance(decision, Refusal)
    assert decision.reason is Reason.ALREADY_IN_MATCH
    assert decision.facts == {"room_id": "another room"}


def test_whoever_joins_gets_the_first_empty_seat(sitting: Sitting) -> None:
    sitting.do(bot(seat=1), join(BOB))

    assert sitting.seated() == [ANN, "steady", BOB, ""]


def test_whoever_joins_may_choose_the_seat(sitting: Sitting) -> None:
    sitting.do(join(BOB, 3))

    assert sitting.seated() == [ANN, "", "", BOB]


def test_whoever_sits_in_the_room_already_gets_up_for_another_seat(sitting: Sitting) -> None:
    sitting.do(join(BOB), ready(BOB))
    events = sitting.do(join(BOB, 3))

    assert events == (e.SeatChanged(from_seat=1, to_seat=3),)
    assert sitting.seated() == [ANN, "", "", BOB]
    assert sitting.room.ready == frozenset()


def test_a_seat_is_taken_once(sitting: Sitting) -> None:
    refusal = sitting.refusal(join(BOB, 0))

    assert refusal.reason is Reason.SEAT_TAKEN
    assert refusal.facts == {"seat": 0}


def test_a_full_room_has_no_seat_left() -> None:
    sitting = Sitting(seats=2)
    sitting.do(bot())

    assert sitting.reason(join(BOB)) is Reason.ROOM_FULL
    assert sitting.reason(bot()) is Reason.ROOM_FULL
    assert sitting.reason(join(BOB, 1)) is Reason.SEAT_TAKEN


def test_a_room_has_the_seats_that_it_has(sitting: Sitting) -> None:
    assert sitting.reason(join(BOB, 4)) is Reason.INVALID_REQUEST
    assert sitting.reason(bot(seat=4)) is Reason.INVALID_REQUEST


def test_whoever_sits_elsewhere_joins_nothing(sitting: Sitting) -> None:
    in_match = Binding(room_id="another room", match_id="a match")

    assert sitting.reason(join(BOB), bound=ELSEWHERE) is Reason.ALREADY_IN_MATCH
    assert sitting.refusal(join(BOB), bound=in_match).facts["match_id"] == "a match"


def test_whoever_sits_here_is_not_elsewhere(sitting: Sitting) -> None:
    decision = decide(sitting.room, join(ANN, 2), bound=Binding(room_id=ROOM))

    assert not isinstance(decision, Refusal)


def test_the_next_person_in_seat_order_becomes_creator(sitting: Sitting) -> None:
    sitting.do(join(BOB, 3), join(CEM, 1), join(ANN, 2))
    events = sitting.do(leave(ANN))

    assert events == (e.SeatLeft(seat=2), e.CreatorReplaced(creator=BOB))
    assert sitting.room.creator == BOB


def test_bots_become_no_creators(sitting: Sitting) -> None:
    sitting.do(bot(), join(BOB, 3), leave(ANN))

    assert sitting.room.creator == BOB


def test_the_creator_stays_when_somebody_else_leaves(sitting: Sitting) -> None:
    sitting.do(join(BOB))

    assert sitting.do(leave(BOB)) == (e.SeatLeft(seat=1),)
    assert sitting.room.creator == ANN


def test_a_room_without_people_closes(sitting: Sitting) -> None:
    sitting.do(bot())

    assert sitting.do(leave(ANN)) == (e.SeatLeft(seat=0), e.RoomClosed())
    assert sitting.room.state is State.CLOSED


@pytest.mark.parametrize("command", [leave(BOB), ready(BOB)], ids=["leave", "ready"])
def test_whoever_does_not_sit_here_neither_leaves_nor_is_ready(
    sitting: Sitting, command: c.Command
) -> None:
    assert sitting.reason(command) is Reason.NOT_SEATED


def test_readiness_is_said_and_taken_back(sitting: Sitting) -> None:
    sitting.do(join(BOB), ready(BOB))
    was_ready = sitting.room.ready
    sitting.do(c.SetReady(player=BOB, is_ready=False))

    assert was_ready == {1}
    assert sitting.room.ready == frozenset()


def test_whoever_sits_down_after_somebody_ready_is_not_ready(sitting: Sitting) -> None:
    sitting.do(join(BOB), ready(BOB), leave(BOB), join(CEM))

    assert sitting.room.ready == frozenset()


@pytest.mark.parametrize("command", [bot(BOB), start(BOB)], ids=["add bot", "start"])
def test_the_creator_alone_adds_bots_and_starts(sitting: Sitting, command: c.Command) -> None:
    sitting.do(join(BOB), ready(BOB))

    assert sitting.reason(command) is Reason.NOT_CREATOR


def test_a_match_takes_two(sitting: Sitting) -> None:
    assert sitting.reason(start()) is Reason.TOO_FEW_SEATS


def test_everybody_but_the_creator_must_be_ready(sitting: Sitting) -> None:
    sitting.do(join(BOB), bot(), join(CEM), ready(BOB))

    refusal = sitting.refusal(start())
    assert refusal.reason is Reason.NOT_READY
    assert refusal.facts == {"seats": (3,)}


def test_teams_need_every_seat() -> None:
    sitting = Sitting(seats=4, rule_set="opolyx.teams@2")
    sitting.do(bot(), bot())

    assert sitting.reason(start()) is Reason.TEAMS_UNEVEN


def test_the_match_numbers_the_taken_seats_anew(sitting: Sitting) -> None:
    sitting.do(join(BOB, 3), bot(seat=2), ready(BOB))
    (starting,) = sitting.do(start())

    assert starting == e.MatchStarting(
        match_id=MATCH,
        seats=(SeatSpec(PERSON, ANN), SeatSpec(BOT, strength="steady"), SeatSpec(PERSON, BOB)),
    )
    assert sitting.room.state is State.STARTING
    assert sitting.room.match_id == MATCH


def test_the_match_has_the_cards_of_its_people(sitting: Sitting) -> None:
    sitting.do(bot(), join(BOB), ready(BOB))
    (starting,) = sitting.do(start(cards={ANN: ((1, "rare"),), BOB: ()}))

    assert isinstance(starting, e.MatchStarting)
    assert [spec.cards for spec in starting.seats] == [((1, "rare"),), (), ()]


def test_a_match_does_not_start_without_the_cards_of_somebody_who_sat_down_meanwhile(
    sitting: Sitting,
) -> None:
    sitting.do(join(BOB), ready(BOB))

    with pytest.raises(CardsUnknownError):
        decide(sitting.room, start(cards={ANN: ()}))


@pytest.mark.parametrize(
    "command",
    [join(CEM), leave(ANN), bot(), ready(ANN), start()],
    ids=["join", "leave", "add bot", "ready", "start"],
)
@pytest.mark.parametrize("is_made", [False, True], ids=["starting", "started"])
def test_nothing_is_done_in_a_room_that_has_become_a_match(
    sitting: Sitting, command: c.Command, *, is_made: bool
) -> None:
    sitting.do(bot(), start())
    if is_made:
        sitting.do(c.ReportMade(match_id=MATCH))

    assert sitting.reason(command) is Reason.ROOM_CLOSED


def test_nothing_is_done_in_a_closed_room(sitting: Sitting) -> None:
    sitting.do(leave(ANN))

    assert sitting.reason(join(ANN)) is Reason.ROOM_CLOSED


def test_the_match_is_there_in_the_end(sitting: Sitting) -> None:
    sitting.do(bot(), start(), c.ReportMade(match_id=MATCH))

    assert sitting.room.state is State.STARTED


def test_whoever_saw_another_room_is_told_where_it_is(sitting: Sitting) -> None:
    refusal = sitting.refusal(join(BOB), expected=2)

    assert refusal.reason is Reason.STALE_SEQUENCE
    assert refusal.facts == {"expected": 2, "head": 1}


def test_whoever_saw_the_room_as_it_is_is_heard(sitting: Sitting) -> None:
    assert not isinstance(decide(sitting.room, join(BOB), expected=1), Refusal)


def test_what_is_recorded_happened_whatever_the_rules_say_now(sitting: Sitting) -> None:
    sitting.do(leave(ANN))

    assert evolve(sitting.room, e.SeatTaken(seat=1, player=DAN)).seat_of(DAN) == 1


def test_a_room_takes_so_many_guests_and_no_more(sitting: Sitting) -> None:
    guests = frozenset(f"guest-{number}" for number in range(GUESTS_MAX))
    room = replace(sitting.room, guests=guests)
    refused = decide(room, c.AdmitGuest(player="one more", is_current=True))

    assert isinstance(refused, Refusal)
    assert (refused.reason, refused.facts) == (Reason.TOO_MANY_INVITES, {"limit": GUESTS_MAX})
    assert decide(room, c.AdmitGuest(player="guest-7", is_current=True)) == ()
