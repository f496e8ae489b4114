"""What a seat may do now, as the server lists it: numbered, in words, each with what it costs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from libs.rules import commands as c
from libs.rules.board import SQUARES
from libs.rules.match import Match
from libs.wire.commands import command_of
from opolyx.match.v1 import match_service_pb2 as pb
from opolyx.match.v1.legal_command_pb2 import LegalCommand
from services.console.naming import spoken
from services.console.terminal.people import People
from services.console.terminal.words import (
    Compose,
    Give,
    NotUnderstoodError,
    Pick,
    parse,
    words_of,
)

BET: Final = "bet"
TRADE: Final = "trade"


@dataclass(frozen=True, slots=True)
class Option:
    """One entry of the list.

    Attributes:
        words: what may be typed instead of its number.
        about: what that is about, such as the name of a square; may be empty.
        cost: what it takes from the seat's cash at once; negative where it brings cash.
        command: what is sent; None where it needs to be told more.

    """

    words: str
    about: str
    cost: int
    command: c.SeatCommand | None

    @property
    def price(self) -> str:
        """The change of the seat's cash, such as ``-1,500``; empty where there is none."""
        return f"{-self.cost:+,}" if self.cost else ""


@dataclass(frozen=True, slots=True)
class Options:
    """The list at one moment, the first number being 1.

    Attributes:
        sequence: at which sequence of the match it holds.
        entries: what answers the pending decision first.

    """

    sequence: int
    entries: tuple[Option, ...]

    def cost_of(self, command: c.SeatCommand) -> int | None:
        """Return what *command* costs; None if it is not on the list as it is."""
        return next((entry.cost for entry in self.entries if entry.command == command), None)

    def has(self, word: str) -> bool:
        """Tell whether something is on the list that is typed with *word* first."""
        return any(entry.words.split(maxsplit=1)[0] == word for entry in self.entries)

    def picked(self, pick: Pick, seat: int, match: Match, people: People) -> Give | Compose:
        """Return what somebody means by a number, and what follows it.

        Raises:
            NotUnderstoodError: there is no such entry, or it needs something else.

        """
        if not 1 <= pick.number <= len(self.entries):
            raise NotUnderstoodError(
                f"There is no {pick.number}: the list goes from 1 to {len(self.entries)}."
            )
        option = self.entries[pick.number - 1]
        if option.command is None:
            line = " ".join([option.words.split(maxsplit=1)[0], *pick.rest])
            typed = parse(line, seat, match, people)
            assert isinstance(typed, Give | Compose), "of the list are bets and trades"
            return typed
        if pick.rest:
            raise NotUnderstoodError(f"Nothing follows {pick.number}: it is `{option.words}`.")
        return Give(option.command, option.cost)


def options_of(listed: pb.ListLegalCommandsResponse, match: Match) -> Options:
    """Read what the server lists for its caller's seat; what is newer than we are is passed over.

    *match* lends names of squares, and what the offers are about.
    """
    found = (_options(entry, listed.seat, match) for entry in listed.legal_commands)
    return Options(listed.sequence, tuple(option for some in found for option in some))


def _options(entry: LegalCommand, seat: int, match: Match) -> Iterator[Option]:
    match entry.WhichOneof("entry"):
        case "choice" if entry.choice.command.WhichOneof("command") is not None:
            command = command_of(entry.choice.command, seat)
            yield Option(words_of(command), _about(command, match), int(entry.choice.cost), command)
        case "bet_jackpot":
            bet = entry.bet_jackpot
            about = f"1 to {bet.most} numbers of 1 to {bet.faces}"
            yield Option(f"{BET} N ...", about, int(bet.cost), None)
        case "offer_trade":
            yield Option(f"{TRADE} ...", "", 0, None)
        case _:
            pass  # a seed is given without being asked for; others are newer


def _about(command: c.SeatCommand, match: Match) -> str:
    match command:
        case (
            c.Build(_, square)
            | c.SellLevel(_, square)
            | c.Mortgage(_, square)
            | c.Redeem(_, square)
            | c.ChooseTeleport(_, square)
        ):
            return spoken(match.board, square)
        case c.Buy(seat):
            return spoken(match.board, match.square[seat])
        case c.ChooseBusMove(seat, total):
            target = (match.square[seat] + total) % SQUARES
            return f"to {spoken(match.board, target)}"
        case _:
            return ""


def numbered(options: Sequence[Option], width: int) -> list[str]:
    """Return a line for each entry, its number and words to the left, what it costs to the right.

    What an entry is about stands in its line where there is room.
    """
    lines = []
    for number, option in enumerate(options, start=1):
        left, right = f"{number:>3} {option.words}", option.price
        whole = f"{left} ({option.about})" if option.about else left
        if len(whole) + len(right) + 1 <= width:
            left = whole
        lines.append(f"{left:<{width - len(right)}}{right}".rstrip())
    return lines
