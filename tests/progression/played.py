"""Matches that were played, chosen by how they ended."""

from collections.abc import Callable, Sequence
from functools import lru_cache

from libs.kernel.ids import PlayerId
from libs.rules import commands as c
from libs.rules import events as e
from libs.wire.record import decode
from tests.support.matches import OPERATOR, Table, play_match

LATE = 21
"""The first round in which a match may end and pay."""

SEEDS = range(1, 60)


class Played:
    """A match at its end: its table, and how it ended; None if it was aborted."""

    def __init__(self, table: Table) -> None:
        self.table = table
        events = decode(table.records[-1].data).events
        self.ended = next((each for each in events if isinstance(each, e.MatchEnded)), None)
        self.match_id = table.chain.match_id
        self.records = table.records

    @property
    def end(self) -> e.MatchEnded:
        assert self.ended is not None
        return self.ended

    def experience(self, seat: int) -> int:
        """Return what a person's seat earned, counted from the end of the match."""
        end, match = self.end, self.table.match
        rule_set = match.rules.rule_set_id
        if end.round < LATE:
            return 0
        if rule_set.endswith("@1"):
            return 200 if seat in end.winners else 0
        if rule_set.startswith("opolyx.teams"):
            paid = 200 if seat in end.winners else 120
        else:
            paid = (200, 120, 80, 60, 40, 20)[end.placing.index(seat)]
        return paid + 25 * end.groups_held[seat] + (0 if match.out[seat] else 30)


def played(
    rule_set: str,
    seats: int,
    people: Sequence[PlayerId],
    having: Callable[[Played], bool] = lambda played: played.end.round >= LATE,
    *,
    seeds: Sequence[int] = SEEDS,
) -> Played:
    """Return a match that ended as is asked for; one that pays, if nothing else is."""
    found = (_play(rule_set, seats, tuple(people), seed) for seed in seeds)
    return next(each for each in found if each.ended is not None and having(each))


def aborted(rule_set: str, people: Sequence[PlayerId]) -> Played:
    """Return a match that an operator ended long after round 20."""
    table = play_match(rule_set, 4, 5, 400, people)
    assert table.match.round >= LATE
    assert table.send(c.Abort("enough", OPERATOR), OPERATOR)
    return Played(table)


@lru_cache(maxsize=256)
def _play(rule_set: str, seats: int, people: tuple[PlayerId, ...], seed: int) -> Played:
    return Played(play_match(rule_set, seats, seed, 8_000, people))
