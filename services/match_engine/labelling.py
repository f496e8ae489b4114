"""Labels: by what matches are found, and those of matches that have none yet."""

import asyncio
from contextlib import suppress
from typing import Final, NoReturn

from libs.rules import events as e
from libs.rules.match import Match
from libs.store.access import PUBLIC, Access, Label
from libs.store.directory import Directory
from libs.store.ports import StoreUnavailableError
from libs.telemetry import logs
from libs.wire.events import NewerSchemaError, UnreadableError
from libs.wire.record import StoredRecord, decode

INTERVAL_S: Final = 60.0
"""How often matches without a label are looked for (start)."""

PAGE: Final = 200
"""How many of them are read at a time."""

_log: Final = logs.get()


class Labelling:
    """Labels the matches that were made by a release which knew no labels.

    Any number of engines may do so at once: a match is labelled once, and alike.
    """

    def __init__(self, directory: Directory) -> None:
        self._directory = directory

    async def run(self) -> NoReturn:
        """Label what there is now and then; a store that is away is asked again."""
        while True:
            with suppress(StoreUnavailableError):
                await self.label_all()
            await asyncio.sleep(INTERVAL_S)

    async def label_all(self) -> None:
        """Label every match that lacks a label and whose first record can be read here."""
        after, count = None, 0
        while page := await self._directory.unlabelled(after, PAGE):
            for match_id, first in page:
                label = _label_in(first)
                if label is not None:
                    await self._directory.put_label(match_id, label)
                    count += 1
            after = page[-1][0]
        if count:
            _log.info("matches_labelled", count=count)


def label_of(match: Match, access: Access) -> Label:
    """Return the label of a match that may be seen so."""
    return Label(match.rules.rule_set_id, _people(match.specs), access)


def _label_in(first: StoredRecord) -> Label | None:
    """Read a label from the record that made a match; None if a newer release wrote it."""
    try:
        created = decode(first.data).events[0]
    except (UnreadableError, NewerSchemaError):
        return None
    assert isinstance(created, e.MatchCreated), first.first_seq
    return Label(created.rule_set, _people(created.seats), PUBLIC)


def _people(specs: tuple[e.SeatSpec, ...]) -> tuple[str, ...]:
    return tuple(spec.player for spec in specs if spec.kind == e.PERSON)
