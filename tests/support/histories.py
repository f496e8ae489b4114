"""What people were told of their commands, held against the record."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from libs.client.replies import Accepted
from libs.kernel.ids import CommandId, MatchId
from libs.wire.chain import follow
from libs.wire.record import StoredRecord


class Acknowledged(NamedTuple):
    """What somebody on a seat was told about one command."""

    match_id: MatchId
    seat: int
    command_id: CommandId
    reply: Accepted


def check_history(records: Sequence[StoredRecord], told: Iterable[Acknowledged]) -> None:
    """See that every acknowledged command is there once, with the reply that was given (I4, I5)."""
    hashes = {stored.last_seq: stored.hash for stored in records}
    places = {record.command_id: record for record in follow(records)}
    for one in told:
        record = places[one.command_id]
        where = (record.first_seq, record.last_seq, record.at_ms)

        assert where == (one.reply.first_sequence, one.reply.sequence, one.reply.at_ms)
        assert hashes[record.last_seq] == one.reply.chain_hash
        assert record.actor == f"seat:{one.seat}"
