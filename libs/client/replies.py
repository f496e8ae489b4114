"""What became of a command, as its sender is told."""

from dataclasses import dataclass
from typing import NamedTuple

from libs.chassis.status import RETRY_AFTER_MS
from libs.wire.refusals import Telling, Told, told_of
from opolyx.match.v1 import match_service_pb2 as pb
from opolyx.match.v1.refused_pb2 import Refused as RefusedMessage


class Accepted(NamedTuple):
    """The command is durable, and this is its reply for ever.

    Attributes:
        sequence: of the last event that it caused.
        chain_hash: of the chain there.
        first_sequence: of the first event.
        at_ms: when it was decided.

    """

    sequence: int
    chain_hash: bytes
    first_sequence: int
    at_ms: int


@dataclass(frozen=True, slots=True)
class Refused(Telling):
    """The command changed nothing. Sent again, it is decided anew.

    Attributes:
        told: the reason, which may be newer than this client, the facts and a sentence.
        retry_after_ms: when to send the same again; None where that would not help.

    """

    told: Told
    retry_after_ms: int | None = None

    @property
    def is_passing(self) -> bool:
        """Whether no rule refused, but a machine that may be able to in a moment."""
        return is_passing(self.told.reason)


Reply = Accepted | Refused


def is_passing(reason: str) -> bool:
    """Tell whether what was refused for *reason* may be accepted in a moment, unchanged."""
    return reason in RETRY_AFTER_MS


def accepted_of(message: pb.SubmitCommandResponse) -> Accepted:
    """Read the reply of an accepted command."""
    return Accepted(message.sequence, message.chain_hash, message.first_sequence, message.at_ms)


def refused_of(message: RefusedMessage) -> Refused:
    """Read a refusal inside a stream."""
    has_hint = message.HasField("retry_after_ms")
    return Refused(told_of(message), message.retry_after_ms if has_hint else None)


def reply_of(result: pb.CommandResult) -> Reply:
    """Read a result of a stream."""
    if result.HasField("accepted"):
        return accepted_of(result.accepted)
    return refused_of(result.refused)
