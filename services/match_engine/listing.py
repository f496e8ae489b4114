"""Lists of matches, the newest first, as the store has them: whoever owns them."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, NamedTuple

from libs.kernel.ids import MatchId, is_uuid
from libs.rules import events as e
from libs.store.access import PUBLIC
from libs.store.directory import Directory, Listed, Wanted
from libs.store.ports import Status
from libs.wire.events import NewerSchemaError, UnreadableError
from libs.wire.record import decode
from libs.wire.requests import Checks
from libs.wire.writers import spec_message
from opolyx.admin.v1 import admin_service_pb2 as admin_pb
from opolyx.match.v1 import match_pb2 as pb
from services.match_engine.access import watching_message
from services.match_engine.callers import Caller, Person, seen_by

_STATUSES: Final = {
    Status.LIVE: pb.MatchSummary.STATUS_RUNNING,
    Status.FROZEN: pb.MatchSummary.STATUS_FROZEN,
    Status.ENDED: pb.MatchSummary.STATUS_ENDED,
    Status.ABORTED: pb.MatchSummary.STATUS_ENDED,
}


class Found(NamedTuple):
    """Some matches; *next_before* is where the next page begins, None if this is the last."""

    matches: list[admin_pb.FoundMatch]
    next_before: MatchId | None


class Listing:
    """Lists matches. What is in the store is durable, so that any engine may."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory

    async def visible(
        self,
        caller: Caller,
        status: pb.MatchSummary.Status.ValueType,
        *,
        mine: bool,
        before: MatchId | None,
        limit: int,
    ) -> Found:
        """Return matches that *caller* may see, or has a seat in if *mine*, from *before* down."""
        wanted = replace(of_status(status), seen_by=seen_by(caller))
        if mine:
            player = caller.player_id if isinstance(caller, Person) else ""
            if not is_uuid(player):
                return Found([], None)
            wanted = replace(wanted, player=player)
        return await self.found(wanted, before=before, limit=limit)

    async def found(self, wanted: Wanted, *, before: MatchId | None, limit: int) -> Found:
        """Return matches that are asked for, from before *before* down.

        Those of which this release can say nothing are left out: such a page is short, or empty.
        """
        listed = await self._directory.listed(wanted, before, limit + 1)
        page, has_more = listed[:limit], len(listed) > limit
        found = [each for each in map(_found, page) if each is not None]
        return Found(found, page[-1].head.match_id if has_more else None)


def check_status(checks: Checks, status: pb.MatchSummary.Status.ValueType) -> None:
    """Expect a status that is known here, or none."""
    if status not in pb.MatchSummary.Status.values():
        checks.add("status", f"{status} is no value that is known here")


def of_status(status: pb.MatchSummary.Status.ValueType) -> Wanted:
    """Return that matches of a status are asked for; of any if it is unspecified."""
    if status == pb.MatchSummary.STATUS_UNSPECIFIED:
        return Wanted()
    if status == pb.MatchSummary.STATUS_QUARANTINED:
        return Wanted(quarantined=True)
    statuses = tuple(each for each, message in _STATUSES.items() if message == status)
    return Wanted(statuses=statuses, quarantined=False)


def _found(listed: Listed) -> admin_pb.FoundMatch | None:
    """Describe a match; None for one of a newer engine, or a broken one."""
    status = pb.MatchSummary.STATUS_QUARANTINED
    if not listed.quarantined:
        status = _STATUSES[listed.head.status]
    try:
        record = decode(listed.first.data)
    except (UnreadableError, NewerSchemaError):
        return None
    created = record.events[0]
    assert isinstance(created, e.MatchCreated), listed.head.match_id
    summary = pb.MatchSummary(
        match_id=listed.head.match_id,
        rule_set=created.rule_set,
        status=status,
        sequence=listed.head.seq,
        seats=[spec_message(replace(spec, cards=())) for spec in created.seats],
        created_ms=record.at_ms,
    )
    access = listed.label.access if listed.label is not None else PUBLIC
    return admin_pb.FoundMatch(summary=summary, watching=watching_message(access))
