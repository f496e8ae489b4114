"""Channels to other services: every call has a deadline, says who calls, and carries its trace."""

import json
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any, Final, Self

import grpc

from libs.chassis.admission import AUTHORIZATION, ON_BEHALF
from libs.chassis.calls import REQUEST_ID, request_id
from libs.telemetry import traces

TIMEOUT_S: Final = 5.0
"""How long a unary call may take if its caller says nothing (start)."""

BYTES_MAX: Final = 4 * 1024 * 1024

_RETRIES: Final = json.dumps(
    {
        "methodConfig": [
            {
                "name": [{}],
                "retryPolicy": {
                    "maxAttempts": 4,
                    "initialBackoff": "0.05s",
                    "maxBackoff": "1s",
                    "backoffMultiplier": 2,
                    "retryableStatusCodes": ["UNAVAILABLE"],
                },
            }
        ],
        "retryThrottling": {"maxTokens": 100, "tokenRatio": 0.1},
    }
)
"""What is tried again: a call that surely or probably did nothing. Every mutation has an id under
which it happens once, so a doubt is no harm. grpc spreads the back-off by chance, and stops when
most calls fail."""

Metadata = tuple[tuple[str, str | bytes], ...]


class Channel(grpc.aio.Channel):
    """A channel as a stub wants it; made by `open_channel`.

    It adds to each call when it begins. grpc's own interceptors would put a queue into every
    stream, and cost something at each message.
    """

    def __init__(
        self, channel: grpc.aio.Channel, token: Callable[[], str] | None, timeout_s: float
    ) -> None:
        self._channel = channel
        self._token = token
        self._timeout_s = timeout_s

    def metadata(self, given: Iterable[tuple[str, str | bytes]] = ()) -> Metadata:
        """Return what every call says of itself, after what is *given*."""
        own: list[tuple[str, str | bytes]] = list(given)
        own += traces.carrier().items()
        if self._token is not None:
            own.append((AUTHORIZATION, f"Bearer {self._token()}"))
        if request_id():
            own.append((REQUEST_ID, request_id()))
        return tuple(own)

    def unary_unary(self, *args: Any, **kwargs: Any) -> Any:
        """See `grpc.aio.Channel`."""
        return self._calls(self._channel.unary_unary(*args, **kwargs), self._timeout_s)

    def unary_stream(self, *args: Any, **kwargs: Any) -> Any:
        """See `grpc.aio.Channel`. A stream lasts as long as it likes, unless it is told."""
        return self._calls(self._channel.unary_stream(*args, **kwargs), None)

    def stream_unary(self, *args: Any, **kwargs: Any) -> Any:
        """See `grpc.aio.Channel`. A stream lasts as long as it likes, unless it is told."""
        return self._calls(self._channel.stream_unary(*args, **kwargs), None)

    def stream_stream(self, *args: Any, **kwargs: Any) -> Any:
        """See `grpc.aio.Channel`. A stream lasts as long as it likes, unless it is told."""
        return self._calls(self._channel.stream_stream(*args, **kwargs), None)

    def _calls(self, call: Callable[..., Any], timeout_s: float | None) -> Callable[..., Any]:
        def begin(
            *args: Any,
            timeout: float | None = timeout_s,
            metadata: Iterable[tuple[str, str | bytes]] | None = None,
            **kwargs: Any,
        ) -> Any:
            own = self.metadata(metadata or ())
            return call(*args, timeout=timeout, metadata=own, **kwargs)

        return begin

    def get_state(self, try_to_connect: bool = False) -> grpc.ChannelConnectivity:  # noqa: FBT001, FBT002 - grpc's
        """See `grpc.aio.Channel`."""
        return self._channel.get_state(try_to_connect)

    async def wait_for_state_change(self, last_observed_state: grpc.ChannelConnectivity) -> None:
        """See `grpc.aio.Channel`."""
        await self._channel.wait_for_state_change(last_observed_state)

    async def channel_ready(self) -> None:
        """Wait until it is connected."""
        await self._channel.channel_ready()

    async def close(self, grace: float | None = None) -> None:
        """Close it; calls that are going on end at once, or after *grace* seconds."""
        await self._channel.close(grace)

    async def __aenter__(self) -> Self:
        """Give itself, to be closed at the end of the block."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close it."""
        await self.close()


def open_channel(
    target: str,
    *,
    token: Callable[[], str] | None = None,
    timeout_s: float = TIMEOUT_S,
    retries: bool = True,
    credentials: grpc.ChannelCredentials | None = None,
) -> Channel:
    """Return a channel to *target*, host and port; it connects at the first call.

    *token* returns the bearer token of whoever calls, such as a `ServiceToken`. Switch *retries*
    off where the caller itself tries again, elsewhere perhaps: retries are never nested.
    """
    options: list[tuple[str, Any]] = [
        ("grpc.enable_retries", int(retries)),
        ("grpc.max_receive_message_length", BYTES_MAX),
        ("grpc.keepalive_time_ms", 20_000),
        ("grpc.keepalive_timeout_ms", 10_000),
        # This is what counts for a connection that is silent, and is a minute by itself.
        ("grpc.http2.ping_timeout_ms", 10_000),
        ("grpc.keepalive_permit_without_calls", 1),
        # By itself grpc waits longer and longer, up to two minutes: for a neighbour that restarts
        # in seconds, in a match whose deadlines are ten.
        ("grpc.initial_reconnect_backoff_ms", 100),
        ("grpc.max_reconnect_backoff_ms", 2_000),
    ]
    if retries:
        options.append(("grpc.service_config", _RETRIES))
    if credentials is None:
        return Channel(grpc.aio.insecure_channel(target, options), token, timeout_s)
    return Channel(grpc.aio.secure_channel(target, credentials, options), token, timeout_s)


def on_behalf(caller: bytes) -> tuple[tuple[str, bytes], ...]:
    """Return the metadata of a call for somebody: an `opolyx.engine.v1.Caller`, in bytes."""
    return ((ON_BEHALF, caller),)
