"""Exports to be verified, and the means to forge them well: every hash and signature made anew."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from libs.kernel.ids import MatchId
from libs.wire.export import write_export
from libs.wire.heads import SignedHead, SigningKey
from libs.wire.record import GENESIS, StoredRecord, chain_hash
from opolyx.record.v1 import record_pb2 as pb
from tests.support.matches import play_to_an_end

KEY: Final = SigningKey(bytes(range(32)), "engine-1")
"""The engine's own key: who holds it can forge whatever no other check finds."""


@dataclass(frozen=True)
class Evidence:
    """A match's records as messages, to be changed and put into an export again."""

    match_id: MatchId
    records: tuple[bytes, ...]
    ended: bool

    def messages(self) -> list[pb.Record]:
        """Return the records, opened."""
        return [pb.Record.FromString(data) for data in self.records]

    def forged(self, forge: Callable[[list[pb.Record]], object]) -> "Evidence":
        """Return the match as *forge* leaves its records; nothing is made to fit."""
        messages = self.messages()
        forge(messages)
        return replace(self, records=tuple(message.SerializeToString() for message in messages))

    def chained(self) -> list[StoredRecord]:
        """Return the records with their sequences, links and hashes made to fit."""
        stored = []
        seq, last_hash = 0, GENESIS
        for message in self.messages():
            message.first_seq, message.prev_hash = seq + 1, last_hash
            seq += len(message.events)
            message.last_seq = seq
            data = message.SerializeToString()
            last_hash = chain_hash(last_hash, data)
            stored.append(StoredRecord(message.first_seq, seq, last_hash, data))
        return stored

    def export(self, head: SignedHead | None = None, key: SigningKey = KEY) -> bytes:
        """Return an export that is right in all but what the records tell."""
        return exported(self.match_id, self.chained(), head, key=key, ended=self.ended)


def exported(
    match_id: MatchId,
    records: Sequence[StoredRecord],
    head: SignedHead | None = None,
    *,
    key: SigningKey = KEY,
    ended: bool = True,
) -> bytes:
    """Return an export of records as they are, signed unless it is given another head."""
    last = records[-1]
    head = head or key.sign(match_id, last.last_seq, last.hash, ended=ended)
    return write_export(match_id, records, head)


def evidence(rule_set: str = "opolyx.speed@2", records_max: int = 60, seed: int = 5) -> Evidence:
    """Return a match of no more records and one, which has ended, so that its seed is revealed."""
    table = play_to_an_end(rule_set, seats=4, seed=seed, records_max=records_max)
    return Evidence(table.chain.match_id, tuple(r.data for r in table.records), ended=True)
