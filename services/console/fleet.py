"""The services that `opolyx` can start, each by its settings and its composition root."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Final

from libs.chassis.foundation import Foundation, NodeSettings
from libs.chassis.process import Service
from libs.chassis.sections import ServerSettings
from libs.chassis.settings import FROM_FILE, load

SERVICES: Final = ("timer", "match_engine", "progression", "lobby", "gateway", "bot_runner")
"""Every service, in the order in which they open: whoever plays comes last, and goes first."""

ALL: Final = "all"

_PEERS: Final = {name: f"OPOLYX_PEERS__{name.upper()}" for name in SERVICES} | {
    "match_engine": "OPOLYX_PEERS__MATCH_ENGINES"
}
_WILDCARDS: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - where nobody is called

Bootstrap = Callable[[NodeSettings, Foundation], Service]


def load_settings(names: Sequence[str], environment: Mapping[str, str]) -> dict[str, NodeSettings]:
    """Return the settings of the services of these *names*.

    Where the others are is where *environment* has them listen, unless it says otherwise: whoever
    moves a port need not say so twice.

    Raises:
        SettingsError: see `libs.chassis.settings.load`.

    """
    told = with_peers(environment)
    return {name: load(_kind(name), told) for name in names}


def with_peers(environment: Mapping[str, str]) -> dict[str, str]:
    """Return *environment* with `OPOLYX_PEERS__...` for all services that it has listen elsewhere.

    Raises:
        SettingsError: see `libs.chassis.settings.load`.

    """
    told = {name.upper(): value for name, value in environment.items()}
    for name, variable in _PEERS.items():
        is_moved = any(f"OPOLYX_{name.upper()}__{what}" in told for what in ("HOST", "PORT"))
        if not is_moved or variable in told or variable + FROM_FILE in told:
            continue
        section: ServerSettings = getattr(load(_kind(name), environment), name)
        if section.port:  # 0 is known to nobody before it listens
            told[variable] = called_at(section.host, section.port)
    return told


def called_at(host: str, port: int) -> str:
    """Return where those on this machine call what listens at *host*."""
    host = _WILDCARDS.get(host, host)
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _kind(name: str) -> type[NodeSettings]:
    words = "".join(word.title() for word in name.split("_"))
    kind: type[NodeSettings] = getattr(
        import_module(f"services.{name}.settings"), f"{words}Settings"
    )
    return kind


def assemble(
    names: Sequence[str], settings: Mapping[str, NodeSettings], foundation: Foundation
) -> list[Service]:
    """Return the services of these *names*, not open yet, in the order in which they open."""
    bootstraps: dict[str, Bootstrap] = {
        name: import_module(f"services.{name}.bootstrap").service for name in names
    }
    return [bootstrap(settings[name], foundation) for name, bootstrap in bootstraps.items()]
