"""Who may call what: roles, and the list of every method with the roles that may call it."""

from collections.abc import Iterable, Mapping
from typing import Final

ANYONE: Final = "anyone"
"""With or without a token. A token that is sent must be good all the same."""

PERSON: Final = "person"
"""Somebody who may sit at a table."""

SPECTATOR: Final = "spectator"
"""Somebody who may watch and nothing else."""

OPERATOR: Final = "operator"
"""Somebody who may intervene; a person too."""

_SERVICE: Final = "service:"


def service(name: str) -> str:
    """Return the role of a service."""
    return _SERVICE + name


def service_name(role: str) -> str | None:
    """Return the name of the service that has this role; None if it is no service's."""
    return role.removeprefix(_SERVICE) if role.startswith(_SERVICE) else None


class AllowList:
    """The roles that may call each method, by `package.Service/Method`. What is not listed may not.

    Infrastructure, which is health and reflection, is for anyone.
    """

    def __init__(self, allowed: Mapping[str, Iterable[str]]) -> None:
        self._allowed = {method: frozenset(roles) for method, roles in allowed.items()}

    def admits(self, method: str, roles: frozenset[str]) -> bool:
        """Tell whether somebody with *roles* may call *method*."""
        allowed = self._allowed.get(method, frozenset())
        return ANYONE in allowed or not allowed.isdisjoint(roles)

    def is_public(self, method: str) -> bool:
        """Tell whether *method* may be called without a token."""
        return ANYONE in self._allowed.get(method, frozenset())

    def is_listed(self, method: str) -> bool:
        """Tell whether there is anybody at all who may call *method*."""
        return bool(self._allowed.get(method))

    def check(self, served: Iterable[str]) -> None:
        """See that exactly the methods served are listed.

        Raises:
            ValueError: names those that are not, or that are listed and not served.

        """
        different = self._allowed.keys() ^ set(served)
        if different:
            raise ValueError(f"who may call these? {', '.join(sorted(different))}")
