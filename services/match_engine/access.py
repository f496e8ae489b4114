"""Who may watch a match, on the wire and in the store."""

from __future__ import annotations

from typing import Final

from libs.store.access import Access, Watching
from opolyx.match.v1 import access_pb2 as pb

_MESSAGES: Final = {
    Watching.EVERYBODY: pb.Access.WATCHING_EVERYBODY,
    Watching.INVITED: pb.Access.WATCHING_INVITED,
    Watching.SEATS: pb.Access.WATCHING_SEATS,
}

_READ: Final = {
    pb.Access.WATCHING_UNSPECIFIED: Watching.EVERYBODY,
    **{message: watching for watching, message in _MESSAGES.items()},
}


def access_of(message: pb.Access) -> Access:
    """Read who may see a match; what a newer lobby may mean is taken for the seats alone."""
    return Access(_READ.get(message.watching, Watching.SEATS), frozenset(message.guest_ids))


def watching_message(access: Access) -> pb.Access.Watching.ValueType:
    """Write who may see a match, the guests left out."""
    return _MESSAGES[access.watching]
