"""A recorded match, held to all invariants from its records alone (write protocol, I1-I13)."""

from collections.abc import Iterable
from typing import NamedTuple

from libs.kernel.command_ids import fire_id
from libs.rules.clocks import open_deadlines
from libs.rules.evolve import apply
from libs.rules.match import Match
from libs.simulation.invariants import Auditor, BrokenInvariantError
from libs.wire.chain import follow
from libs.wire.record import GENESIS, Record, StoredRecord


class Audited(NamedTuple):
    """A match that was found sound.

    Attributes:
        match: as its records leave it.
        records, events: how many there are.
        last_hash: the end of its chain.

    """

    match: Match
    records: int
    events: int
    last_hash: bytes


def audit(stored: Iterable[StoredRecord]) -> Audited:
    """Read a match from its first record on, and doubt everything in it.

    Its draws are not made anew: for that the seed must be known, and `libs.verify` does it.

    Raises:
        BrokenInvariantError: the first law that does not hold.
        BrokenChainError: a record does not join on (I1, I2, I3).
        UnreadableError, NewerSchemaError: bytes that are no record, or not yet one.

    """
    kept = list(stored)
    match, auditor = Match(), Auditor(has_grace=True)
    seen: set[str] = set()
    for record in follow(kept):
        if record.command_id in seen:
            raise BrokenInvariantError("a command is accepted once (I5)", record.command_id)
        seen.add(record.command_id)
        is_fired = _is_fired(match, record)
        apply(match, record.events)
        auditor.check(match, record.at_ms, record.events, is_fired=is_fired)
    return Audited(match, len(kept), match.sequence, kept[-1].hash if kept else GENESIS)


def _is_fired(match: Match, record: Record) -> bool:
    """Tell whether a record is that of one of the deadlines that are open before it."""
    return any(
        record.command_id == fire_id(record.match_id, deadline.deadline_id)
        for deadline in open_deadlines(match)
    )
