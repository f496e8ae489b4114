"""Random commands of people who do sit at a table: each is refused, or is in the record once."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

import grpc

from libs.bots.strengths import STRENGTHS
from libs.rules import commands as c
from libs.rules import phases
from libs.rules.legal import LegalCommands
from libs.rules.match import Match
from libs.rules.views import View
from libs.simulation.auditing import audit
from libs.wire.chain import follow
from libs.wire.commands import message_of
from opolyx.match.v1 import match_service_pb2 as pb
from opolyx.match.v1.command_pb2 import Command
from tests.e2e.rig import Stage, Table, refusal_of
from tests.fuzz.families import BUGS
from tests.fuzz.nonsense import Nonsense
from tests.support.calling import Client, new_id
from tests.support.walks import Dice

BETWEEN: Final = 8
"""So many random commands come between two that move the match on."""

SURRENDERS: Final = 50
"""One random surrender of so many is sent, or else no match would last."""


@dataclass(slots=True)
class Played:
    """What became of the commands.

    Attributes:
        sent: how many there were.
        accepted: how many were.
        refused: the others, by reason.
        matches: over how many matches they went.

    """

    sent: int = 0
    accepted: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    matches: int = 0


async def fuzz_commands(stage: Stage, count: int, seed: int) -> Played:
    """Send *count* random commands from the seats of matches of two people.

    Raises:
        AssertionError: one was answered by what must not be, or a record has what nobody was told,
            or lacks what somebody was, or is not sound.

    """
    played, dice = Played(), Dice(seed)
    while played.sent < count:
        table = await stage.table()
        played.matches += 1
        told = await _fuzz_match(table, played, count, dice)
        records = await table.records()
        audit(records)
        given = {each.command_id for each in follow(records) if each.actor.startswith("seat:")}
        # The seeds came before, one of each.
        assert told <= given, "what was acknowledged is not in the record"
        assert len(given - told) == len(table.people), "what was refused is in the record"
    return played


async def _fuzz_match(table: Table, played: Played, count: int, dice: Dice) -> set[str]:
    """Play a match until it or *count* ends; returns the commands that were acknowledged."""
    nonsense, told = Nonsense(dice, []), set[str]()
    while played.sent < count:
        match = await table.state()
        if match.phase == phases.ENDED:
            break
        seat = match.pending_seats()[0]
        moved = choice(match, seat)
        if moved is not None:
            told |= await _give(table, table.people[seat], message_of(moved), played)
        for _ in range(BETWEEN):
            command = _random(nonsense, dice)
            told |= await _give(table, table.people[dice.below(2)], command, played)
    return told


async def _give(table: Table, person: Client, command: Command, played: Played) -> set[str]:
    """Give a command; returns its id if it was accepted."""
    request = pb.SubmitCommandRequest(match_id=table.match_id, command_id=new_id(), command=command)
    played.sent += 1
    try:
        await person.call(person.match.SubmitCommand, request)
    except grpc.aio.AioRpcError as error:
        if error.code() in BUGS:
            raise AssertionError(request) from error
        played.refused[refusal_of(error, error.code()).reason] += 1
        return set()
    played.accepted += 1
    return {request.command_id}


def choice(match: Match, seat: int) -> c.SeatCommand | None:
    """Return what a bot would do that somebody waits for; None if it would let the time pass."""
    return STRENGTHS["novice"](View(match, seat), LegalCommands(match, seat))


def _random(nonsense: Nonsense, dice: Dice) -> Command:
    """Return a command of any kind whose fields may make no sense."""
    kinds = Command.DESCRIPTOR.oneofs_by_name["command"].fields
    while True:
        kind = kinds[dice.below(len(kinds))].name
        if kind == "surrender" and dice.below(SURRENDERS):
            continue
        command = Command()
        inner = getattr(command, kind)
        inner.SetInParent()
        nonsense.fill(inner)
        return command
