"""Calls at once, and what became of them."""

import asyncio
from collections.abc import Awaitable, Iterable
from typing import Any

from libs.chassis.status import answer_of
from opolyx.lobby.v1.room_pb2 import Room


async def race(calls: Iterable[Awaitable[Room]]) -> tuple[list[Room], list[str]]:
    """Return the rooms of the calls that were accepted, and the reasons of the others."""
    outcomes: list[Any] = await asyncio.gather(*calls, return_exceptions=True)
    rooms = [outcome for outcome in outcomes if isinstance(outcome, Room)]
    reasons = []
    for outcome in outcomes:
        if not isinstance(outcome, Room):
            told = answer_of(outcome).told
            assert told is not None, outcome
            reasons.append(told.reason)
    return rooms, reasons
