"""What somebody at a table may ask, beside what they do: why, and what has happened."""

from dataclasses import dataclass

from libs.client.client import Client
from libs.client.table import Table
from libs.rules import commands as c
from libs.wire.commands import message_of
from opolyx.match.v1 import match_service_pb2 as pb
from services.console.terminal import words
from services.console.terminal.help import HELP
from services.console.terminal.options import Options, options_of
from services.console.terminal.people import People
from services.console.terminal.situation import offer_told
from services.console.terminal.story import Story


@dataclass(frozen=True, slots=True)
class Place:
    """A place at a table that is open.

    Attributes:
        seat: which one.
        past: what happened up to this sequence was before somebody sat down here, now.
        story: what has happened, all of it once the match is over.

    """

    client: Client
    table: Table
    people: People
    seat: int
    past: int
    story: Story

    async def options(self) -> Options:
        """Return what the seat may do, as the match is by now. Raises as `Client.call`."""
        match = self.table.match
        request = pb.ListLegalCommandsRequest(
            match_id=self.table.match_id, min_sequence=match.sequence
        )
        answer = await self.client.call(self.client.match.ListLegalCommands, request)
        return options_of(answer, match)

    async def answer(self, question: words.WhyNot | words.Explain | words.Show) -> str:
        """Return the answer to a question. Raises as `Client.call`."""
        match question:
            case words.WhyNot(command):
                return await self._why_not(command)
            case words.Explain(sequence):
                return await self._explain(sequence)
            case words.Show("offers"):
                match, people = self.table.match, self.people
                told = [offer_told(offer, match, people) for offer in match.offers]
                return "\n".join(told) or "No offer is open."
            case words.Show("log", count):
                told = [f"{n:>6}  {sentence}" for n, sentence in self.story.last(count)]
                return "\n".join(told) or "Nothing has happened yet."
            case words.Show():
                return HELP

    async def _why_not(self, command: c.SeatCommand) -> str:
        request = pb.WhyNotRequest(match_id=self.table.match_id, command=message_of(command))
        answer = await self.client.call(self.client.match.WhyNot, request)
        if answer.HasField("refused"):
            return f"{answer.refused.reason}: {answer.refused.text}"
        return f"`{words.words_of(command)}` would be accepted now."

    async def _explain(self, sequence: int) -> str:
        request = pb.ExplainRequest(match_id=self.table.match_id, sequence=sequence)
        answer = await self.client.call(self.client.match.Explain, request)
        return f"{sequence}: {self.people.told(answer.text)}"
