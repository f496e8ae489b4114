import pytest
from hypothesis import given
from hypothesis import strategies as st

from libs.chassis import limiting
from libs.chassis.limiting import Limiter, OpenStreams, Rate
from libs.chassis.status import RefusedError
from libs.kernel.reasons import Reason
from libs.wire.limits import LimitName
from tests.support.times import Times


@pytest.fixture
def times() -> Times:
    return Times()


def admitted(limiter: Limiter, number: int, subject: str = "ann", method: str = "m") -> int:
    """Call so many times, and return how many calls were let in."""
    count = 0
    for _ in range(number):
        try:
            limiter.admit(subject, method)
        except RefusedError:
            continue
        count += 1
    return count


def test_a_burst_is_let_in_and_then_one_for_each_token(times: Times) -> None:
    limiter = Limiter(Rate(per_s=10, burst=5), monotonic_s=times)

    assert admitted(limiter, 9) == 5
    times.now_s += 0.1
    assert admitted(limiter, 9) == 1
    times.now_s += 0.35
    assert admitted(limiter, 9) == 3
    times.now_s += 1_000
    assert admitted(limiter, 9) == 5


def test_who_is_sent_away_is_told_when_to_come_again(times: Times) -> None:
    rooms = Rate(per_s=2, burst=1, limit=LimitName.ROOMS)
    limiter = Limiter(Rate(per_s=2, burst=1), {("rare",): rooms}, monotonic_s=times)
    limiter.admit("ann", "m")
    limiter.admit("ann", "rare")
    times.now_s += 0.1

    with pytest.raises(RefusedError) as caught:
        limiter.admit("ann", "m")
    with pytest.raises(RefusedError) as rarely:
        limiter.admit("ann", "rare")

    assert caught.value.told.reason == rarely.value.told.reason == Reason.RATE_LIMITED
    assert caught.value.told.metadata == {"limit": "calls_per_second"}
    assert rarely.value.told.metadata == {"limit": "rooms_per_minute"}
    assert caught.value.retry_after_ms in {400, 401}
    times.now_s += caught.value.retry_after_ms / 1000
    limiter.admit("ann", "m")


def test_nobody_uses_up_the_tokens_of_others(times: Times) -> None:
    limiter = Limiter(Rate(per_s=1, burst=2), monotonic_s=times)

    assert admitted(limiter, 5, "ann") == 2
    assert admitted(limiter, 5, "bob") == 2


def test_methods_share_a_bucket_unless_they_have_one_of_their_own(times: Times) -> None:
    own = {("rare", "as rare"): Rate(per_s=1, burst=2), ("rarest",): Rate(per_s=1, burst=1)}
    limiter = Limiter(Rate(per_s=1, burst=3), own, monotonic_s=times)

    assert admitted(limiter, 1, method="rare") == 1
    assert admitted(limiter, 5, method="as rare") == 1
    assert admitted(limiter, 5, method="rarest") == 1
    assert admitted(limiter, 2, method="one") == 2
    assert admitted(limiter, 2, method="other") == 1


def test_memory_is_bounded(times: Times, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limiting, "SUBJECTS_MAX", 10)
    limiter = Limiter(Rate(per_s=1, burst=2), monotonic_s=times)
    for number in range(9):
        limiter.admit(f"early-{number}", "m")
    times.now_s += 5
    admitted(limiter, 2, "ann")
    for number in range(20):
        limiter.admit(f"late-{number % 8}", "m") if number < 8 else None

    assert len(limiter._full_at_s) <= 10
    assert admitted(limiter, 1, "ann") == 0


@given(st.lists(st.floats(0, 3), max_size=60), st.integers(1, 20), st.integers(1, 10))
def test_never_more_than_a_burst_and_the_rate_in_any_time(
    waits: list[float], per_s: int, burst: int
) -> None:
    times = Times()
    limiter = Limiter(Rate(per_s, burst), monotonic_s=times)
    let_in: list[float] = []
    for wait in waits:
        times.now_s += wait
        let_in += [times.now_s] * admitted(limiter, 3)

    for first, begin in enumerate(let_in):
        for last in range(first, len(let_in)):
            assert last - first + 1 <= burst + (let_in[last] - begin) * per_s + 1e-6


def test_streams_are_counted_by_subject_as_long_as_they_are_open() -> None:
    streams = OpenStreams(2)
    first = streams.open("ann")
    second = streams.open("ann")

    with pytest.raises(RefusedError) as caught:
        streams.open("ann")
    third = streams.open("bob")
    first.close()
    fourth = streams.open("ann")

    assert caught.value.told.reason == Reason.OVERLOADED
    assert caught.value.told.metadata == {"limit": "streams_per_person"}
    assert caught.value.retry_after_ms is not None
    for each in (second, third, fourth):
        each.close()
    assert not streams._open
