"""The services that `opolyx` can start, each by its settings and its composition root."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Final

from libs.chassis.foundation import Foundation, NodeSettings
from libs.chassis.process import Service
from libs.chassis.settings import load

SERVICES: Final = ("match_engine", "progression", "lobby", "timer", "gateway", "bot_runner")
"""Every service, in the order in which they open: whoever plays comes last, and goes first."""

ALL: Final = "all"

Bootstrap = Callable[[NodeSettings, Foundation], Service]


def load_settings(name: str, environment: Mapping[str, str]) -> NodeSettings:
    """Return the settings of the service of that name.

    Raises:
        SettingsError: see `libs.chassis.settings.load`.

    """
    words = "".join(word.title() for word in name.split("_"))
    kind: type[NodeSettings] = getattr(
        import_module(f"services.{name}.settings"), f"{words}Settings"
    )
    return load(kind, environment)


def assemble(
    names: Sequence[str], settings: Mapping[str, NodeSettings], foundation: Foundation
) -> list[Service]:
    """Return the services of these *names*, not open yet, in the order in which they open."""
    bootstraps: dict[str, Bootstrap] = {
        name: import_module(f"services.{name}.bootstrap").service for name in names
    }
    return [bootstrap(settings[name], foundation) for name, bootstrap in bootstraps.items()]
