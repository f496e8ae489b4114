"""The sections that several services share."""

from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import Field, model_validator

from libs.chassis.settings import SecretUrl, Section
from libs.telemetry.logs import Level, Style

Port = Annotated[int, Field(ge=0, le=65535)]
"""A port; 0 lets the system choose one, which is then logged."""

Seconds = Annotated[float, Field(gt=0)]

REQUEST_BYTES_MAX: Final = 64 * 1024


class StoreSettings(Section):
    """Where PostgreSQL is (`OPOLYX_STORE__...`)."""

    url: SecretUrl = SecretUrl("embedded://")
    """`embedded://` for the one in the data folder, or with a path; else a `postgres://` URL."""

    unsafe: bool = False
    """Whether a database that may lose what it confirmed is accepted."""


class PeerSettings(Section):
    """Where the services call each other, each by host and port (`OPOLYX_PEERS__...`)."""

    gateway: str = "127.0.0.1:7070"
    lobby: str = "127.0.0.1:7071"
    match_engines: str = "127.0.0.1:7072"
    """Some of the engines, by commas; they know the others."""

    timer: str = "127.0.0.1:7073"
    progression: str = "127.0.0.1:7074"
    bot_runner: str = "127.0.0.1:7075"


class LogSettings(Section):
    """Where the event log is (`OPOLYX_LOG__...`)."""

    url: SecretUrl = SecretUrl("local://")
    """`local://` for one in the store."""


class TelemetrySettings(Section):
    """Logs, metrics and traces of the process (`OPOLYX_TELEMETRY__...`)."""

    log_level: Level = "info"
    log_style: Style = "auto"
    metrics_host: str = "127.0.0.1"
    metrics_port: Port = 9464
    otlp_endpoint: str | None = None
    """Where an OpenTelemetry collector takes spans by gRPC; none are made without one."""


class AuthSettings(Section):
    """Whose tokens are good (`OPOLYX_AUTH__...`)."""

    mode: Literal["dev", "jwks"] = "dev"
    """`dev`: tokens by a key in the data folder. `jwks`: those of an identity provider."""

    beyond_loopback: bool = False
    """Whether `dev` is accepted on an address that others can reach."""

    issuer: str = "opolyx-dev"
    audience: str = "opolyx"
    token_type: str = "at+jwt"  # noqa: S105 - the kind of a token is no password
    """The `typ` that a token must have: of an access token, by RFC 9068."""

    algorithm: Literal["EdDSA", "ES256", "RS256"] = "EdDSA"
    """The one algorithm that is accepted."""

    jwks_file: Path | None = None
    jwks_url: str | None = None
    """Where the provider's keys are: a file, or an https URL; one of the two with `jwks`."""

    leeway_s: Annotated[float, Field(ge=0, le=60)] = 5.0
    """How far the provider's clock may be from ours."""

    @model_validator(mode="after")
    def _has_keys(self) -> "AuthSettings":
        if self.mode == "jwks" and (self.jwks_file is None) == (self.jwks_url is None):
            raise ValueError("with MODE jwks, set one of JWKS_FILE and JWKS_URL")
        return self


class RateSettings(Section):
    """How often somebody may call: *per_s* in the long run, *burst* at once."""

    per_s: Annotated[float, Field(gt=0)] = 20.0
    burst: Annotated[int, Field(ge=1)] = 40


class ServerSettings(Section):
    """A gRPC server; a service's own section begins with these."""

    host: str = "127.0.0.1"
    port: Port = 0
    request_bytes_max: Annotated[int, Field(ge=1024, le=16 * 1024 * 1024)] = REQUEST_BYTES_MAX
    """How large one message to the server may be."""

    unary_timeout_s: Seconds = 60.0
    """How long a unary call may take, whatever deadline its caller set or forgot."""

    unary_calls_max: Annotated[int, Field(ge=1)] = 1_000
    """How many unary calls may be handled at once; more are OVERLOADED."""

    streams_max: Annotated[int, Field(ge=1)] = 10_000
    """How many streams may be open at once, and how many other calls; more are OVERLOADED."""

    keepalive_s: Seconds = 20.0
    """After how long of silence a connection is asked whether the other side is still there. It may
    take half as long to answer, and to say what it wants when it is new."""

    connection_idle_s: Seconds | None = None
    """How long a connection may be without a call before it is closed; for ever if not set."""

    streams_per_connection: Annotated[int, Field(ge=1)] | None = None
    """How many calls one connection carries at a time; others wait in the client."""

    request_timeout_s: Seconds = 5.0
    """How long a call may be open before its request, or the first message of it, is there
    (start)."""

    stream_grace_s: Annotated[float, Field(ge=0)] = 2.0
    """How long streams may take to say go away, when the server is about to stop."""

    write_timeout_s: Seconds = 10.0
    """How long the reader of a stream may take to accept one message before it is cut off with
    SLOW_READER (start)."""
