"""Whatever the run-book names is there: it is read when there is no time to look for it."""

import re
from functools import cache
from typing import Any, Final, get_args

import pytest
import typer

from libs.chassis.settings import shown
from libs.kernel.reasons import Reason
from libs.telemetry import names
from libs.telemetry.names import LOG_EVENTS, LogFields, MetricName
from services.console.app import app
from services.console.fleet import SERVICES, load_settings
from services.console.migrate import schemas
from tests.docs.reading import DOCS

TEXT: Final = (DOCS / "runbook.md").read_text(encoding="utf-8")

SPAN: Final = re.compile(r"`([^`\n]+)`")
BLOCK: Final = re.compile(r"^```sh\n((?:.*\n)*?)```$|((?:^ {4}.*\n)+)", re.MULTILINE)
CALL: Final = re.compile(
    r"(?:^|[|;({!] ?|until |DATA_FOLDER=\w+ )opolyx ((?:[a-z]+ ?)+)([^|;&)\n]*)"
)
OPTION: Final = re.compile(r"(?<!\S)--?[a-z][a-z-]*")
METRIC: Final = re.compile(r"\bopolyx_\w+")
SNAKE: Final = re.compile(r"[a-z]+(?:_[a-z]+)+")
UPPER: Final = re.compile(r"[A-Z]+(?:_[A-Z]+)+")
SETTING: Final = re.compile(r"\bOPOLYX_[A-Z_]*[A-Z]")
TABLE: Final = re.compile(rf"\b(?:{'|'.join(sorted(schemas()))})\.[a-z_]+\b(?!\()")
CREATED: Final = re.compile(r"CREATE TABLE (\w+\.\w+)")

OTHER_WORDS: Final = frozenset(
    {
        "dead_reason",  # a header of a dead letter
        "extend_deadlines",  # a command of a match
        "pg_dump",
        "process_max_fds",  # these three are the metrics of every Prometheus client
        "process_open_fds",
        "process_resident_memory_bytes",
        "progression_reader",  # a piece of background work
        "rpc_handled",
    }
)
"""Names that are written like those of log events and come from elsewhere."""

OF_GRPC: Final = frozenset({"NOT_SERVING"})

INCIDENT: Final = "incident"


def code() -> list[str]:
    """Return every span and every line of a block."""
    lines = [line for found in BLOCK.findall(TEXT) for part in found for line in part.splitlines()]
    return SPAN.findall(BLOCK.sub("", TEXT)) + lines


def spans() -> list[str]:
    return SPAN.findall(BLOCK.sub("", TEXT))


@cache
def tables() -> frozenset[str]:
    scripts = [path.read_text(encoding="utf-8") for f in schemas().values() for path in f.iterdir()]
    return frozenset(name for script in scripts for name in CREATED.findall(script))


def calls() -> list[tuple[str, list[str]]]:
    """Return the words of each command that is called, and its options."""
    return [
        (words.strip(), OPTION.findall(rest))
        for line in code()
        for words, rest in CALL.findall(line.split(" #")[0].strip())
    ]


def unknown_in(words: str, options: list[str]) -> list[str]:
    """Return what of a call the command line does not know."""
    command: Any = typer.main.get_command(app)
    for word in words.split():
        if not hasattr(command, "get_command"):
            break  # an argument of the command
        command = command.get_command(None, word)
        if command is None:
            return [word]
    if hasattr(command, "list_commands"):
        return [words]
    known = {option for parameter in command.params for option in parameter.opts}
    return [option for option in options if option not in known]


def test_every_command_and_option_is_there() -> None:
    found = calls()

    assert len(found) > 30
    assert [(words, lost) for words, given in found if (lost := unknown_in(words, given))] == []


@pytest.mark.parametrize(
    ("words", "options", "lost"),
    [
        ("admin freeze", ["--reason"], []),
        ("audit", ["--everything"], ["--everything"]),
        ("admin unfreeze", [], ["unfreeze"]),
        ("repair", [], ["repair"]),
        ("admin", [], ["admin"]),
        ("serve all", [], []),
    ],
)
def test_a_command_that_is_not_there_is_found(
    words: str, options: list[str], lost: list[str]
) -> None:
    assert unknown_in(words, options) == lost


def test_every_metric_is_there() -> None:
    declared = {m.name for m in vars(names).values() if isinstance(m, get_args(MetricName))}
    found = METRIC.findall(TEXT)

    assert found
    assert [name for name in found if name not in declared and name != "opolyx_"] == []


def test_every_log_event_is_there() -> None:
    elsewhere = OTHER_WORDS | {*SERVICES} | LogFields.__annotations__.keys()
    found = [span for span in spans() if SNAKE.fullmatch(span) and not METRIC.match(span)]

    assert [word for word in found if word not in LOG_EVENTS and word not in elsewhere] == []


def test_every_incident_that_the_log_tells_has_its_place() -> None:
    told = [event for event, meaning in LOG_EVENTS.items() if INCIDENT in meaning]

    assert told
    assert [event for event in told if event not in spans()] == []


def test_every_setting_is_there() -> None:
    settings = load_settings(SERVICES, {}).values()
    known = {line.variable for each in settings for line in shown(each)}
    found = SETTING.findall(TEXT)

    assert found
    assert [name for name in found if name not in known] == []


def test_every_reason_is_there() -> None:
    found = [word for span in spans() for word in UPPER.findall(span) if not SETTING.search(span)]

    assert found
    assert [word for word in found if word not in {*Reason} | OF_GRPC] == []


def test_every_table_is_there() -> None:
    found = TABLE.findall(TEXT)

    assert found
    assert [name for name in found if name not in tables()] == []
