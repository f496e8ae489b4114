"""How to measure on a machine that others share: medians, beside a loop that never changes.

CPU time says what the work took, and a fixed loop of plain Python, run right before each
measurement, says how fast the machine was just then. Their ratio is what can be compared between
two days or two machines.
"""

from collections.abc import Callable
from statistics import median
from time import process_time
from typing import Final, NamedTuple

RUNS: Final = 7
PASSES: Final = 300_000
"""Passes of the calibration loop: some tens of milliseconds."""


class Measured(NamedTuple):
    """A median.

    Attributes:
        seconds: CPU time of one unit of work.
        passes: how many passes of the calibration loop go into it.

    """

    seconds: float
    passes: float


def calibrate() -> float:
    """Return the CPU seconds that one pass of the loop takes right now."""
    table = list(range(64))
    total = 0
    started = process_time()
    for number in range(PASSES):
        total = (total + table[number & 63]) & 1_023
    return (process_time() - started) / PASSES


def measure(work: Callable[[], int], runs: int = RUNS) -> Measured:
    """Run *work*, which returns how many units it did, and return the cost of one."""
    work()  # whatever is made once is made now
    costs, passes = [], []
    for _ in range(runs):
        pass_s = calibrate()
        started = process_time()
        units = work()
        cost = (process_time() - started) / units
        costs.append(cost)
        passes.append(cost / pass_s)
    return Measured(median(costs), median(passes))
