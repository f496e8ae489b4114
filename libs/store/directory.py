"""How matches are found in the store, whoever owns them; and what operators do to them.

Ports beside that of the streams. The same adapters keep them, since what they hold is written
together with a match, or about one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from libs.kernel.ids import CommandId, MatchId
from libs.store.access import Label
from libs.store.ports import Head, MatchStore, Status
from libs.wire.record import StoredRecord


class Listed(NamedTuple):
    """A match in a list; *first* is the record that made it, *label* None if it has none yet."""

    head: Head
    first: StoredRecord
    quarantined: bool
    label: Label | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which matches are asked for: those that fit all that is set.

    Attributes:
        match_id: the one of this id.
        player: those in which this player has a seat.
        rule_set: those of these rules.
        statuses: those whose head says one of these; any if empty.
        quarantined: those that are in quarantine, or those that are not.
        seen_by: those that this player may see; empty for those that anybody may, None for all.

    """

    match_id: MatchId | None = None
    player: str | None = None
    rule_set: str | None = None
    statuses: Sequence[Status] = ()
    quarantined: bool | None = None
    seen_by: str | None = None


class Directory(Protocol):
    """Finds matches. What is read may be read again: `StoreUnavailableError` if nothing answers."""

    async def listed(
        self, wanted: Wanted, before: MatchId | None = None, limit: int = 1000
    ) -> list[Listed]:
        """Return matches from before *before* down, those of the highest ids, *limit* at most.

        Ids are of version 7, so that the higher ones are the newer ones. A match without a label
        is nobody's, has no rules, and may be seen by everybody.
        """
        ...

    async def label(self, match_id: MatchId) -> Label | None:
        """Return a match's label, one that says nothing if it has none yet; None for no match."""
        ...

    async def unlabelled(
        self, after: MatchId | None = None, limit: int = 1000
    ) -> list[tuple[MatchId, StoredRecord]]:
        """Return the matches that lack a label, by id, each with the record that made it."""
        ...

    async def put_label(self, match_id: MatchId, label: Label) -> None:
        """Label a match that has no label; changes nothing if it has one."""
        ...


class NewCall(NamedTuple):
    """What an operator asks for; *match_id* and *command_id* where there are such."""

    operator_id: str
    method: str
    match_id: MatchId | None
    command_id: CommandId | None
    reason: str


class AdminCall(NamedTuple):
    """What an operator has asked for, and what became of it: empty while that is not known."""

    number: int
    asked: NewCall
    at_ms: int
    outcome: str


class Quarantined(NamedTuple):
    """A match that does not check out: what is wrong, where its head is, and since when it is in.

    *seq* is 0 where there is no head.
    """

    match_id: MatchId
    reason: str
    seq: int
    since_ms: int


class Administration(Protocol):
    """Keeps what operators ask for, and shows the quarantine. Raises `StoreUnavailableError`."""

    async def note_call(self, asked: NewCall, outcome: str = "") -> int:
        """Write down what is asked for, and what became of it if that is known; returns a number.

        What changes something is written down before it is done, and settled afterwards.
        """
        ...

    async def settle_call(self, number: int, outcome: str) -> None:
        """Write down what became of it."""
        ...

    async def admin_calls(
        self,
        *,
        match_id: MatchId | None = None,
        operator_id: str | None = None,
        before: int | None = None,
        limit: int = 1000,
    ) -> list[AdminCall]:
        """Return calls, the latest first, from before the number *before* down."""
        ...

    async def quarantined(
        self, after: MatchId | None = None, limit: int = 1000, *, only: MatchId | None = None
    ) -> list[Quarantined]:
        """Return matches in quarantine by id, from behind *after*, or *only* one if it is in."""
        ...


class KeysUsed(NamedTuple):
    """Ids of the keys of all that the store keeps, each with how much would be lost with it.

    *seals* are those of seeds, with how many matches that go on, 0 perhaps; *signs* those of heads,
    with how many.
    """

    seals: dict[str, int]
    signs: dict[str, int]


class Keyring(Protocol):
    """Knows which keys were used. Raises `StoreUnavailableError`."""

    async def keys_used(self) -> KeysUsed:
        """Return the keys that anything was sealed or signed with. It looks at every match."""
        ...


class EngineStore(MatchStore, Directory, Administration, Keyring, Protocol):
    """All that an engine asks of one store."""
