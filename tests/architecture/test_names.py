"""What is declared for operators is used: they look for it, and for nothing that never comes."""

import re
from typing import Final, get_args

import pytest

from libs.telemetry import names
from tests.support.repository import ROOT, python_files

DECLARED_IN: Final = "libs/telemetry/names.py"
CODE: Final = "\n".join(
    (ROOT / path).read_text(encoding="utf-8")
    for path in python_files("libs", "services")
    if str(path) != DECLARED_IN
)


def test_every_log_event_is_logged_somewhere() -> None:
    unused = [event for event in get_args(names.LogEvent) if f'"{event}"' not in CODE]

    assert not unused


def test_every_log_field_is_filled_somewhere() -> None:
    declared = list(names.LogFields.__annotations__)

    assert [field for field in declared if not re.search(rf'\b{field}=|"{field}"', CODE)] == []


@pytest.mark.parametrize("kind", ["metric", "attribute"])
def test_every_metric_and_span_attribute_is_used_somewhere(kind: str) -> None:
    wanted = names.MetricName if kind == "metric" else str
    declared = [
        name for name, value in vars(names).items() if name.isupper() and isinstance(value, wanted)
    ]

    assert len(declared) > 5
    assert [name for name in declared if not re.search(rf"\bnames\.{name}\b", CODE)] == []
