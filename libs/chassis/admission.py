"""The door of a server: who calls, whether they may, and not too often."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from ipaddress import ip_address, ip_network
from typing import Final
from urllib.parse import unquote

from google.protobuf.message import DecodeError

from libs.chassis.identity import NOBODY, SERVICE_TYPE, Caller, Verifier, token_type
from libs.chassis.limiting import CountedStream, Limiter, OpenStreams
from libs.chassis.roles import AllowList
from libs.chassis.status import refused
from libs.kernel.reasons import Reason
from opolyx.engine.v1 import caller_pb2

AUTHORIZATION: Final = "authorization"
ON_BEHALF: Final = "opolyx-caller-bin"
"""Metadata by which a service says for whom it calls: an `opolyx.engine.v1.Caller`."""

_BEARER: Final = "bearer "


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """What a call must pass before it is handled.

    Attributes:
        allowed: who may call what.
        people: checks the tokens of people; None where no person may call.
        services: checks the tokens of services; None where no service may call.
        believed: the services, by name, that may call on behalf of others.
        limiter: how often people may call; services are not limited.
        streams: how many streams people may have open; services are not limited.

    """

    allowed: AllowList
    people: Verifier | None = None
    services: Verifier | None = None
    believed: Collection[str] = ()
    limiter: Limiter | None = None
    streams: OpenStreams | None = None

    async def admit(self, method: str, metadata: Mapping[str, str | bytes], peer: str) -> Caller:
        """Return who calls *method*, if they may; *peer* is the address that it comes from.

        Raises:
            RefusedError: TOKEN_MISSING, TOKEN_INVALID, TOKEN_EXPIRED, NOT_ALLOWED, RATE_LIMITED.

        """
        found = await self._identify(method, metadata)
        if found.service is None and self.limiter is not None:
            self.limiter.admit(_counts_as(found, peer), method)
        if not self.allowed.admits(method, found.roles):
            raise refused(Reason.NOT_ALLOWED)
        on_behalf = metadata.get(ON_BEHALF)
        if on_behalf is None:
            return found
        if found.service not in self.believed or not isinstance(on_behalf, bytes):
            # Not overlooked: whoever sends it and may not has something in mind.
            raise refused(Reason.NOT_ALLOWED)
        return replace(found, on_behalf=_read(on_behalf))

    def count_stream(self, made_by: Caller, peer: str) -> CountedStream | None:
        """Count a stream that is opened, until it is closed; None where it is not counted.

        Raises:
            RefusedError: OVERLOADED, the caller has too many open.

        """
        if self.streams is None or made_by.service is not None:
            return None
        return self.streams.open(_counts_as(made_by, peer))

    async def _identify(self, method: str, metadata: Mapping[str, str | bytes]) -> Caller:
        given = metadata.get(AUTHORIZATION)
        if given is None:
            if self.allowed.is_public(method):
                return NOBODY
            raise refused(Reason.TOKEN_MISSING)
        if not isinstance(given, str) or not given.lower().startswith(_BEARER):
            raise refused(Reason.TOKEN_INVALID, check="scheme")
        token = given[len(_BEARER) :].strip()
        verifier = self.services if token_type(token) == SERVICE_TYPE else self.people
        if verifier is None:
            raise refused(Reason.NOT_ALLOWED)
        return await verifier.verify(token)


def _read(on_behalf: bytes) -> caller_pb2.Caller:
    try:
        return caller_pb2.Caller.FromString(on_behalf)
    except DecodeError:
        raise refused(Reason.NOT_ALLOWED) from None


def _counts_as(made_by: Caller, peer: str) -> str:
    """Return whose calls those of a caller are counted with: a person's own, or an address's."""
    # No subject begins with the character zero, so nobody can be taken for an address.
    return made_by.subject or f"\0{_host(peer)}"


@lru_cache(maxsize=1024)
def _host(peer: str) -> str:
    """Return the address of a gRPC peer, such as `ipv4:127.0.0.1:5000`.

    Of an IPv6 address it is the network, since whoever has one has 2 to the power of 64 of them.
    """
    host = unquote(peer.partition(":")[2]).rpartition(":")[0].strip("[]").partition("%")[0]
    try:
        return str(ip_network(f"{ip_address(host)}/64", strict=False)) if ":" in host else host
    except ValueError:
        return host
