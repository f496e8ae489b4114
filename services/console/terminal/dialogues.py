"""Questions that take several lines: a trade that is put together, and whether it is meant."""

from typing import Final, NamedTuple, Protocol, Self

from libs.rules import commands as c
from libs.rules import events as e
from libs.rules.match import Match
from libs.rules.trading import is_fair, is_tradable, value_of
from services.console.naming import spoken
from services.console.narrating import side_told
from services.console.terminal.people import People
from services.console.terminal.words import NotUnderstoodError, things

YES: Final = ("yes", "y")


class Step(NamedTuple):
    """What an answer has led to: the next question, a command, or neither where it was dropped."""

    next: "Dialogue | None" = None
    command: c.SeatCommand | None = None


DROPPED: Final = Step()


class Dialogue(Protocol):
    """A question that waits for a line."""

    @property
    def question(self) -> str:
        """What is asked."""
        ...

    def answer(self, line: str) -> Step:
        """Take the answer.

        Raises:
            NotUnderstoodError: it is none; the question stands.

        """
        ...


class Confirming:
    """Asks whether a command is meant; anything but yes drops it."""

    def __init__(self, question: str, command: c.SeatCommand) -> None:
        self.question = f"{question} yes or no?"
        self._command = command

    def answer(self, line: str) -> Step:
        """See `Dialogue`."""
        is_meant = line.strip().lower() in YES
        return Step(command=self._command) if is_meant else DROPPED


class Composing:
    """Puts a trade together: with whom, what is given, what is taken; an empty line drops it."""

    def __init__(self, seat: int, match: Match, people: People) -> None:
        """Begin for *seat*, who may offer something."""
        self._seat = seat
        self._match = match
        self._people = people
        self._to: int | None = None
        self._give: e.Side | None = None

    @classmethod
    def of(cls, seat: int, match: Match, people: People) -> Self:
        """Begin; where there is but one to trade with, it is with them."""
        dialogue = cls(seat, match, people)
        others = [other for other in match.living_seats() if other != seat]
        if len(others) == 1:
            dialogue._to = others[0]
        return dialogue

    @property
    def question(self) -> str:
        """See `Dialogue`."""
        if self._to is None:
            return f"A trade with whom? {', '.join(self._others())}; an empty line drops it."
        if self._give is None:
            return f"What do you give? {self._things(self._seat)}"
        return f"What do you take from {self._people.names[self._to]}? {self._things(self._to)}"

    def answer(self, line: str) -> Step:
        """See `Dialogue`."""
        words = line.lower().split()
        if not words:
            return DROPPED
        if self._to is None:
            self._to = self._partner(words[0])
            return Step(self)
        if self._give is None:
            self._give = self._side(words)
            return Step(self)
        offer = c.OfferTrade(self._seat, self._to, self._give, self._side(words))
        return Step(Confirming(self._summary(offer), offer))

    def _side(self, words: list[str]) -> e.Side:
        side = things(words)
        for square in side.squares:
            if not self._match.board.is_property(square):
                raise NotUnderstoodError(f"{square} is no square that somebody can own.")
        return side

    def _others(self) -> list[str]:
        living = self._match.living_seats()
        return [self._people.names[other] for other in living if other != self._seat]

    def _partner(self, word: str) -> int:
        seat = self._people.seat_of(word)
        if seat is None or self._people.names[seat] not in self._others():
            raise NotUnderstoodError(f"With one of {', '.join(self._others())}.")
        return seat

    def _things(self, seat: int) -> str:
        """Say what a seat could part with."""
        match = self._match
        squares = [square for square in match.properties_of(seat) if is_tradable(match, square)]
        named = [f"{square} {spoken(match.board, square)}" for square in squares]
        return f"{', '.join([*named, f'cash up to {match.cash[seat]:,}'])}, or nothing."

    def _summary(self, offer: c.OfferTrade) -> str:
        name = self._people.names[offer.to]
        give, take = self._told(offer.give), self._told(offer.take)
        return f"You give {name} {give} for {take}.{self._warning(offer)} Offer it?"

    def _told(self, side: e.Side) -> str:
        told = side_told(side, self._match.board)
        return f"{told} (worth {value_of(self._match, side):,})" if side.squares else told

    def _warning(self, offer: c.OfferTrade) -> str:
        match = self._match
        if match.is_rival(self._seat, offer.to) and not is_fair(match, offer.give, offer.take):
            percent = match.rules.fair_share_percent
            return f" One side is worth less than {percent}% of the other."
        return ""
