"""Events as plain values, ready for JSON."""

from dataclasses import fields, is_dataclass
from typing import Any

from libs.rules import events as e


def describe_event(event: e.Event) -> dict[str, Any]:
    """Return an event's type and fields; bytes are in hex."""
    return {"type": event_type(event)} | _describe_fields(event)


def event_type(event: e.Event) -> str:
    """Return the name of an event's type."""
    return type(event).__name__


def _describe_fields(value: Any) -> dict[str, Any]:
    return {field.name: _describe(getattr(value, field.name)) for field in fields(value)}


def _describe(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, tuple):
        return [_describe(part) for part in value]
    return _describe_fields(value) if is_dataclass(value) else value
