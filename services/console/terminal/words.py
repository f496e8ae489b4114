"""What somebody types: read into what is meant, or told what could be. And back: commands as words.

Nothing here decides whether a command is allowed. Words always mean the same; a number means the
entry of the list that was shown last.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from libs.rules import commands as c
from libs.rules import events as e
from libs.rules.match import Match
from services.console.terminal.people import People

AMOUNT_DIGITS_MAX: Final = 9
LINE_MAX: Final = 400
"""Characters of a line: no more are taken while it is typed, and none beyond are read."""

LEAVING: Final = ("quit", "exit", "q")

_GROUPED: Final = re.compile(r"[0-9]{1,3}(,[0-9]{3})+")
"""An amount with commas, such as `1,500`."""


class NotUnderstoodError(ValueError):
    """A line means nothing here; the text says what would."""


@dataclass(frozen=True, slots=True)
class Pick:
    """An entry of the list, with what it still needs."""

    number: int
    rest: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Give:
    """A command; *amount* is what somebody thinks that it costs, None if they don't say."""

    command: c.SeatCommand
    amount: int | None = None


@dataclass(frozen=True, slots=True)
class WhyNot:
    """Why a command would be refused."""

    command: c.SeatCommand


@dataclass(frozen=True, slots=True)
class Explain:
    """Why an event happened."""

    sequence: int


@dataclass(frozen=True, slots=True)
class Show:
    """Something to look at: board, list, offers, log or help. *count* of lines, for the log."""

    what: str
    count: int = 0


@dataclass(frozen=True, slots=True)
class Compose:
    """A trade that is put together by questions."""


@dataclass(frozen=True, slots=True)
class Leave:
    """An end of playing here; the match goes on."""


Meant = Give | WhyNot | Explain | Show | Compose | Leave
"""What can be done."""

Typed = Pick | Meant
"""What can be typed."""

LOG_LINES: Final = 15


def parse(line: str, seat: int, match: Match, people: People) -> Typed:
    """Read a line that *seat* has typed.

    Raises:
        NotUnderstoodError: it means nothing.

    """
    words = line[:LINE_MAX].replace("\t", " ").lower().split()
    if not words:
        raise NotUnderstoodError("Type a number of the list, or words.")
    first, rest = words[0], words[1:]
    if first.isascii() and first.isdigit():
        return Pick(_whole(first), tuple(rest))
    if first in ("why", "whynot"):
        return WhyNot(_Reader(seat, match, people).command(rest))
    if first == "explain":
        return Explain(_whole(_only(rest, "explain SEQ: the number of an event, as in `log`")))
    if first == "log":
        return Show("log", _whole(rest[0]) if rest else LOG_LINES)
    if first in _SHOWN and not rest:
        return Show(_SHOWN[first])
    if first in LEAVING and not rest:
        return Leave()
    if words == ["trade"]:
        return Compose()
    reader = _Reader(seat, match, people)
    if first == "bid" and rest:
        return Give(c.Bid(seat), amount_of(_only(rest, USAGES["bid"])))
    return Give(reader.command(words))


def words_of(command: c.SeatCommand) -> str:
    """Return the words that mean *command*; a client seed has none."""
    return _SPELLED[type(command)](command)


def things(words: Sequence[str]) -> e.Side:
    """Read one side of a trade: squares, `cash AMOUNT`, or `nothing`.

    Raises:
        NotUnderstoodError: it is neither.

    """
    cash, squares = 0, []
    rest = [part for word in words if word not in ("and", "nothing") for part in _parts(word)]
    while rest:
        word = rest.pop(0)
        if word == "cash":
            if not rest:
                raise NotUnderstoodError("How much? Such as: cash 500")
            cash += amount_of(rest.pop(0))
        else:
            squares.append(_whole(word))
    return e.Side(cash, tuple(squares))


def amount_of(word: str) -> int:
    """Read an amount of money, `1500` or `1,500`.

    Raises:
        NotUnderstoodError: it is none.

    """
    if _GROUPED.fullmatch(word):
        word = word.replace(",", "")
    return _whole(word)


def _parts(word: str) -> list[str]:
    return [word] if _GROUPED.fullmatch(word) else [part for part in word.split(",") if part]


def _whole(word: str) -> int:
    if not (word.isascii() and word.isdigit() and len(word) <= AMOUNT_DIGITS_MAX):
        raise NotUnderstoodError(f"`{word[:20]}` is no number.")
    return int(word)


def _only(words: Sequence[str], usage: str) -> str:
    if len(words) != 1:
        raise NotUnderstoodError(f"It is: {usage}.")
    return words[0]


class _Reader:
    """Reads the words of a command, as a seat of a match."""

    def __init__(self, seat: int, match: Match, people: People) -> None:
        self._seat = seat
        self._match = match
        self._people = people

    def command(self, words: Sequence[str]) -> c.SeatCommand:
        name = words[0] if words else ""
        rest = list(words[1:])
        if name in _PLAIN:
            if rest:
                raise NotUnderstoodError(f"It is: {USAGES[name]}.")
            return _PLAIN[name](self._seat)
        if name in _NUMBERED:
            return _NUMBERED[name](self._seat, _whole(_only(rest, USAGES[name])))
        if name in _ABOUT_OFFERS:
            return _ABOUT_OFFERS[name](self._seat, self._offer(name, rest))
        if name == "bet":
            if not rest:
                raise NotUnderstoodError(f"It is: {USAGES[name]}.")
            return c.BetJackpot(self._seat, tuple(map(_whole, rest)))
        if name == "trade":
            return self._trade(rest)
        raise NotUnderstoodError(f"`{name[:20]}` is nothing that can be done; `help` says what is.")

    def _offer(self, name: str, rest: Sequence[str]) -> int:
        """Return the offer that is named, or the only one that can be meant."""
        if rest:
            return _whole(_only(rest, USAGES[name]))
        is_own = name == "withdraw"
        meant = [
            offer.offer
            for offer in self._match.offers
            if (offer.proposer if is_own else offer.receiver) == self._seat
        ]
        if len(meant) != 1:
            which = ", ".join(map(str, meant)) or "none"
            raise NotUnderstoodError(f"Which offer? It is: {USAGES[name]}; open: {which}.")
        return meant[0]

    def _trade(self, rest: list[str]) -> c.OfferTrade:
        to = self._people.seat_of(rest[0]) if rest else None
        if to is None or "give" not in rest or "take" not in rest:
            who = ", ".join(self._people.names)
            raise NotUnderstoodError(f"It is: {USAGES['trade']}; WHO is one of {who}.")
        give, take = rest.index("give"), rest.index("take")
        if give == 1 < take:
            sides = things(rest[give + 1 : take]), things(rest[take + 1 :])
        elif take == 1 < give:
            sides = things(rest[give + 1 :]), things(rest[take + 1 : give])
        else:
            raise NotUnderstoodError(f"It is: {USAGES['trade']}.")
        return c.OfferTrade(self._seat, to, *sides)


def _side(side: e.Side) -> str:
    parts = [f"cash {side.cash}"] if side.cash else []
    return " ".join([*parts, *map(str, side.squares)]) or "nothing"


_SHOWN: Final = {
    "board": "board",
    "list": "list",
    "ls": "list",
    "offers": "offers",
    "help": "help",
    "?": "help",
}

_PLAIN: Final[Mapping[str, Callable[[int], c.SeatCommand]]] = {
    "roll": c.Roll,
    "buy": c.Buy,
    "decline": c.Decline,
    "bid": c.Bid,
    "pass": c.Pass,
    "pay": c.Pay,
    "bankrupt": c.DeclareBankruptcy,
    "bail": c.PayBail,
    "stay": c.StayInJail,
    "keep": c.DeclineJackpot,
    "surrender": c.Surrender,
}

_NUMBERED: Final[Mapping[str, Callable[[int, int], c.SeatCommand]]] = {
    "build": c.Build,
    "sell": c.SellLevel,
    "mortgage": c.Mortgage,
    "redeem": c.Redeem,
    "bus": c.ChooseBusMove,
    "teleport": c.ChooseTeleport,
}

_ABOUT_OFFERS: Final[Mapping[str, Callable[[int, int], c.SeatCommand]]] = {
    "accept": c.AcceptTrade,
    "reject": c.RejectTrade,
    "withdraw": c.WithdrawTrade,
}

USAGES: Final[Mapping[str, str]] = {
    "roll": "roll",
    "buy": "buy",
    "decline": "decline",
    "bid": "bid [AMOUNT]",
    "pass": "pass",
    "build": "build SQUARE",
    "sell": "sell SQUARE",
    "mortgage": "mortgage SQUARE",
    "redeem": "redeem SQUARE",
    "pay": "pay",
    "bankrupt": "bankrupt",
    "bail": "bail",
    "stay": "stay",
    "bus": "bus TOTAL",
    "teleport": "teleport SQUARE",
    "bet": "bet N [N [N]]",
    "keep": "keep",
    "trade": "trade WHO give THINGS take THINGS, such as: trade bob give 6 8 take cash 1,500",
    "accept": "accept [OFFER]",
    "reject": "reject [OFFER]",
    "withdraw": "withdraw [OFFER]",
    "surrender": "surrender",
}
"""How each command is typed, by its first word."""

_SPELLED: Final[Mapping[type, Callable[[Any], str]]] = {
    **{kind: (lambda _, name=name: name) for name, kind in _PLAIN.items()},  # type: ignore[misc]
    c.Build: lambda command: f"build {command.square}",
    c.SellLevel: lambda command: f"sell {command.square}",
    c.Mortgage: lambda command: f"mortgage {command.square}",
    c.Redeem: lambda command: f"redeem {command.square}",
    c.ChooseBusMove: lambda command: f"bus {command.total}",
    c.ChooseTeleport: lambda command: f"teleport {command.square}",
    c.BetJackpot: lambda command: f"bet {' '.join(map(str, command.numbers))}",
    c.OfferTrade: lambda command: (
        f"trade {command.to} give {_side(command.give)} take {_side(command.take)}"
    ),
    c.AcceptTrade: lambda command: f"accept {command.offer}",
    c.RejectTrade: lambda command: f"reject {command.offer}",
    c.WithdrawTrade: lambda command: f"withdraw {command.offer}",
}
