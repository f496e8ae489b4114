"""Play many matches of every rule set under audit, by one command.

    .venv/bin/python -m tests.simulation.many             # 2,000 matches of each, on two cores
    .venv/bin/python -m tests.simulation.many 100 1

A broken law ends it with the law, and with the setup that repeats the match.
"""

import sys
from collections.abc import Iterator
from typing import Final

from libs.bots.strengths import STRENGTHS
from libs.rules.rule_sets import RULE_SETS
from libs.simulation.simulating import Order, Outcome, simulate

MATCHES: Final = 2_000
JOBS: Final = 2

TABLES: Final = tuple(
    (rule_set_id, seats)
    for rule_set_id, rules in RULE_SETS.items()
    for seats in ((4, 6) if rules.teams else (4,))
)
"""Four seats everywhere, and the six of Teams."""


def play_all(matches: int, jobs: int) -> Iterator[tuple[str, int, Outcome]]:
    """Yield what came of each table; the bots of all strengths play against each other."""
    for rule_set, seats in TABLES:
        order = Order(
            rule_set=rule_set,
            seats=seats,
            matches=matches,
            seed=2_000,
            strengths=tuple(STRENGTHS),
            check=True,
        )
        yield rule_set, seats, simulate(order, jobs)


def main(matches: int = MATCHES, jobs: int = JOBS) -> None:
    """Print one line for each table."""
    for rule_set, seats, outcome in play_all(matches, jobs):
        ended = ", ".join(f"{why} {count}" for why, count in outcome.ended_by.items())
        sys.stdout.write(
            f"{rule_set:<18} {seats} seats: {outcome.matches} matches, {ended}; "
            f"{outcome.rounds_mean} rounds, wins {outcome.wins_by_seat}, "
            f"hash {outcome.final_hash[:16]}\n"
        )
        sys.stdout.flush()


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
