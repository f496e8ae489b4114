"""By what a request is known again: its hash, stored beside the id of its command (W3)."""

from hashlib import sha256

from libs.rules import commands as c
from libs.wire.commands import message_of, system_message_of
from libs.wire.record import SYSTEM


def seat_actor(seat: int) -> str:
    """Return how a seat is called in records."""
    return f"seat:{seat}"


def operator_actor(player_id: str) -> str:
    """Return how an operator is called in records."""
    return f"operator:{player_id}"


def actor_of(command: c.Command) -> str:
    """Return who sends such a command, as records have it: a seat, an operator, or the system."""
    if isinstance(command, c.Freeze | c.Resume | c.Abort):
        return command.actor
    return SYSTEM if isinstance(command, c.SystemCommand) else seat_actor(command.seat)


def request_hash(command: c.Command) -> bytes:
    """Return SHA-256 of the actor and of the command, written anew in the one canonical way.

    However a request was encoded, and whoever sent it on, the same command of the same actor has
    the same hash: it can be repeated for ever. Not in it: what was expected of the match, when the
    command came, and the commitment of a new match, of which each try draws another.
    """
    if isinstance(command, c.SystemCommand):
        written = system_message_of(command).SerializeToString(deterministic=True)
    else:
        written = message_of(command).SerializeToString(deterministic=True)
    return sha256(actor_of(command).encode() + written).digest()
