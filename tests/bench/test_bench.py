"""The benchmarks run; what they measure is never asserted."""

import pytest

from tests.bench.__main__ import main


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_every_benchmark_prints_its_figures(capsys: pytest.CaptureFixture[str]) -> None:
    main([])

    printed = capsys.readouterr().out
    for unit in ("dice moves/s", "events/s", "KiB", "rolls/s", "ms"):
        assert unit in printed
