from hypothesis import given
from hypothesis import strategies as st

from libs.eventlog.following import (
    GAP_WAIT_MS,
    WAITING_MAX,
    ChainedRecord,
    Follower,
    Position,
    Verdict,
)
from libs.kernel.ids import MatchId
from libs.wire.record import GENESIS

MATCH = MatchId("01890a5d-ac96-774b-bcce-b302099a8057")


def record(first_seq: int, last_seq: int, prev: bytes, name: bytes) -> ChainedRecord:
    return ChainedRecord(MATCH, first_seq, last_seq, prev, name, b"")


def chain(number: int) -> list[ChainedRecord]:
    """Return records of two events each, the first from sequence 1."""
    names = [GENESIS, *(b"hash-%d" % n for n in range(number))]
    return [record(2 * n + 1, 2 * n + 2, names[n], names[n + 1]) for n in range(number)]


def read(follower: Follower, offered: list[ChainedRecord]) -> list[ChainedRecord]:
    """Offer records as they come, and return those that were accepted."""
    accepted = []
    queue = list(offered)
    while queue:
        each = queue.pop(0)
        if follower.offer(each, 0) is Verdict.NEXT:
            follower.accept(each)
            accepted.append(each)
            if (joining := follower.take_joining(0)) is not None:
                queue.insert(0, joining)
    return accepted


def test_a_record_that_joins_on_is_next() -> None:
    one, two = chain(2)
    follower = Follower(Position())

    assert follower.offer(one, 0) is Verdict.NEXT
    follower.accept(one)
    assert follower.offer(two, 0) is Verdict.NEXT
    assert follower.position == Position(2, one.hash)


def test_a_record_that_was_accepted_is_a_duplicate() -> None:
    one, two = chain(2)
    follower = Follower(Position())
    read(follower, [one, two])

    assert follower.offer(one, 0) is Verdict.DUPLICATE
    assert follower.offer(two, 0) is Verdict.DUPLICATE


def test_a_duplicate_of_before_the_restart_is_known_by_the_stored_hash() -> None:
    one, two = chain(2)
    follower = Follower(Position(two.last_seq, two.hash))

    assert follower.offer(two, 0) is Verdict.DUPLICATE
    assert follower.offer(one, 0) is Verdict.DUPLICATE
    assert follower.offer(two._replace(hash=b"other"), 0) is Verdict.ZOMBIE


def test_another_record_in_the_place_of_an_accepted_one_is_a_zombie() -> None:
    one, two = chain(2)
    follower = Follower(Position())
    read(follower, [one, two])

    assert follower.offer(one._replace(hash=b"other"), 0) is Verdict.ZOMBIE
    assert follower.offer(record(2, 5, b"", b"over the edge"), 0) is Verdict.ZOMBIE
    assert follower.position == Position(two.last_seq, two.hash)


def test_a_record_after_a_gap_waits_and_comes_back() -> None:
    one, two, three = chain(3)
    follower = Follower(Position())

    assert follower.offer(three, 0) is Verdict.WAITS
    assert follower.offer(two, 0) is Verdict.WAITS
    assert follower.take_joining(0) is None
    assert follower.has_gap
    assert read(follower, [one]) == [one, two, three]
    assert not follower.has_gap


def test_a_record_that_does_not_join_on_waits_until_the_right_one_shows_it_a_zombie() -> None:
    one, two = chain(2)
    follower = Follower(Position())
    read(follower, [one])
    foreign = two._replace(prev_hash=b"another chain", hash=b"foreign")

    assert follower.offer(foreign, 0) is Verdict.WAITS
    assert follower.offer(two, 0) is Verdict.NEXT
    follower.accept(two)
    assert follower.take_joining(0) == foreign
    assert follower.offer(foreign, 0) is Verdict.ZOMBIE


def test_a_gap_is_overdue_after_two_seconds() -> None:
    _, two, three = chain(3)
    follower = Follower(Position())
    follower.offer(two, 1_000)
    follower.offer(three, 1_000 + GAP_WAIT_MS - 1)

    assert not follower.is_overdue(1_000 + GAP_WAIT_MS - 1)
    assert follower.is_overdue(1_000 + GAP_WAIT_MS)


def test_a_gap_is_overdue_at_once_when_too_much_waits_and_what_is_let_go_is_missed() -> None:
    records = chain(WAITING_MAX + 2)
    follower = Follower(Position())
    for each in records[1:]:
        follower.offer(each, 0)

    assert follower.is_overdue(0)
    assert read(follower, records[:1]) == records[:-1]
    assert follower.has_gap
    assert read(follower, records[-1:]) == records[-1:]
    assert not follower.has_gap


def test_giving_up_leaves_no_gap() -> None:
    _, two, three = chain(3)
    follower = Follower(Position())
    read(follower, [two, three])

    assert follower.give_up() == [two, three]
    assert not follower.has_gap
    assert not follower.is_overdue(1_000_000)


@given(st.permutations(range(8)), st.lists(st.integers(0, 7), max_size=10))
def test_whatever_the_order_each_record_is_accepted_once_in_sequence(
    order: list[int], again: list[int]
) -> None:
    records = chain(8)

    accepted = read(Follower(Position()), [records[n] for n in [*again, *order, *again]])

    assert accepted == records
