"""Matches for tests: made as a test wants them, and played through the gateway."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from libs.chassis.channels import Channel
from libs.client.client import Client
from libs.client.replies import Accepted, accepted_of
from libs.kernel.ids import MatchId, fresh_id
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules.legal import Choice
from libs.rules.match import Match
from libs.scenarios.files import read_file
from libs.scenarios.reading import MalformedError
from libs.scenarios.scenario import Scenario
from libs.wire.chain import follow, rebuild
from libs.wire.commands import command_of, message_of
from libs.wire.record import StoredRecord
from libs.wire.writers import spec_message
from opolyx.bot.v1 import bot_service_pb2 as bot_pb
from opolyx.bot.v1.bot_service_pb2_grpc import BotServiceStub
from opolyx.match.v1 import match_service_pb2 as pb
from opolyx.match.v1.match_service_pb2_grpc import MatchServiceStub
from services.testkit.beginning import begin
from services.testkit.dice import Dice
from services.testkit.errors import MisuseError
from services.testkit.seats import Bot, Seat, check_table
from services.testkit.stack import Stack

RULE_SET: Final = "opolyx.classic@2"


@dataclass(frozen=True, slots=True, kw_only=True)
class StagedMatch:
    """A match that goes on, and whoever plays it.

    Attributes:
        match_id: which match it is.
        seats: who sits where.
        clients: of the people, by seat.

    """

    match_id: MatchId
    seats: tuple[Seat, ...]
    clients: Mapping[int, Client]
    _looker: Client

    async def play(self, seat: int, command: c.SeatCommand) -> Accepted:
        """Give a command for a person's seat, and return once it is durable.

        Raises:
            RefusedError: it is refused; its `told.reason` says why.
            MisuseError: the seat is nobody's to play, or the command is another seat's.

        """
        client = self._client(seat)
        if not isinstance(command, c.SeatCommand):
            raise MisuseError(f"a command is such as Roll({seat}), not {command!r}")
        if command.seat != seat:
            raise MisuseError(f"{command} is of seat {command.seat}, not of seat {seat}")
        request = pb.SubmitCommandRequest(
            match_id=self.match_id, command_id=_fresh_id(), command=message_of(command)
        )
        return accepted_of(await client.call(client.match.SubmitCommand, request))

    async def state(self) -> Match:
        """Return the match as its records make it, each held to the one before it."""
        return rebuild(await self.records())

    async def events(self) -> list[e.Event]:
        """Return all that has happened."""
        return [event for record in follow(await self.records()) for event in record.events]

    async def legal(self, seat: int) -> list[Choice]:
        """Return the commands that a person's seat may give now, whole, each with its cost.

        What is listed by bounds, such as trades and bets, is not among them.

        Raises:
            MisuseError: the seat is nobody's to play.

        """
        client = self._client(seat)
        request = pb.ListLegalCommandsRequest(match_id=self.match_id)
        listed = await client.call(client.match.ListLegalCommands, request)
        return [
            Choice(command_of(entry.choice.command, seat), entry.choice.cost)
            for entry in listed.legal_commands
            if entry.HasField("choice")
        ]

    async def records(self) -> list[StoredRecord]:
        """Return all records, as they are stored."""
        records: list[StoredRecord] = []
        request = pb.ReadEventsRequest(match_id=self.match_id)
        while True:
            page = await self._looker.call(self._looker.match.ReadEvents, request)
            records += [StoredRecord(r.first_seq, r.last_seq, r.hash, r.data) for r in page.records]
            if not page.next_page_token:
                return records
            request.page_token = page.next_page_token

    def _client(self, seat: int) -> Client:
        if seat not in self.clients:
            whose = "a bot's" if seat in range(len(self.seats)) else "not there"
            raise MisuseError(f"seat {seat} is {whose}; people have {sorted(self.clients)}")
        return self.clients[seat]


class MatchFactory:
    """Makes matches in a stack: `await match_factory(seats=["ada", Bot("shark")])`."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack

    async def __call__(
        self,
        rule_set: str | None = None,
        seats: Sequence[Seat] = (),
        *,
        dice: Dice | None = None,
        scenario: Path | str | None = None,
    ) -> StagedMatch:
        """Make a match, and return when its first decision is pending.

        *seats* are people by name, and bots. *dice* is its script. *scenario* is a scenario file,
        whose set-up the match begins with and whose draws it makes; the file says the rule set too,
        and how many seats there are. Its steps are for the test to take.

        Raises:
            MisuseError: no match can be made so.
            UntoldSituationError: see `services.testkit.situations`.

        """
        self._stack.check_loop()
        given = None if scenario is None else _read(Path(scenario), rule_set)
        rule_set = rule_set or (RULE_SET if given is None else given.rule_set)
        check_table(rule_set, seats)
        if given is not None:
            if given.seats != len(seats):
                raise MisuseError(f"the scenario has {given.seats} seats, not {len(seats)}")
            dice = dice or Dice.of_script(given.script, given.setup.turn)
        if dice is not None:
            dice.check(rule_set, len(seats))
        return await self._make(rule_set, seats, dice, given)

    async def _make(
        self, rule_set: str, seats: Sequence[Seat], dice: Dice | None, given: Scenario | None
    ) -> StagedMatch:
        stack = self._stack
        match_id = MatchId(fresh_id(stack.parts.foundation.clock.now_ms()))
        if dice is not None:
            stack.parts.dice.write(match_id, dice)
        specs = [await self._spec(seat, number, given) for number, seat in enumerate(seats)]
        clients = {
            number: stack.client(seat) for number, seat in enumerate(seats) if isinstance(seat, str)
        }
        looker = stack.client("test kit", "operator")
        match = StagedMatch(match_id=match_id, seats=tuple(seats), clients=clients, _looker=looker)
        if given is not None:
            await begin(stack.parts, match_id, specs, given)
        else:
            await self._create(match_id, rule_set, specs)
            for seat in clients:
                await match.play(seat, c.ContributeSeed(seat, b""))
        await self._seat_bots(match_id, seats)
        return match

    async def _spec(self, seat: Seat, number: int, given: Scenario | None) -> e.SeatSpec:
        cards = () if given is None else tuple(given.setup.cards.get(number, {}).items())
        if isinstance(seat, Bot):
            return e.SeatSpec(e.BOT, "", seat.strength, cards)
        return e.SeatSpec(e.PERSON, await self._stack.player_id(seat), "", cards)

    async def _create(self, match_id: MatchId, rule_set: str, specs: Sequence[e.SeatSpec]) -> None:
        request = pb.CreateMatchRequest(
            command_id=_fresh_id(),
            match_id=match_id,
            rule_set=rule_set,
            seats=map(spec_message, specs),
        )

        async def work(channel: Channel) -> None:
            await MatchServiceStub(channel).CreateMatch(request)

        await self._stack.engines.call(match_id, work)

    async def _seat_bots(self, match_id: MatchId, seats: Sequence[Seat]) -> None:
        request = bot_pb.SeatBotsRequest(command_id=_fresh_id(), match_id=match_id)
        for number, seat in enumerate(seats):
            if isinstance(seat, Bot):
                request.seats.add(seat=number, strength=seat.strength)
        if request.seats:
            await BotServiceStub(self._stack.bots).SeatBots(request)


def _read(path: Path, rule_set: str | None) -> Scenario:
    try:
        found = read_file(path)
    except (MalformedError, OSError) as error:
        raise MisuseError(f"{path} is no scenario: {error}") from error
    if rule_set not in (None, found.rule_set):
        raise MisuseError(f"the scenario is of {found.rule_set}, not of {rule_set}")
    return found


def _fresh_id() -> str:
    return fresh_id(0)
