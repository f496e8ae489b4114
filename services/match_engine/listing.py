"""Lists: matches, the newest first, rule sets, and the keys of heads."""

from dataclasses import replace
from typing import Final, NamedTuple

from libs.kernel.ids import MatchId
from libs.rules import events as e
from libs.store.ports import Listed, MatchStore, Status
from libs.wire.events import NewerSchemaError, UnreadableError
from libs.wire.record import decode
from libs.wire.writers import spec_message
from opolyx.match.v1 import match_pb2 as pb
from services.match_engine.callers import Caller, Person, may_see

PAGE: Final = 200
"""How many matches are read from the store at a time."""

LOOKED_AT_MAX: Final = 2_000
"""How many matches are looked at for one page: one that finds few of them ends early (start)."""

_STATUSES: Final = {
    Status.LIVE: pb.MatchSummary.STATUS_RUNNING,
    Status.FROZEN: pb.MatchSummary.STATUS_FROZEN,
    Status.ENDED: pb.MatchSummary.STATUS_ENDED,
    Status.ABORTED: pb.MatchSummary.STATUS_ENDED,
}


class Summaries(NamedTuple):
    """Some matches; *next_before* is where the next page begins, None if this is the last."""

    matches: list[pb.MatchSummary]
    next_before: MatchId | None


class Wanted(NamedTuple):
    """Which matches are asked for: of a status, 0 for any, and only the caller's own if *mine*."""

    status: int
    mine: bool


class Listing:
    """Lists matches as the store has them, whoever owns them: what is in it is durable."""

    def __init__(self, store: MatchStore) -> None:
        self._store = store

    async def matches(
        self, caller: Caller, wanted: Wanted, *, before: MatchId | None, limit: int
    ) -> Summaries:
        """Return matches that the caller may see and wants, from before *before* down.

        There is no index of who sits where. Those that are asked for are found among the newest,
        `LOOKED_AT_MAX` at a time; a page may so be short, or empty, and not be the last.
        """
        found: list[pb.MatchSummary] = []
        for _ in range(LOOKED_AT_MAX // PAGE):
            listed = await self._store.newest(before, PAGE)
            for each in listed:
                summary = _summary(caller, wanted, each)
                if summary is not None and len(found) == limit:
                    return Summaries(found, before)
                before = each.head.match_id
                if summary is not None:
                    found.append(summary)
            if len(listed) < PAGE:
                return Summaries(found, None)
        return Summaries(found, before)


def _summary(caller: Caller, wanted: Wanted, listed: Listed) -> pb.MatchSummary | None:
    """Describe a match, if it is one of those that are asked for."""
    status = pb.MatchSummary.STATUS_QUARANTINED
    if not listed.quarantined:
        status = _STATUSES[listed.head.status]
    if wanted.status not in (pb.MatchSummary.STATUS_UNSPECIFIED, status):
        return None
    try:
        record = decode(listed.first.data)
    except (UnreadableError, NewerSchemaError):
        return None  # a newer engine's, or broken: nothing can be said of it here
    created = record.events[0]
    assert isinstance(created, e.MatchCreated), listed.head.match_id
    if not may_see(caller, created.seats):
        return None
    if wanted.mine and not _has_seat(caller, created.seats):
        return None
    return pb.MatchSummary(
        match_id=listed.head.match_id,
        rule_set=created.rule_set,
        status=status,
        sequence=listed.head.seq,
        seats=[spec_message(replace(spec, cards=())) for spec in created.seats],
        created_ms=record.at_ms,
    )


def _has_seat(caller: Caller, seats: tuple[e.SeatSpec, ...]) -> bool:
    if not isinstance(caller, Person) or not caller.player_id:
        return False
    return any(spec.player == caller.player_id for spec in seats)
