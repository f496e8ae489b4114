"""Who sits at a table: people by name, bots by strength."""

from collections.abc import Sequence
from dataclasses import dataclass

from libs.bots.strengths import STRENGTHS
from libs.rules.rule_sets import RULE_SETS
from services.testkit.errors import MisuseError


@dataclass(frozen=True, slots=True)
class Bot:
    """A bot's seat; *strength* is one of `BotService.ListBots`."""

    strength: str = "steady"

    def __post_init__(self) -> None:
        if self.strength not in STRENGTHS:
            known = ", ".join(STRENGTHS)
            raise MisuseError(f"no bot is called {self.strength!r}; there are {known}")


Seat = str | Bot
"""A person, by a name of the test's own, or a bot."""


def check_table(rule_set: str, seats: Sequence[Seat]) -> None:
    """Go on if a match can be made so.

    Raises:
        MisuseError: it cannot, and why.

    """
    rules = RULE_SETS.get(rule_set)
    if rules is None:
        known = ", ".join(RULE_SETS)
        raise MisuseError(f"no rule set is called {rule_set!r}; there are {known}")
    if isinstance(seats, str):
        raise MisuseError(f"seats is a list, such as [{seats!r}, Bot()]")
    if len(seats) not in rules.seats:
        allowed = ", ".join(map(str, rules.seats))
        raise MisuseError(f"{rule_set} is for {allowed} seats, not {len(seats)}")
    people: list[object] = [seat for seat in seats if not isinstance(seat, Bot)]
    if strange := [who for who in people if not isinstance(who, str) or not who]:
        raise MisuseError(f"a seat is a person's name or a Bot, not {strange[0]!r}")
    if twice := [who for who in people if people.count(who) > 1]:
        raise MisuseError(f"{twice[0]!r} has two seats; each person has one")
