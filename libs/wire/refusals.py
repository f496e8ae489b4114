"""Refusals on the wire: a reason, facts as text, and a sentence.

The same three make a status with its `ErrorInfo`, a `pb.Refused` in a stream, and the reply of
WhyNot, so that a client meets one vocabulary everywhere.
"""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from libs.kernel.reasons import Reason
from libs.rules.explain import sentence
from libs.rules.refusals import Fact, Refusal
from libs.rules.sentences import SENTENCES
from libs.wire.requests import MalformedError, Violation
from opolyx.match.v1 import refused_pb2 as pb

RULE: Final = "rule"
"""The name under which metadata holds the id of the rule."""


_FIELDS: Final[Mapping[str, str]] = {
    "to": "command.offer_trade.to",
    "give_cash": "command.offer_trade.give.cash",
    "take_cash": "command.offer_trade.take.cash",
    "seat": "seats",
}
"""Which field of a request a fact is about, where the rules alone can tell that it is wrong. Facts
that are not named here are called like their field."""


class Told(NamedTuple):
    """A refusal as it is told.

    Attributes:
        reason: why: the name of a `Reason`, or of one that is newer than this reader.
        metadata: the facts by name, whole numbers in decimal, several separated by commas; and the
            rule's id as `rule`, where a rule of the game refused.
        text: an English sentence with all of it.
        violations: the fields that are wrong, where the request could not be understood.

    """

    reason: str
    metadata: dict[str, str]
    text: str
    violations: tuple[Violation, ...] = ()

    @property
    def rule(self) -> str:
        """The id of the rule that refused; empty where none of the game did."""
        return self.metadata.get(RULE, "")


class Telling:
    """What carries a refusal as `told`, and tells what is in it."""

    __slots__ = ()
    told: Told

    @property
    def reason(self) -> str:
        """The name of the reason, such as `NOT_YOUR_TURN`; it may be newer than we are."""
        return self.told.reason

    @property
    def rule(self) -> str:
        """The id of the rule that refused, such as `TURN-5`; empty where none of the game did."""
        return self.told.rule

    @property
    def metadata(self) -> dict[str, str]:
        """The facts by name: whole numbers in decimal, several separated by commas."""
        return self.told.metadata

    @property
    def text(self) -> str:
        """An English sentence with all of it, for logs and people."""
        return self.told.text


def tell(refusal: Refusal) -> Told:
    """Tell a refusal; one without a rule is the edge's or the store's."""
    metadata = {name: _spell(fact) for name, fact in refusal.facts.items()}
    wrong = _wrong_fields(metadata) if refusal.reason is Reason.INVALID_REQUEST else ()
    if not refusal.rule:
        text = _plain_sentence(refusal.reason, metadata)
        return Told(refusal.reason, metadata, text, wrong)
    assert RULE not in metadata, refusal
    return Told(refusal.reason, {RULE: refusal.rule, **metadata}, sentence(refusal), wrong)


def tell_malformed(error: MalformedError) -> Told:
    """Tell what is wrong with a request that could not be understood."""
    names = [violation.field for violation in error.violations if violation.field]
    metadata = {"fields": ",".join(names)} if names else {}
    text = f"{SENTENCES[Reason.INVALID_REQUEST]} ({error})"
    return Told(Reason.INVALID_REQUEST, metadata, text, error.violations)


def refused_message(told: Told, retry_after_ms: int | None = None) -> pb.Refused:
    """Write a refusal into a stream or a reply."""
    return pb.Refused(
        reason=told.reason,
        metadata=told.metadata,
        text=told.text,
        violations=_violations(told.violations),
        retry_after_ms=retry_after_ms,
    )


def told_of(message: pb.Refused) -> Told:
    """Read a refusal."""
    violations = tuple(Violation(v.field, v.description) for v in message.violations)
    return Told(message.reason, dict(message.metadata), message.text, violations)


def _violations(violations: Iterable[Violation]) -> list[pb.Refused.FieldViolation]:
    return [
        pb.Refused.FieldViolation(field=field, description=description)
        for field, description in violations
    ]


def _wrong_fields(metadata: Mapping[str, str]) -> tuple[Violation, ...]:
    """Return what is wrong with a request that only the rules could see through."""
    return tuple(
        Violation(_FIELDS.get(name, name), f"cannot be {value}") for name, value in metadata.items()
    )


def _spell(fact: Fact) -> str:
    return ",".join(map(str, fact)) if isinstance(fact, tuple) else str(fact)


def _plain_sentence(reason: Reason, metadata: dict[str, str]) -> str:
    facts = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in metadata.items())
    return f"{SENTENCES[reason]} ({facts})" if facts else SENTENCES[reason]
