"""The pages of a list of rooms: a token says where the next one begins, and checks itself."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import sha256

from libs.kernel.ids import is_uuid

_CHECK_SIZE = 8


def page_token(last_room_id: str, rule_set: str) -> str:
    """Return the token of the page after that room, in the list of a rule set's rooms."""
    written = last_room_id.encode()
    return urlsafe_b64encode(_check(last_room_id, rule_set) + written).decode()


def room_of_token(token: str, rule_set: str) -> str | None:
    """Return the room that a page begins after; None if the token is none, or of another list."""
    try:
        raw = urlsafe_b64decode(token.encode())
        room_id = raw[_CHECK_SIZE:].decode()
    except ValueError:
        return None
    # Written anew: there is one spelling of each token.
    is_ours = is_uuid(room_id) and page_token(room_id, rule_set) == token
    return room_id if is_ours else None


def _check(room_id: str, rule_set: str) -> bytes:
    return sha256(f"opolyx/rooms/1 {room_id} {rule_set}".encode()).digest()[:_CHECK_SIZE]
