"""The heap of armed deadlines (T1, T3)."""

from hypothesis import given
from hypothesis import strategies as st

from libs.kernel.ids import MatchId
from services.timer.armed import LEARNED_MS, Armed, Told

MATCH = MatchId("0190a000-0000-7000-8000-000000000001")
OTHER = MatchId("0190a000-0000-7000-8000-000000000002")


def told(**deadlines: int) -> list[Told]:
    return [Told(name, fire_ms) for name, fire_ms in deadlines.items()]


def taken(armed: Armed, now_ms: int, count: int = 100) -> list[str]:
    return [shot.deadline_id for shot in armed.take_due(now_ms, count)]


def test_deadlines_fire_by_their_time() -> None:
    armed = Armed()
    armed.arm(MATCH, 1, told(late=300, early=100))
    armed.arm(OTHER, 1, told(between=200))

    assert armed.next_ms() == 100
    assert taken(armed, 250) == ["early", "between"]
    assert armed.next_ms() == 300


def test_at_the_same_moment_they_fire_in_the_order_in_which_they_are_told() -> None:
    armed = Armed()
    armed.arm(MATCH, 1, told(roll=100, first_offer=100, second_offer=100))

    assert taken(armed, 100) == ["roll", "first_offer", "second_offer"]


def test_no_more_are_taken_than_asked_for() -> None:
    armed = Armed()
    armed.arm(MATCH, 1, told(a=1, b=2, c=3))

    assert taken(armed, 10, count=2) == ["a", "b"]
    assert taken(armed, 10, count=2) == ["c"]


def test_what_is_told_replaces_what_was_told_of_the_match() -> None:
    armed = Armed()
    armed.arm(MATCH, 1, told(old=100, kept=100))
    armed.arm(OTHER, 1, told(other=100))
    armed.arm(MATCH, 2, told(kept=100, new=100))

    assert sorted(taken(armed, 100)) == ["kept", "new", "other"]


def test_what_is_older_than_what_is_known_changes_nothing() -> None:
    armed = Armed()
    armed.arm(MATCH, 5, told(new=100))
    armed.arm(MATCH, 4, told(old=100))
    armed.learn(MATCH, 4, told(old=100), now_ms=0)

    assert taken(armed, 100) == ["new"]


def test_the_same_sequence_is_told_again_after_a_stream_was_opened() -> None:
    armed = Armed()
    armed.arm(MATCH, 5, told(wrong=100))
    armed.arm(MATCH, 5, told(right=100))

    assert taken(armed, 100) == ["right"]


def test_none_means_that_there_is_nothing_to_fire() -> None:
    armed = Armed()
    armed.arm(MATCH, 1, told(a=100, b=100))
    armed.arm(MATCH, 2, [])

    assert armed.next_ms() is None
    assert len(armed) == 0


def test_a_shot_is_out_until_it_is_put_back() -> None:
    armed = Armed()
    armed.arm(MATCH, 1, told(a=100))
    (shot,) = armed.take_due(100, 1)

    assert taken(armed, 1_000) == []
    armed.put_back(shot, 1_200)
    assert taken(armed, 1_199) == []
    assert taken(armed, 1_200) == ["a"]


def test_a_shot_that_is_told_again_while_it_is_out_stays_out() -> None:
    armed = Armed()
    armed.arm(MATCH, 1, told(a=100))
    armed.take_due(100, 1)
    armed.arm(MATCH, 2, told(a=100))

    assert taken(armed, 1_000) == []


def test_a_forgotten_shot_is_never_fired_again() -> None:
    armed = Armed()
    armed.arm(MATCH, 1, told(a=100))
    (shot,) = armed.take_due(100, 1)
    armed.forget(shot)
    armed.forget(shot)
    armed.put_back(shot, 100)

    assert taken(armed, 1_000) == []
    assert len(armed) == 0


def test_an_answer_to_what_was_replaced_meanwhile_changes_nothing() -> None:
    armed = Armed()
    armed.arm(MATCH, 1, told(old=100))
    (shot,) = armed.take_due(100, 1)
    armed.arm(MATCH, 2, told(new=200))
    armed.put_back(shot, 150)
    armed.forget(shot)

    assert taken(armed, 1_000) == ["new"]
    assert len(armed) == 1


def test_an_extended_deadline_fires_at_its_new_time_alone() -> None:
    """T8."""
    armed = Armed()
    armed.arm(MATCH, 1, told(a=100))
    armed.arm(MATCH, 2, told(a=500))

    assert taken(armed, 499) == []
    assert taken(armed, 500) == ["a"]
    assert armed.next_ms() is None


def test_a_deadline_that_is_extended_while_it_is_out_waits_for_its_new_time() -> None:
    armed = Armed()
    armed.arm(MATCH, 1, told(a=100))
    (shot,) = armed.take_due(100, 1)
    armed.arm(MATCH, 2, told(a=500))
    armed.put_back(shot, 150)

    assert armed.next_ms() == 500


def test_a_shot_that_is_put_off_is_late_from_then_on_only() -> None:
    armed = Armed()
    armed.arm(MATCH, 1, told(a=100))
    (shot,) = armed.take_due(100, 1)
    armed.put_off(shot, 500)

    assert armed.next_ms() == shot.fire_ms == 500


def test_what_is_learned_behind_the_time_waits_for_the_records_that_follow() -> None:
    armed = Armed()
    armed.learn(MATCH, 1, told(past=100, soon=10_500), now_ms=10_000)
    armed.learn(OTHER, 1, told(future=20_000), now_ms=10_000)

    assert taken(armed, 10_000 + LEARNED_MS - 1) == []
    assert taken(armed, 10_000 + LEARNED_MS) == ["past", "soon"]
    assert taken(armed, 20_000) == ["future"]


def test_what_its_owner_tells_of_a_match_is_better_than_what_is_learned() -> None:
    armed = Armed()
    armed.arm(MATCH, 5, told(open=100))
    armed.learn(MATCH, 5, told(open=100, closed=100), now_ms=0)

    assert taken(armed, 10_000) == ["open"]


def test_learning_more_does_not_hold_up_what_is_armed() -> None:
    armed = Armed()
    armed.arm(MATCH, 5, told(a=100))
    armed.learn(MATCH, 6, told(a=100), now_ms=100)

    assert taken(armed, 100) == ["a"]


def test_a_whole_match_is_forgotten() -> None:
    armed = Armed()
    armed.arm(MATCH, 5, told(a=100, b=200))
    armed.arm(OTHER, 5, told(c=300))
    (shot,) = armed.take_due(100, 1)
    armed.forget_match(MATCH)
    armed.forget_match(MATCH)
    armed.put_back(shot, 150)

    assert taken(armed, 1_000) == ["c"]


def test_what_is_dead_does_not_pile_up() -> None:
    armed = Armed()
    for sequence in range(1, 20_000):
        armed.arm(MATCH, sequence, [Told(f"roll:0:{sequence}", 1_000_000 + sequence)])

    assert len(armed._heap) < 2_000
    assert taken(armed, 2_000_000) == ["roll:0:19999"]


MATCHES = [MATCH, OTHER]
SETS = st.dictionaries(st.sampled_from("abcd"), st.integers(1, 20), max_size=4)


@given(
    st.lists(st.tuples(st.sampled_from(MATCHES), st.integers(1, 6), SETS), max_size=12),
    st.integers(0, 20),
)
def test_what_is_due_is_what_the_latest_sets_say(
    tellings: list[tuple[MatchId, int, dict[str, int]]], now_ms: int
) -> None:
    armed, latest = Armed(), dict[MatchId, tuple[int, dict[str, int]]]()
    for match_id, sequence, deadlines in tellings:
        armed.arm(match_id, sequence, [Told(*told) for told in deadlines.items()])
        # A match without deadlines is not remembered, nor how far it was.
        if sequence >= latest.get(match_id, (0, {}))[0]:
            latest[match_id] = (sequence, deadlines)
            if not deadlines:
                del latest[match_id]
    expected = {(m, d, ms) for m, (_, found) in latest.items() for d, ms in found.items()}

    due = armed.take_due(now_ms, 100)

    assert {(s.match_id, s.deadline_id, s.fire_ms) for s in due} == {
        each for each in expected if each[2] <= now_ms
    }
    assert [s.fire_ms for s in due] == sorted(s.fire_ms for s in due)
    assert len(armed) == len(expected)
