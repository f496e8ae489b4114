"""Where a client's bearer token comes from."""

from collections.abc import Callable
from pathlib import Path

Token = str | Path | Callable[[], str]
"""A token; a file that holds one; or what returns the one that is good now."""


def asked(token: Token | None) -> Callable[[], str] | None:
    """Return how a call gets its token.

    A file is read anew for each call, so that whoever renews it need not tell anybody; that it
    cannot be read is an `OSError` of the call.
    """
    if isinstance(token, Path):
        return lambda: token.read_text(encoding="utf-8").strip()
    if isinstance(token, str):
        return lambda: token
    return token
