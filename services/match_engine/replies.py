"""The reply of a command that was accepted before, however long ago (write protocol, W3)."""

from libs.chassis.status import refused
from libs.kernel.ids import CommandId, MatchId
from libs.kernel.reasons import Reason
from libs.store.ports import Dup, MatchStore
from libs.wire.record import open_envelope
from services.match_engine.live import Accepted


async def reply_again(
    store: MatchStore, match_id: MatchId, command_id: CommandId, request_hash: bytes, found: Dup
) -> Accepted:
    """Return the reply of the command that was *found* under an id, if it is the same command.

    Raises:
        RefusedError: COMMAND_ID_REUSED, it is another one.
        StoreUnavailableError: the store did not answer.

    """
    if found.request_hash != request_hash:
        raise reused(command_id)
    # There is no table of replies: all of it follows from the record.
    (record,) = await store.records(match_id, found.last_seq - 1, limit=1)
    at_ms: int = open_envelope(record.data).at_ms
    return Accepted(record.first_seq, record.last_seq, record.hash, at_ms)


def reused(command_id: CommandId) -> Exception:
    """Return the refusal of an id that was used for another command, to be raised."""
    return refused(Reason.COMMAND_ID_REUSED, command_id=command_id)
