"""What the match engine can be told (`OPOLYX_MATCH_ENGINE__...`)."""

from socket import gethostname
from typing import Annotated, Final

from pydantic import Field, model_validator

from libs.chassis.foundation import NodeSettings
from libs.chassis.sections import Port, Seconds, ServerSettings
from libs.store.embedded import SCHEME

_EVERYWHERE: Final = frozenset({"0.0.0.0", "[::]"})  # noqa: S104 - to be told apart, not to listen


class EngineSettings(ServerSettings):
    """The section of the match engine."""

    port: Port = 7072
    stream_grace_s: Annotated[float, Field(ge=0)] = 0.5
    """Streams carry many matches to gateways, which find the next engine at once."""

    instance: str = ""
    """The engine's stable name, by which a restart takes its own lease again at once; by default
    made from its port, and from its host's name where the store is not embedded."""

    advertised_address: str = ""
    """Where others call it, host and port; by default where it listens, by the host's name if that
    is every address of the host."""

    lease_ttl_s: Seconds = 4.0
    """How long the store takes the engine for alive after a renewal (start)."""

    lease_renewal_s: Seconds = 1.0
    """How often the lease is renewed, and the shards are shared out (start)."""

    lease_trust_s: Seconds = 3.0
    """How long the engine trusts a renewal itself: less than the store does (start)."""

    finish_s: Seconds = 1.0
    """How long the last records may take to the event log when the engine ends; whoever serves
    their shards next publishes the rest."""

    snapshot_events: Annotated[int, Field(ge=1)] = 200
    """How many events of a match lie between two snapshots (start; W9)."""

    store_connections: Annotated[int, Field(ge=2)] = 8
    """How many connections to the store the engine has at most."""

    @model_validator(mode="after")
    def _ceases_before_others_begin(self) -> "EngineSettings":
        if not self.lease_renewal_s < self.lease_trust_s < self.lease_ttl_s:
            raise ValueError("it must be lease_renewal_s < lease_trust_s < lease_ttl_s")
        return self

    def address(self, listening: str) -> str:
        """Return where others call the engine, which listens at *listening*, host and port."""
        if self.advertised_address:
            return self.advertised_address
        host, _, port = listening.rpartition(":")
        return f"{gethostname()}:{port}" if host in _EVERYWHERE else listening


class MatchEngineSettings(NodeSettings):
    """The settings of a process that runs the match engine."""

    match_engine: EngineSettings = EngineSettings()

    @property
    def instance(self) -> str:
        """The engine's stable name."""
        if self.match_engine.instance:
            return self.match_engine.instance
        # An embedded store has all its engines on one machine, whose name may change with the
        # network that it is in.
        is_embedded = self.store_url.startswith(SCHEME)
        host = "engine" if is_embedded else gethostname()
        return f"{host}-{self.match_engine.port}"
