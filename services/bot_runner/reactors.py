"""Learns of the seats of bots from the records of matches too (R1, R2).

So a call of the lobby that is lost costs time, and no match.
"""

import asyncio
from collections.abc import Callable
from typing import Final, NoReturn

from libs.eventlog.consumer import consume
from libs.eventlog.dead_letters import DeadLetters, PoisonError
from libs.eventlog.following import ChainedRecord, Position
from libs.eventlog.ports import Delivery, EventLog
from libs.eventlog.reading import BrokenStreamError, Fetch, RecordReader
from libs.eventlog.topics import MATCH_RECORDS
from libs.kernel.clock import Clock
from libs.kernel.ids import MatchId, is_uuid
from libs.rules import events as e
from libs.telemetry import logs
from libs.wire.events import UnreadableError, reader_of
from libs.wire.record import open_envelope
from services.bot_runner.store import BotSeats

GROUP: Final = "bot_runner"

KEEP_S: Final = 1.0
"""How often positions that moved over records without an effect are kept (start)."""

_read: Final = reader_of((e.MatchCreated, e.MatchEnded, e.MatchAborted))

_log: Final = logs.get()


class Learner:
    """A `Handler` of match records: seats are taken with the first, and let go of with the last.

    A record between them moves the position alone, which is kept in memory and written once a
    second, however many there are: the log's own position follows only then, so a crash costs
    doubles and no more.
    """

    def __init__(  # noqa: PLR0913 - what a reader is made of
        self,
        *,
        seats: BotSeats,
        learned: Callable[[], None],
        fetch: Fetch,
        clock: Clock,
        log: EventLog,
        dead_letters: DeadLetters,
    ) -> None:
        """Learn into *seats*; *learned* is called when there are new ones."""
        self._seats = seats
        self._learned = learned
        self._log = log
        self._dead_letters = dead_letters
        self._moved: dict[MatchId, Position] = {}
        self._kept_at_s = 0.0
        self._reader = RecordReader(
            group=GROUP,
            load=self._load,
            apply=self._apply,
            fetch=fetch,
            clock=clock,
            dead_letters=dead_letters,
        )

    async def run(self) -> NoReturn:
        """Read the log until cancelled. Raises what `consume` does, and may then be made anew.

        A match that was not read as its engine has it is read from its first record the next time.
        """
        try:
            await consume(
                self._log,
                [MATCH_RECORDS.name],
                group=GROUP,
                handler=self,
                dead_letters=self._dead_letters,
            )
        except BrokenStreamError as error:
            _log.error("match_read_anew", match_id=error.match_id)
            self._moved.pop(error.match_id, None)
            await self._seats.forget(error.match_id)
            raise

    async def handle(self, delivery: Delivery) -> None:
        """See `libs.eventlog.consumer.Handler`."""
        await self._reader.handle(delivery)

    async def settle(self) -> bool:
        """See `libs.eventlog.consumer.Handler`."""
        is_settled = await self._reader.settle()
        now_s = asyncio.get_running_loop().time()
        if now_s < self._kept_at_s + KEEP_S:
            return is_settled and not self._moved
        await self._seats.move(self._moved)
        self._moved.clear()
        self._kept_at_s = now_s
        return is_settled

    async def _load(self, match_id: MatchId) -> Position:
        if not is_uuid(match_id):
            raise PoisonError("a match without a match id")
        return self._moved.get(match_id) or await self._seats.position(match_id)

    async def _apply(self, record: ChainedRecord) -> None:
        try:
            events = _read(open_envelope(record.data).events[:])
        except UnreadableError as error:
            raise PoisonError(str(error)) from error
        position = Position(record.last_seq, record.hash)
        for event in events:
            match event:
                case e.MatchCreated(seats=specs):
                    bots = {n: spec.strength for n, spec in enumerate(specs) if spec.kind == e.BOT}
                    if bots:
                        await self._seats.learn(record.match_id, position, bots)
                        self._learned()
                case _:
                    await self._seats.learn_end(record.match_id, position)
        self._moved[record.match_id] = position
