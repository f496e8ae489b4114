"""One family of RPCs, which is a service, and what becomes of nonsense that is sent to it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle, islice, product
from typing import Final

import grpc
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message_factory import GetMessageClass
from grpc import StatusCode

from tests.e2e.matrix import request_for
from tests.e2e.methods import Metadata, sent
from tests.e2e.rig import refusal_of
from tests.fuzz.mutating import mutated
from tests.fuzz.nonsense import Nonsense
from tests.support.walks import Dice

AT_ONCE: Final = 12
"""How many calls are under way at a time."""

BUGS: Final = (StatusCode.INTERNAL, StatusCode.UNKNOWN, StatusCode.DATA_LOSS)
"""What is never answered, whatever was sent."""

KINDS: Final = ("requests", "bytes")
"""Requests that can nearly be understood, and such requests as bytes that were changed."""


@dataclass(slots=True)
class Outcome:
    """What became of the nonsense of one kind for one family.

    Attributes:
        sent: how many there were.
        taken: how many were answered with something other than an error.
        refused: the others, by reason.
        wrong: answers that must not be: bugs, and errors without their one typed reason.

    """

    sent: int = 0
    taken: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Nonsensical:
    """What is sent, and by whom.

    Attributes:
        kind: one of `KINDS`.
        count: how many messages.
        seed: of the dice.
        callers: who sends them, in turn.
        ids: of what there is, by the names of fields, so that some of it is nearly right.

    """

    kind: str
    count: int
    seed: int
    callers: Sequence[Metadata]
    ids: Mapping[str, str]


async def fuzz(
    channel: grpc.aio.Channel, methods: Sequence[MethodDescriptor], what: Nonsensical
) -> Outcome:
    """Send nonsense to *methods* in turn."""
    dice = Dice(what.seed)
    nonsense = Nonsense(dice, list(what.ids.values()))
    outcome = Outcome()
    # Every caller for every method, before any of them again.
    turns = islice(cycle(product(what.callers, methods)), what.count)
    calls = (
        (caller, method, _message(nonsense, method, what.kind, dice, what.ids))
        for caller, method in turns
    )

    async def send() -> None:
        for caller, method, data in calls:
            _note(outcome, method, data, await sent(channel, method, caller, data))

    await asyncio.gather(*(send() for _ in range(AT_ONCE)))
    return outcome


def _message(
    nonsense: Nonsense,
    method: MethodDescriptor,
    kind: str,
    dice: Dice,
    given: Mapping[str, str],
) -> bytes:
    """Return what is sent: of each kind, half begins as a request that makes sense."""
    makes_sense = dice.below(2)
    if kind == "bytes":
        data = request_for(method, given) if makes_sense else nonsense.of(method)
        return mutated(data, dice)
    if not makes_sense:
        return nonsense.of(method)
    message = GetMessageClass(method.input_type).FromString(request_for(method, given))
    nonsense.change(message)
    return message.SerializeToString()


def _note(
    outcome: Outcome, method: MethodDescriptor, data: bytes, error: grpc.aio.AioRpcError | None
) -> None:
    outcome.sent += 1
    if error is None:
        outcome.taken += 1
        return
    reason = _reason(error)
    if reason:
        outcome.refused[reason] += 1
    else:
        told = f"{error.code().name} {error.details()}"
        outcome.wrong.append(f"{method.full_name} {data.hex()}: {told}")


def _reason(error: grpc.aio.AioRpcError) -> str:
    """Return the one reason of a refusal; empty for what is none, or not a well-made one."""
    if error.code() in BUGS:
        return ""
    try:
        return refusal_of(error, error.code()).reason
    except AssertionError:
        return ""
