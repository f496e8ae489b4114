"""The benchmarks run; what they measure is never asserted."""

from collections.abc import Callable

import pytest

from tests.bench.__main__ import BENCHES, SERVING, main
from tests.bench.hostile import ATTACKS, hostile
from tests.bench.serving import Scale, parts, serve
from tests.bench.telling import quantile
from tests.bench.watching import Audience, recover, watch

TINY = Scale(matches=3, per_s=20, seconds=1, deep=1, moves=3)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_every_benchmark_prints_its_figures(capsys: pytest.CaptureFixture[str]) -> None:
    main([name for name in BENCHES if name not in SERVING])

    printed = capsys.readouterr().out
    for unit in ("dice moves/s", "events/s", "KiB", "rolls/s", "ms"):
        assert unit in printed


@pytest.mark.slow
@pytest.mark.postgres
@pytest.mark.parametrize("bench", [serve, parts])
def test_the_whole_system_is_measured(
    bench: Callable[[Scale], None], capsys: pytest.CaptureFixture[str]
) -> None:
    bench(TINY)

    printed = capsys.readouterr().out
    for figure in ("an empty call", "a bare commit", "to acknowledgement", "ms a command"):
        assert figure in printed
    assert ("first read" in printed) == (bench is serve)


@pytest.mark.slow
@pytest.mark.postgres
def test_an_audience_sees_every_move(capsys: pytest.CaptureFixture[str]) -> None:
    watch(Audience(watchers=3, moves=4))

    assert "moves that came to everybody: 4 of 4" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.postgres
def test_being_away_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    recover(Audience(kills=1))

    assert "1 kills -9" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.postgres
def test_what_hostile_clients_cost_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    hostile(20)

    printed = capsys.readouterr().out
    assert [name for name in ATTACKS if f"    {name} " not in printed] == []


def test_a_quantile_is_one_of_the_figures() -> None:
    figures = [float(number) for number in range(100, 0, -1)]

    assert quantile(figures, 0.5) == 50
    assert quantile(figures, 0.99) == 99
    assert quantile([7.0], 0.99) == 7
    assert quantile([], 0.5) == 0
