"""What logs, metrics and traces tell of decisions."""

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.telemetry import metrics, names, traces
from tests.match_engine.rig import a_command_id, a_table, refused_as


def counted(kind: str, outcome: str) -> float:
    counter = metrics.counter(names.MATCH_COMMANDS)
    value: float = counter.labels(kind, outcome)._value.get()
    return value


async def test_commands_are_counted_by_what_became_of_them() -> None:
    before = [counted("roll", outcome) for outcome in ("accepted", "refused", "repeated")]
    table = await a_table()
    turn, command_id = (await table.match()).turn, a_command_id()
    with refused_as(Reason.NOT_YOUR_TURN):
        await table.submit(c.Roll(1 - turn))
    for _ in range(3):
        await table.submit(c.Roll(turn), command_id=command_id)
    after = [counted("roll", outcome) for outcome in ("accepted", "refused", "repeated")]

    assert [now - then for then, now in zip(before, after, strict=True)] == [1, 1, 2]


async def test_a_decision_is_a_span_and_its_refusal_no_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(traces, "_tracer", provider.get_tracer("test"))
    monkeypatch.setattr(traces._state, "recording", True)
    table = await a_table()
    turn = (await table.match()).turn
    with refused_as(Reason.NOT_YOUR_TURN):
        await table.submit(c.Roll(1 - turn))
    await table.submit(c.Roll(turn))
    refused, accepted = exporter.get_finished_spans()

    assert refused.name == accepted.name == "decide roll"
    assert dict(refused.attributes or {}) == {
        names.MATCH_ID: table.match_id,
        names.COMMAND_KIND: "roll",
        names.REFUSAL_REASON: "NOT_YOUR_TURN",
    }
    assert refused.status.status_code is trace.StatusCode.UNSET
    assert names.REFUSAL_REASON not in (accepted.attributes or {})
