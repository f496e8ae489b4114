"""YAML as far as a scenario needs it: texts, numbers, lists and objects."""

from collections.abc import Hashable
from typing import Any, Final

import yaml

from libs.scenarios.plainness import check_depth, without_doubles
from libs.scenarios.reading import MalformedError

_NOT_OF_ITS_KIND: Final = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What the loader trips over where a value is not what its tag says, such as ``!!bool abc``."""


def load(text: str) -> Any:
    """Return what a text in YAML says.

    Raises:
        MalformedError: it is none, or has aliases, or is nested too deeply.

    """
    try:
        return yaml.load(text, _Loader)  # noqa: S506 - a subclass of the safe loader
    except yaml.YAMLError as error:
        raise MalformedError("", f"no YAML: {' '.join(str(error).split())}") from error
    except MalformedError:
        raise
    except _NOT_OF_ITS_KIND as error:
        raise MalformedError("", f"no YAML: a value is none of its kind: {error}") from error


class _Loader(yaml.SafeLoader):
    """Builds plain values, and objects whose keys are texts, each once."""

    _depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """Compose a node that is no alias: a few lines of them can stand for billions."""
        if self.check_event(yaml.AliasEvent):
            raise MalformedError("", "no YAML for a scenario: it has an alias (*)")
        # Here and not only afterwards: the loader needs several calls for each level.
        check_depth(self._depth)
        self._depth += 1
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node


def _object(loader: yaml.SafeLoader, node: yaml.MappingNode) -> dict[str, Any]:
    pairs = [
        (
            _key(loader.construct_object(key, deep=True)),
            loader.construct_object(value, deep=True),
        )
        for key, value in node.value
    ]
    return without_doubles(pairs)


_Loader.add_constructor("tag:yaml.org,2002:map", _object)


def _key(key: Hashable) -> str:
    """Return a key as JSON would have it: YAML reads the key of square 1 as a number."""
    if isinstance(key, bool) or not isinstance(key, str | int):
        raise MalformedError("", f"a {type(key).__name__} as key is neither a text nor a number")
    return str(key)
