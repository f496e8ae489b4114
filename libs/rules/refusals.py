"""What the rules answer when they say no."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from libs.kernel.reasons import Reason

Fact = int | str | tuple[int, ...]
"""A number, a name or some squares, as a refusal tells them."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """The rules forbid a command. An expected outcome, so a value and not an exception.

    Attributes:
        reason: its stable name.
        rule: the id of the rule that it rests on.
        facts: the numbers that decided, by name.
    """

    reason: Reason
    rule: str
    facts: Mapping[str, Fact] = field(default_factory=dict)
