"""The directory and the administration of the store in memory."""

from abc import ABC, abstractmethod

from libs.kernel.clock import Clock
from libs.kernel.ids import MatchId
from libs.store.access import Label
from libs.store.directory import AdminCall, KeysUsed, Listed, NewCall, Quarantined, Wanted
from libs.store.memory_stream import MemoryStream
from libs.wire.record import StoredRecord


class MemoryDirectory(ABC):
    """The part of `MemoryMatchStore` that finds matches, and keeps what operators do to them."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._streams: dict[MatchId, MemoryStream] = {}
        self._quarantined: dict[MatchId, tuple[str, int]] = {}
        self._calls: list[AdminCall] = []

    @abstractmethod
    async def _answer(self, method: str) -> None:
        """Let a call of *method* through, or raise `StoreUnavailableError`."""

    async def listed(
        self, wanted: Wanted, before: MatchId | None = None, limit: int = 1000
    ) -> list[Listed]:
        """Return matches, the newest first. See `Directory.listed`."""
        await self._answer("listed")
        found = []
        for match_id, stream in sorted(self._streams.items(), reverse=True):
            if (before is None or match_id < before) and self._fits(wanted, match_id, stream):
                first = stream.records(0, 1)[0]
                is_out = match_id in self._quarantined
                found.append(Listed(stream.head, first, is_out, stream.label))
        return found[:limit]

    def _fits(self, wanted: Wanted, match_id: MatchId, stream: MemoryStream) -> bool:
        label = stream.label or Label("", ())
        return (
            wanted.match_id in (None, match_id)
            and (wanted.player is None or wanted.player in label.players)
            and wanted.rule_set in (None, label.rule_set)
            and (not wanted.statuses or stream.head.status in wanted.statuses)
            and wanted.quarantined in (None, match_id in self._quarantined)
            and (wanted.seen_by is None or label.access.lets_in(wanted.seen_by, label.players))
        )

    async def label(self, match_id: MatchId) -> Label | None:
        """Return a match's label. See `Directory.label`."""
        await self._answer("label")
        stream = self._streams.get(match_id)
        return None if stream is None else stream.label or Label("", (), stream.access)

    async def unlabelled(
        self, after: MatchId | None = None, limit: int = 1000
    ) -> list[tuple[MatchId, StoredRecord]]:
        """Return the matches that lack a label. See `Directory.unlabelled`."""
        await self._answer("unlabelled")
        return [
            (match_id, stream.records(0, 1)[0])
            for match_id, stream in sorted(self._streams.items())
            if stream.label is None and (after is None or match_id > after)
        ][:limit]

    async def put_label(self, match_id: MatchId, label: Label) -> None:
        """Label a match. See `Directory.put_label`."""
        await self._answer("put_label")
        stream = self._streams.get(match_id)
        if stream is not None and stream.label is None:
            stream.put_label(label)

    async def note_call(self, asked: NewCall, outcome: str = "") -> int:
        """Write down what is asked for. See `Administration.note_call`."""
        await self._answer("note_call")
        number = len(self._calls) + 1
        self._calls.append(AdminCall(number, asked, self._clock.now_ms(), outcome))
        return number

    async def settle_call(self, number: int, outcome: str) -> None:
        """Write down what became of it. See `Administration.settle_call`."""
        await self._answer("settle_call")
        self._calls[number - 1] = self._calls[number - 1]._replace(outcome=outcome)

    async def admin_calls(
        self,
        *,
        match_id: MatchId | None = None,
        operator_id: str | None = None,
        before: int | None = None,
        limit: int = 1000,
    ) -> list[AdminCall]:
        """Return calls, the latest first. See `Administration.admin_calls`."""
        await self._answer("admin_calls")
        return [
            call
            for call in reversed(self._calls)
            if match_id in (None, call.asked.match_id)
            and operator_id in (None, call.asked.operator_id)
            and (before is None or call.number < before)
        ][:limit]

    async def quarantine(self, match_id: MatchId, reason: str) -> None:
        """Mark a match that does not check out. See `MatchStore.quarantine`."""
        await self._answer("quarantine")
        self._quarantined.setdefault(match_id, (reason, self._clock.now_ms()))

    async def release(self, match_id: MatchId) -> None:
        """Take a match out of quarantine. See `MatchStore.release`."""
        await self._answer("release")
        self._quarantined.pop(match_id, None)

    async def quarantined(
        self, after: MatchId | None = None, limit: int = 1000, *, only: MatchId | None = None
    ) -> list[Quarantined]:
        """Return matches in quarantine. See `Administration.quarantined`."""
        await self._answer("quarantined")
        return [
            Quarantined(match_id, reason, self._seq(match_id), since_ms)
            for match_id, (reason, since_ms) in sorted(self._quarantined.items())
            if (after is None or match_id > after) and only in (None, match_id)
        ][:limit]

    async def keys_used(self) -> KeysUsed:
        """Return the keys that were used. See `Keyring.keys_used`."""
        await self._answer("keys_used")
        used = KeysUsed({}, {})
        for _, stream in sorted(self._streams.items()):
            goes_on, signed = not stream.head.status.is_over, stream.head.signed
            key_id = stream.seed.key_id
            used.seals[key_id] = used.seals.get(key_id, 0) + goes_on
            if signed is not None:
                used.signs[signed.key_id] = used.signs.get(signed.key_id, 0) + 1
        return used

    def _seq(self, match_id: MatchId) -> int:
        stream = self._streams.get(match_id)
        return stream.head.seq if stream is not None else 0
