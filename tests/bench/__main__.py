"""`python -m tests.bench`: what playing, rebuilding, rolling and verifying cost, and serving.

Name some of the measurements to make only these. Those of one process are CPU time, medians of
several runs, and beside each stands its ratio to the calibration loop, which is what may be
compared. Those of the whole system, `serve` and `parts`, stand beside the least that a call and a
commit could have taken in the same seconds; `watch`, `recover` and `hostile` are figures alone.
"""

import gc
import platform
import sys
import tempfile
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from libs import verify
from libs.kernel.chance import FairDraws
from libs.rules.rule_sets import RULE_SETS
from libs.simulation.keeping import KEY_FILE, Recording, simulation_key, write_key
from libs.simulation.playing import run_match, set_up
from libs.wire.chain import rebuild
from libs.wire.record import StoredRecord
from tests.bench.hostile import hostile
from tests.bench.measuring import RUNS, Measured, calibrate, measure
from tests.bench.serving import parts, serve
from tests.bench.watching import recover, watch

SEED: Final = 1
SEATS: Final = 4
MATCHES: Final = 20
ROLLS: Final = 20_000


def main(names: list[str]) -> None:
    """Make the measurements of these names, or all."""
    version, machine = platform.python_version(), platform.machine()
    print(f"Python {version} on {machine}; medians of {RUNS} runs of CPU time")
    print(f"one pass of the calibration loop: {calibrate() * 1e9:.1f} ns")
    for name, bench in BENCHES.items():
        if not names or name in names:
            print(f"\n{name}: python -m tests.bench {name}")
            bench()


def play() -> None:
    """Whole matches of bots, decisions and events included."""
    for rule_set in RULE_SETS:
        measured = measure(partial(_play, rule_set))
        _tell(rule_set, measured, "dice moves", "aim 100,000, defect under 40,000")


def rebuild_matches() -> None:
    """A match made again from its stored record bytes, the chain checked on the way."""
    records = [_records("opolyx.classic@2", number) for number in range(5)]
    events = sum(stored[-1].last_seq for stored in records)

    def work() -> int:
        for stored in records:
            rebuild(stored)
        return events

    _tell("rebuild", measure(work), "events", "aim 400,000, defect under 150,000")


def memory() -> None:
    """The state of one live match, half-way through: all is bought and much is built."""
    for rule_set in RULE_SETS:
        stored = _records(rule_set, 0)
        size = _size_of_state(stored[: len(stored) // 2])
        print(f"  {rule_set:<18} {size / 1_024:6.1f} KiB (aim 20)")


def rolls() -> None:
    """The dice of one move, by HMAC-SHA-256."""
    draws = FairDraws(set_up("opolyx.classic@2", SEATS, SEED, 0).match_id, bytes(32))
    draws.bind([b""] * SEATS)

    def work() -> int:
        for counter in range(ROLLS):
            draws.roll(counter, False)  # noqa: FBT003 - as the rules call it
        return ROLLS

    _tell("roll", measure(work), "rolls")


def verify_exports() -> None:
    """One export checked from its first byte to its last, signature included."""
    setup = set_up("opolyx.classic@2", SEATS, SEED, 0)
    recording, key = Recording(setup), simulation_key(SEED)
    run_match(setup, recording)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_key(folder, key)
        path = folder / "match.opolyx"
        path.write_bytes(recording.export(key))

        def work() -> int:
            return 1 - verify.verify(path, folder / KEY_FILE).code

        measured = measure(work)
        size = path.stat().st_size
    cost = f"{measured.seconds * 1e3:.1f} ms"
    print(f"  {size / 1_024:.0f} KiB, {len(recording.records)} records: {cost}")
    print(f"  {measured.passes:,.0f} passes")


def _play(rule_set: str) -> int:
    setups = [set_up(rule_set, SEATS, SEED, number) for number in range(MATCHES)]
    return sum(run_match(setup).dice_moves for setup in setups)


def _records(rule_set: str, number: int) -> list[StoredRecord]:
    setup = set_up(rule_set, SEATS, SEED, number)
    recording = Recording(setup)
    run_match(setup, recording)
    return recording.records


def _size_of_state(records: list[StoredRecord]) -> int:
    """Return the bytes that a match keeps once it is rebuilt and its records are gone."""
    rebuild(records)  # whatever is made once is made now
    gc.collect()
    tracemalloc.start()
    match = rebuild(records)
    gc.collect()
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert match.sequence == records[-1].last_seq
    return size


def _tell(name: str, measured: Measured, units: str, goal: str = "") -> None:
    rate, passes = 1 / measured.seconds, measured.passes
    print(f"  {name:<18} {rate:>9,.0f} {units}/s, {passes:7.1f} passes each  {goal}".rstrip())


BENCHES: Final[dict[str, Callable[[], None]]] = {
    "play": play,
    "rebuild": rebuild_matches,
    "memory": memory,
    "roll": rolls,
    "verify": verify_exports,
    "serve": serve,
    "parts": parts,
    "watch": watch,
    "recover": recover,
    "hostile": hostile,
}

SERVING: Final = ("serve", "parts", "watch", "recover", "hostile")
"""Those that need the whole system, and a minute each."""

if __name__ == "__main__":
    main(sys.argv[1:])
