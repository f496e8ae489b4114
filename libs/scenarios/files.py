"""From a file's text to a scenario. JSON, or YAML where the file's name says so."""

import json
from collections.abc import Hashable
from pathlib import Path
from typing import Any, Final

from libs.scenarios.reading import MalformedError
from libs.scenarios.scenario import Scenario, read_scenario

YAML_SUFFIXES: Final = (".yaml", ".yml")


def read_file(path: Path) -> Scenario:
    """Read a scenario file.

    Raises:
        MalformedError: it is none; the error says where and why.
        OSError: it cannot be read at all.

    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise MalformedError("", f"the file is no text in UTF-8: {error.reason}") from error
    return read_text(text, is_yaml=path.suffix.lower() in YAML_SUFFIXES)


def read_text(text: str, *, is_yaml: bool = False) -> Scenario:
    """Read a scenario from its text.

    Raises:
        MalformedError: it is none; the error says where and why.

    """
    return read_scenario(_from_yaml(text) if is_yaml else _from_json(text))


def _from_json(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_without_doubles, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise MalformedError("", f"no JSON: {error.msg} ({place})") from error
    except MalformedError:
        raise
    except (RecursionError, ValueError) as error:
        raise MalformedError("", "nested too deeply, or a number is too long") from error


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        double = next(key for key in keys if keys.count(key) > 1)
        raise MalformedError("", f'the key "{double}" stands twice in one object')
    return found


def _no_number(name: str) -> Any:
    raise MalformedError("", f"no JSON: {name} is no number")


def _from_yaml(text: str) -> Any:
    # Imported where it is needed: most files are JSON, and a command line should start at once.
    import yaml  # noqa: PLC0415

    class Loader(yaml.SafeLoader):
        """Builds plain values, and objects whose keys are texts, each once."""

    def mapping(loader: yaml.SafeLoader, node: yaml.MappingNode) -> dict[str, Any]:
        pairs = [
            (
                _key(loader.construct_object(key, deep=True)),
                loader.construct_object(value, deep=True),
            )
            for key, value in node.value
        ]
        return _without_doubles(pairs)

    Loader.add_constructor("tag:yaml.org,2002:map", mapping)
    try:
        return yaml.load(text, Loader)  # noqa: S506 - a subclass of the safe loader
    except yaml.YAMLError as error:
        raise MalformedError("", f"no YAML: {' '.join(str(error).split())}") from error
    except MalformedError:
        raise
    except (RecursionError, ValueError) as error:
        raise MalformedError("", f"no YAML: {error}") from error


def _key(key: Hashable) -> str:
    """Return a key as JSON would have it: YAML reads the key of square 1 as a number."""
    if isinstance(key, bool) or not isinstance(key, str | int):
        raise MalformedError("", f"the key {key} is neither a text nor a number")
    return str(key)
