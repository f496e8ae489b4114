"""From the records of matches to what their people earned, each record once (R1, R2)."""

from collections.abc import Callable
from itertools import groupby
from operator import attrgetter
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
from libs.rules.rule_sets import rule_set
from libs.telemetry import logs, metrics, names
from libs.wire.events import UnreadableError
from libs.wire.record import open_envelope
from libs.wire.words import words_by_number
from opolyx.progression.v1 import progression_event_pb2 as pb
from opolyx.record.v1 import event_pb2 as record_pb
from services.progression import facts
from services.progression.facts import Earned
from services.progression.granting import Ending, FreshSeed, Granting
from services.progression.store import ProgressStore, Taking

GROUP: Final = "progression"

_log: Final = logs.get()
_REWARDS: Final = metrics.counter(names.REWARDS_GRANTED)
_CARDS: Final = metrics.counter(names.CARDS_DROPPED)
_RARITIES: Final = words_by_number(record_pb.CollectionCard.Rarity)


class Rewarder:
    """Grants rewards as the records of matches come.

    A record with an effect is one transaction with its position. Of those without one, which are
    nearly all, the position is kept in memory until the next of these, or until the reader settles:
    the log's own position follows only then, so a crash in between costs doubles and no more.
    """

    def __init__(
        self,
        store: ProgressStore,
        clock: Clock,
        fresh_seed: FreshSeed,
        granted: Callable[[], None],
    ) -> None:
        """Grant into *store*; *granted* is called after each commit that has events."""
        self._store = store
        self._clock = clock
        self._fresh_seed = fresh_seed
        self._granted = granted
        self._moved: dict[MatchId, Position] = {}

    async def load(self, match_id: MatchId) -> Position:
        """Return how far a match has been read. See `libs.eventlog.reading.Load`."""
        if not is_uuid(match_id):
            raise PoisonError("a match without a match id")
        return self._moved.get(match_id) or await self._store.position(match_id)

    async def apply(self, record: ChainedRecord) -> None:
        """Let a record take effect. See `libs.eventlog.reading.Apply`."""
        try:
            events = facts.read_facts(open_envelope(record.data).events[:])
            if events:
                await self._take(record, events)
                self._moved.pop(record.match_id, None)
            else:
                self._moved[record.match_id] = Position(record.last_seq, record.hash)
        except UnreadableError as error:
            raise PoisonError(str(error)) from error

    async def flush(self) -> None:
        """Keep the positions that are in memory alone."""
        moved = dict(self._moved)
        await self._store.move(moved)
        self._moved.clear()

    async def read_anew(self, match_id: MatchId) -> None:
        """Forget how far a match was read and what was kept of it, so that it is read again."""
        self._moved.pop(match_id, None)
        await self._store.forget(match_id)

    async def _take(self, record: ChainedRecord, events: list[e.Event]) -> None:
        told: list[pb.ProgressionEvent] = []
        async with self._store.taking(record) as taking:
            if taking is None:
                return  # another replica was faster
            for event in events:
                match event:
                    case e.MatchCreated():
                        await taking.keep_match(facts.opened(event))
                    case e.SeatBankrupted(seat) | e.SeatSurrendered(seat):
                        match = await taking.open_match()
                        await taking.keep_match(facts.with_out(match, seat))
                    case e.MatchEnded():
                        told += await self._reward(taking, record, event)
                    case e.MatchAborted():
                        await taking.close_match()
                    case _:
                        raise AssertionError(event)
        if told:
            self._granted()
            _count(told)
            _log.info("rewards_granted", match_id=record.match_id, count=len(told))

    async def _reward(
        self, taking: Taking, record: ChainedRecord, ended: e.MatchEnded
    ) -> list[pb.ProgressionEvent]:
        match = await taking.open_match()
        board = rule_set(match.rule_set).board
        ending = Ending(record.hash, board, self._clock.now_ms())
        earnings = facts.earned(record.match_id, match, ended)
        earnings = await taking.not_granted(earnings)
        told = []
        # By player and not by seat: so all who reward the same people lock them in one order.
        for player_id, theirs in groupby(
            sorted(earnings, key=attrgetter("player_id", "seat")), key=attrgetter("player_id")
        ):
            granting = Granting(await taking.standing(player_id), ending, self._fresh_seed)
            lists: list[tuple[Earned, list[pb.ProgressionEvent]]] = []
            for earned in theirs:
                before = len(granting.events)
                granting.grant(earned)
                lists.append((earned, granting.events[before:]))
            await taking.keep(granting.standing, granting.events)
            for earned, events in lists:
                await taking.list_reward(earned, events)
            told += granting.events
        await taking.close_match()
        return told


class Reading:
    """A `Handler` of match records: a `RecordReader` whose positions are kept when it settles."""

    def __init__(self, rewarder: Rewarder, reader: RecordReader) -> None:
        self._rewarder = rewarder
        self._reader = reader

    async def handle(self, delivery: Delivery) -> None:
        """See `libs.eventlog.consumer.Handler`."""
        await self._reader.handle(delivery)

    async def settle(self) -> bool:
        """See `libs.eventlog.consumer.Handler`."""
        is_settled = await self._reader.settle()
        await self._rewarder.flush()
        return is_settled


async def read_records(
    rewarder: Rewarder, log: EventLog, fetch: Fetch, clock: Clock, dead_letters: DeadLetters
) -> NoReturn:
    """Read the records of all matches until cancelled, or until something fails.

    A match that was not read as its engine has it is read again from its first record the next
    time: nothing is granted twice (XP-6).

    Raises:
        BrokenStreamError: such a match was found.
        Exception: what `libs.eventlog.consumer.consume` raises, and the store.

    """
    reader = RecordReader(
        group=GROUP,
        load=rewarder.load,
        apply=rewarder.apply,
        fetch=fetch,
        clock=clock,
        dead_letters=dead_letters,
    )
    try:
        await consume(
            log,
            [MATCH_RECORDS.name],
            group=GROUP,
            handler=Reading(rewarder, reader),
            dead_letters=dead_letters,
        )
    except BrokenStreamError as error:
        _log.error("match_read_anew", match_id=error.match_id)
        await rewarder.read_anew(error.match_id)
        raise


def _count(told: list[pb.ProgressionEvent]) -> None:
    for event in told:
        match event.WhichOneof("event"):
            case "match_rewarded":
                rewarded = event.match_rewarded
                brought = rewarded.experience or rewarded.card_count
                _REWARDS.labels("something" if brought else "nothing").inc()
            case "card_dropped":
                _CARDS.labels(_RARITIES[event.card_dropped.card.rarity]).inc()
            case "profile_opened" | None:
                pass
