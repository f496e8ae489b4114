"""Page tokens: opaque to whoever holds one, good for the request that it was given for alone."""

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any, Final, TypeVar

from libs.wire.requests import Checks

T = TypeVar("T")

_CHECK_SIZE: Final = 8
_DIGITS_MAX: Final = 18


def next_page_token(request: Any, position: str) -> str:
    """Return the token by which a listing goes on behind *position*.

    *request* is the one that is being answered, whichever page it asks for: a message with a
    `page_token` and a `page_size`.
    """
    where = position.encode()
    token = urlsafe_b64encode(_check_of(request, where) + where)
    return token.decode("ascii").rstrip("=")


def page_position(request: Any, checks: Checks, is_position: Callable[[str], bool]) -> str:
    """Return the position that a request goes on behind; empty for the first page.

    A token that is none, or was given for another request, is noted in *checks*. So is one whose
    position is none of this list's: there is no secret in a token, and anybody can make one.
    """
    token: str = request.page_token
    if not token:
        return ""
    try:
        data = urlsafe_b64decode(token + "=" * (-len(token) % 4))
        check, position = data[:_CHECK_SIZE], data[_CHECK_SIZE:].decode()
    except (binascii.Error, ValueError):
        check, position = b"", ""
    if check != _check_of(request, position.encode()) or not is_position(position):
        checks.add("page_token", "is none that was given for such a request")
        return ""
    return position


def page_of(request: Any, entries: Sequence[T]) -> tuple[Sequence[T], str]:
    """Return the page that a request asks for of a list that is all in memory, and the next token.

    The token is empty after the last page.

    Raises:
        MalformedError: the size of the page or its token is wrong.

    """
    checks = Checks()
    size = checks.page_size(request.page_size)
    position = page_position(request, checks, lambda p: is_number(p) and int(p) < len(entries))
    checks.finish()
    first = int(position) if position else 0
    return cut_page(request, entries[first:], size, lambda _: str(first + size))


def cut_page(
    request: Any, found: Sequence[T], size: int, position: Callable[[T], str]
) -> tuple[Sequence[T], str]:
    """Return the page of what a store has *found*, and the next token.

    The store was asked for one entry more than the *size* of a page: without it the token is empty.
    *position* is that of an entry, behind which the next page begins.
    """
    page = found[:size]
    token = next_page_token(request, position(page[-1])) if len(found) > size else ""
    return page, token


def is_number(position: str) -> bool:
    """Tell whether a position is a number, and one that a store can hold."""
    return position.isascii() and position.isdecimal() and len(position) <= _DIGITS_MAX


def _check_of(request: Any, position: bytes) -> bytes:
    """Return what ties a position to all of a request but its page."""
    asked = type(request)()
    asked.CopyFrom(request)
    asked.ClearField("page_token")
    asked.ClearField("page_size")
    name = asked.DESCRIPTOR.full_name.encode()
    written = b"\0".join((name, asked.SerializeToString(deterministic=True), position))
    return sha256(written).digest()[:_CHECK_SIZE]
