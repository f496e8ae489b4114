"""The public keys by which tokens are checked: given, in a file, or at a URL that may be away."""

import asyncio
import json
import math
import time
from collections.abc import Awaitable, Callable, Mapping
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final, Protocol
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

import jwt

from libs.telemetry import logs

REFRESH_S: Final = 5 * 60.0
"""How often the keys are fetched anew (start)."""

STALE_S: Final = 60 * 60.0
"""How long keys are good that could not be fetched anew; then nobody gets in (start)."""

RETRY_S: Final = 2.0
"""How long after a fetch that failed the next one may be tried (start)."""

UNKNOWN_S: Final = 60.0
"""How long after a fetch an unknown key id may cause another (start)."""

FETCH_TIMEOUT_S: Final = 5.0
SIZE_MAX: Final = 1024 * 1024

_log: Final = logs.get()


class KeysUnavailableError(Exception):
    """The keys are not known now, so nothing can be said about a token."""


class KeySet(Protocol):
    """Public keys by their ids."""

    async def find(self, key_id: str) -> jwt.PyJWK | None:
        """Return the key of that id; None if the set has none.

        Raises:
            KeysUnavailableError: there is no telling.

        """
        ...


class GivenKeys:
    """A `KeySet` that never changes."""

    def __init__(self, keys: Mapping[str, jwt.PyJWK]) -> None:
        self._keys = dict(keys)

    async def find(self, key_id: str) -> jwt.PyJWK | None:
        """See `KeySet.find`."""
        return self._keys.get(key_id)


class FetchedKeys:
    """A `KeySet` (RFC 7517) that is fetched when it is needed, and kept for a while.

    There is never more than one fetch going on, and only who cannot do without waits for it. A key
    id that is not known may mean that the provider has a new key, so it causes a fetch too, but not
    often: anybody can make up ids. Where nothing can be fetched the keys last for `STALE_S`; then
    it fails closed.
    """

    def __init__(
        self,
        fetch: Callable[[], Awaitable[bytes]],
        algorithm: str,
        *,
        monotonic_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._fetch = fetch
        self._algorithm = algorithm
        self._monotonic_s = monotonic_s
        self._keys: dict[str, jwt.PyJWK] = {}
        self._fetched_at_s = -math.inf
        self._tried_at_s = -math.inf
        self._fetching: asyncio.Task[None] | None = None

    async def find(self, key_id: str) -> jwt.PyJWK | None:
        """See `KeySet.find`."""
        is_unknown = key_id not in self._keys
        if self._fetching is None and self._is_due(is_unknown=is_unknown):
            self._tried_at_s = self._monotonic_s()
            self._fetching = asyncio.create_task(self._refresh())
        if self._fetching is not None and (is_unknown or self._age_s() >= STALE_S):
            # Not cancelled with whoever waits: others wait for it too.
            await asyncio.shield(self._fetching)
        if self._age_s() >= STALE_S:
            raise KeysUnavailableError
        return self._keys.get(key_id)

    def _is_due(self, *, is_unknown: bool) -> bool:
        since_try_s = self._monotonic_s() - self._tried_at_s
        if self._age_s() >= REFRESH_S:
            return since_try_s >= RETRY_S
        return is_unknown and since_try_s >= UNKNOWN_S

    def _age_s(self) -> float:
        return self._monotonic_s() - self._fetched_at_s

    async def _refresh(self) -> None:
        try:
            self._keys = parse_keys(await self._fetch(), self._algorithm)
            self._fetched_at_s = self._monotonic_s()
        except (OSError, ValueError) as error:
            _log.warning("key_set_unavailable", error=type(error).__name__)
        finally:
            self._fetching = None


def parse_keys(document: bytes, algorithm: str) -> dict[str, jwt.PyJWK]:
    """Return the keys of a JWKS document that are good for *algorithm*, by their ids.

    Raises:
        ValueError: it is no such document.

    """
    parsed = json.loads(document)
    entries = parsed.get("keys") if isinstance(parsed, dict) else None
    if not isinstance(entries, list):
        raise ValueError("a key set without keys")  # noqa: TRY004 - of the document, not of a type
    found = {}
    for entry in entries:
        if isinstance(entry, dict) and isinstance(entry.get("kid"), str):
            key = _signing_key(entry, algorithm)
            if key is not None:
                found[entry["kid"]] = key
    return found


def from_file(path: Path) -> Callable[[], Awaitable[bytes]]:
    """Return what fetches a key set from a file."""
    return lambda: asyncio.to_thread(path.read_bytes)


def from_url(url: str) -> Callable[[], Awaitable[bytes]]:
    """Return what fetches a key set from an https URL; from loopback, http will do.

    Raises:
        ValueError: keys from there could be anybody's.

    """
    parts = urlsplit(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(parts.hostname)):
        raise ValueError("a key set must come by https")
    return lambda: asyncio.to_thread(_get, url)


def is_loopback(host: str | None) -> bool:
    """Tell whether nobody but this machine can be at that address; a name alone proves nothing."""
    if host == "localhost":
        return True
    try:
        return ip_address(host or "").is_loopback
    except ValueError:
        return False


def _signing_key(entry: dict[str, Any], algorithm: str) -> jwt.PyJWK | None:
    if entry.get("use", "sig") != "sig" or entry.get("alg", algorithm) != algorithm:
        return None
    try:
        return jwt.PyJWK(entry, algorithm=algorithm)
    except (jwt.PyJWKError, jwt.InvalidKeyError):
        return None  # of another kind: a provider may have several


class _NoRedirects(HTTPRedirectHandler):
    """Follows nobody: where the keys come from is a setting, and stays that."""

    def redirect_request(self, *_: object) -> None:
        """Refuse."""


def _get(url: str) -> bytes:
    request = Request(url, headers={"Accept": "application/json"})  # noqa: S310 - https, see above
    with build_opener(_NoRedirects()).open(request, timeout=FETCH_TIMEOUT_S) as response:
        document: bytes = response.read(SIZE_MAX + 1)
    if len(document) > SIZE_MAX:
        raise ValueError("a key set larger than any")
    return document
