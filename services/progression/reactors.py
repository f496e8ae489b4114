"""From the records of matches to what their people earned, each record once (R1, R2)."""

from collections.abc import Callable, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Final

from libs.eventlog.following import ChainedRecord
from libs.kernel.clock import Clock
from libs.rules import events as e
from libs.rules.rule_sets import rule_set
from libs.telemetry import logs, metrics, names
from libs.wire.words import words_by_number
from opolyx.progression.v1 import progression_event_pb2 as pb
from opolyx.record.v1 import event_pb2 as record_pb
from services.progression import facts
from services.progression.facts import Earned
from services.progression.granting import Ending, FreshSeed, Granting
from services.progression.store import ProgressStore, Taking

_log: Final = logs.get()
_REWARDS: Final = metrics.counter(names.REWARDS_GRANTED)
_CARDS: Final = metrics.counter(names.CARDS_DROPPED)
_RARITIES: Final = words_by_number(record_pb.CollectionCard.Rarity)


class Rewarder:
    """A `Projection` of matches: it grants rewards at their end."""

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
        self.position = store.position
        self.move = store.move
        self.forget = store.forget

    async def apply(self, record: ChainedRecord, events: Sequence[e.Event]) -> bool:
        """Keep what matters of a match, and reward it when it ends. See `Projection.apply`."""
        told = await self._take(record, events)
        if told:
            self._granted()
            _count(told)
            _log.info("rewards_granted", match_id=record.match_id, count=len(told))
        return True

    async def _take(
        self, record: ChainedRecord, events: Sequence[e.Event]
    ) -> list[pb.ProgressionEvent]:
        told: list[pb.ProgressionEvent] = []
        async with self._store.taking(record) as taking:
            if taking is None:
                return []  # another replica was faster
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
        return told

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


def _count(told: list[pb.ProgressionEvent]) -> None:
    for event in told:
        match event.WhichOneof("event"):
            case "match_rewarded":
                rewarded = event.match_rewarded
                brought = rewarded.experience or rewarded.card_count
                _REWARDS.labels("something" if brought else "nothing").inc()
            case "card_dropped":
                _CARDS.labels(_RARITIES[event.card_dropped.card.rarity]).inc()
            case "profile_opened" | "commitment_renewed" | None:
                pass
