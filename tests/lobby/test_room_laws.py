"""Whatever is done in a room, in whatever order: what must hold of it holds (SETUP-1, SETUP-2)."""

from hypothesis import given, settings
from hypothesis import strategies as st

from libs.rules.refusals import Refusal
from services.lobby import commands as c
from services.lobby import events as e
from services.lobby.event_wire import read_record, write_record
from services.lobby.room import Room, State, apply
from services.lobby.rooms import decide
from services.lobby.wire import read_room, write_room
from tests.lobby.invariants import check_records, check_room
from tests.support.strategies import bounded

PEOPLE = ("ann", "bob", "cem", "dan", "eve")

players = st.sampled_from(PEOPLE)
seats = st.integers(0, 4)
maybe_seats = st.none() | seats


def commands() -> st.SearchStrategy[c.Command]:
    """Draw anything that can be asked of a room that is there."""
    return st.one_of(
        st.builds(c.JoinRoom, player=players, seat=maybe_seats),
        st.builds(c.TakeSeat, player=players, seat=seats, from_seat=maybe_seats),
        st.builds(c.LeaveRoom, player=players),
        st.builds(c.AddBot, player=players, strength=st.sampled_from(["", "shark"]), seat=seats),
        st.builds(c.RemoveBot, player=players, seat=seats),
        st.builds(c.KickSeat, player=players, seat=seats),
        st.builds(c.HandOver, player=players, seat=seats),
        st.builds(c.SetReady, player=players, is_ready=st.booleans()),
        st.builds(c.AdmitGuest, player=players, is_current=st.booleans()),
        st.builds(c.StartMatch, player=players, match_id=st.just("m")),
        st.just(c.ReportMade(match_id="m")),
        st.just(c.ReportNotMade(match_id="m")),
        st.just(c.CloseIdle()),
    )


@settings(bounded, max_examples=300)
@given(st.booleans(), st.integers(2, 4), st.lists(commands(), max_size=60))
def test_a_room_holds_together_whatever_is_done_in_it(
    is_listed: bool,  # noqa: FBT001 - drawn
    seat_count: int,
    asked: list[c.Command],
) -> None:
    room = Room(room_id="r", created_ms=0)
    records: list[e.Record] = []
    create = c.CreateRoom(
        player="ann", rule_set="opolyx.classic@1", seat_count=seat_count, is_listed=is_listed
    )
    for command in (create, *asked):
        decision = decide(room, command)
        if isinstance(decision, Refusal) or not decision:
            continue
        record = e.Record(
            room_id="r",
            sequence=room.sequence + 1,
            command_id=f"c{room.sequence}",
            actor="a",
            at_ms=room.sequence,
            events=decision,
        )
        before, room = room, apply(room, record)
        records.append(record)

        assert read_record(write_record(record)) == record
        assert read_room(write_room(room), room.changed_ms) == room
        check_room(room)
        check_step(before, room)
    check_records(room, records)


def check_step(before: Room, after: Room) -> None:
    """Hold what was done to where it was done."""
    assert before.state is not State.CLOSED, "closed is final"
    assert before.banned <= after.banned, "whoever was kicked stays out"
    assert not before.sequence or before.rule_set == after.rule_set
    assert not before.sequence or len(before.table) == len(after.table)
    if before.state is State.STARTED:
        assert after.state is State.STARTED
        assert after.table == before.table
    if after.state is State.STARTING:
        assert after.table == before.table
