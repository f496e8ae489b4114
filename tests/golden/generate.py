"""Record the golden streams: ``python -m tests.golden.generate``.

Recorded by each release and never edited: what is there already is left as it is. When one of them
breaks, old matches no longer replay, and what is missing is an upcast.
"""

import sys
from typing import Final

from libs.rules import commands as c
from libs.rules import phases
from libs.rules.evolve import evolve
from libs.rules.match import Match
from libs.rules.refusals import Refusal
from libs.rules.rule_sets import rule_set
from libs.rules.snapshot import state_hash
from tests.golden.stream import FOLDER, Stream, write
from tests.support.builders import RULE_SETS
from tests.support.walks import Step, Walk

MATCHES: Final = 5
"""Matches of each rule set."""
STEPS: Final = (160, 200, 260, 300, 120)
"""After how many commands the seats give up, one after the other."""
OPERATOR: Final = "operator:01920000-0000-7000-8000-0000000000ff"
HASHED_EVERY: Final = 50
"""Events between two hashes."""


def main() -> int:
    """Record what is not recorded yet; says what it does."""
    for rules in RULE_SETS:
        for number in range(MATCHES):
            path = FOLDER / f"{rules.replace('opolyx.', '').replace('@', '-')}-{number}.ndjson"
            if path.exists():
                print(f"{path.name}: recorded already")  # noqa: T201 - a script reports
                continue
            walk = _played(rules, number)
            write(path, Stream(tuple(walk.steps), walk.draws.reveal(), _hashes(walk.steps)))
            print(f"{path.name}: {len(walk.steps)} records")  # noqa: T201 - a script reports
    return 0


def _played(rules: str, number: int) -> Walk:
    """Play a match: of bots or people, with an outage and a freeze, given up or broken off."""
    seats = rule_set(rules).seats
    walk = Walk(
        rules,
        seats[number % len(seats)],
        1_000 * RULE_SETS.index(rules) + number,
        has_people=number % 2 == 1,
        surrenders=10**6,
        time_outs=60,
    )
    walk.go(STEPS[number] // 2)
    _send(walk, c.ExtendDeadlines(4_000, 1))
    walk.go(STEPS[number] // 4)
    _send(walk, c.Freeze("a report", OPERATOR))
    walk.now += 30_000
    _send(walk, c.Resume("all well", OPERATOR))
    walk.go(STEPS[number] // 4)
    if number == MATCHES - 1:
        _send(walk, c.Abort("a test", OPERATOR))
    while walk.match.phase != phases.ENDED:
        _send(walk, c.Surrender(walk.match.acting[-1]))
        walk.go(3)
    return walk


def _send(walk: Walk, command: c.Command) -> None:
    assert not isinstance(walk.send(command), Refusal), command


def _hashes(steps: list[Step]) -> dict[int, str]:
    """Return hashes of the state every so many events, and after the last."""
    match = Match()
    hashes = {}
    for event in (event for step in steps for event in step.events):
        evolve(match, event)
        if match.sequence % HASHED_EVERY == 0:
            hashes[match.sequence] = state_hash(match).hex()
    hashes[match.sequence] = state_hash(match).hex()
    return hashes


if __name__ == "__main__":
    sys.exit(main())
