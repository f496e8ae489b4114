"""From a file's text to a scenario. JSON, or YAML where the file's name says so."""

import json
from pathlib import Path
from typing import Any, Final

from libs.scenarios.plainness import check_plain, without_doubles
from libs.scenarios.reading import MalformedError
from libs.scenarios.scenario import Scenario, read_scenario

YAML_SUFFIXES: Final = (".yaml", ".yml")
TEXT_MAX: Final = 1_000_000
"""The most characters of a file: many times what the longest match comes to."""


def read_file(path: Path) -> Scenario:
    """Read a scenario file.

    Raises:
        MalformedError: it is none; the error says where and why.
        OSError: it cannot be read at all.

    """
    try:
        with path.open(encoding="utf-8-sig") as file:
            text = file.read(TEXT_MAX + 1)
    except UnicodeDecodeError as error:
        raise MalformedError("", f"the file is no text in UTF-8: {error.reason}") from error
    return read_text(text, is_yaml=path.suffix.lower() in YAML_SUFFIXES)


def read_text(text: str, *, is_yaml: bool = False) -> Scenario:
    """Read a scenario from its text.

    Raises:
        MalformedError: it is none; the error says where and why.

    """
    if len(text) > TEXT_MAX:
        raise MalformedError("", f"the file is longer than {TEXT_MAX} characters")
    document = _from_yaml(text) if is_yaml else _from_json(text)
    check_plain(document)
    return read_scenario(document)


def _from_json(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=without_doubles, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise MalformedError("", f"no JSON: {error.msg} ({place})") from error
    except MalformedError:
        raise
    except (RecursionError, ValueError) as error:
        raise MalformedError("", "nested too deeply, or a number is too long") from error


def _no_number(name: str) -> Any:
    raise MalformedError("", f"no JSON: {name} is no number")


def _from_yaml(text: str) -> Any:
    # Imported where it is needed: most files are JSON, and a command line should start at once.
    from libs.scenarios.in_yaml import load  # noqa: PLC0415

    return load(text)
