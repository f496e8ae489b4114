"""Why something happened, and why something cannot: the rules in words, with their numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, get_args

from libs.kernel.chance import NOT_ROLLED, SEED_SIZE
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules.decide import decide
from libs.rules.match import Match
from libs.rules.refusals import Fact, Refusal
from libs.rules.sentences import SENTENCES
from libs.rules.telling_property import PROPERTY
from libs.rules.telling_turns import TURNS

_TELL: Final = TURNS | PROPERTY

assert _TELL.keys() == set(get_args(e.Event)), "every event can be explained"
assert not TURNS.keys() & PROPERTY.keys(), "every event is told in one place"


@dataclass(frozen=True, slots=True)
class Explanation:
    """An event in words.

    Attributes:
        rules: the ids of the rules that it rests on, each once, the first one first.
        text: what they did here, such as ``RENT-1: base rent 20 of square 1 (brown 1); ...``.
    """

    rules: tuple[str, ...]
    text: str


def explain(match: Match, event: e.Event) -> Explanation:
    """Explain *event*, given the match as it was just before it.

    All numbers come from the event. The match lends the names of squares, the numbers of its rule
    set, what an accepted offer was about, and how many doubles came before a roll.
    """
    clauses = _TELL[event.__class__](match, event)
    rules = tuple(dict.fromkeys(rule for rule, _ in clauses))
    return Explanation(rules, "; ".join(f"{rule}: {words}" for rule, words in clauses))


def why_not(match: Match, command: c.Command, at_ms: int) -> Refusal | None:
    """Return why *command* would be refused at *at_ms*, or None if it would be accepted.

    Nothing is decided and nothing drawn: chance never refuses a command, so made-up dice will do.
    """
    decision = decide(match, command, _NoChance(), at_ms)
    return decision if isinstance(decision, Refusal) else None


def sentence(refusal: Refusal) -> str:
    """Return a refusal as an English sentence, with its facts and its rule.

    Such as ``There is not enough cash for it. (JAIL-2; needed 500, cash 120)``.
    """
    facts = ", ".join(
        f"{name.replace('_', ' ')} {_spelt(fact)}" for name, fact in refusal.facts.items()
    )
    basis = f"{refusal.rule}; {facts}" if facts else refusal.rule
    return f"{SENTENCES[refusal.reason]} ({basis})"


def _spelt(fact: Fact) -> str:
    if isinstance(fact, tuple):
        return "/".join(str(number) for number in fact) or "none"
    return f"{fact:,}" if isinstance(fact, int) else fact


class _NoChance:
    """Draws that are no chance at all, for asking what a command would meet."""

    def bind(self, client_seeds: Sequence[bytes | None]) -> None:
        """Take no seeds."""

    def first(self, counter: int, seats: int) -> tuple[int, int]:  # noqa: ARG002 - `Draws`
        """Return seat 0."""
        return 0, 1

    def roll(
        self,
        counter: int,  # noqa: ARG002 - `Draws`
        third: bool,  # noqa: ARG002, FBT001 - `Draws`
    ) -> tuple[int, int, int, int]:
        """Return 1 and 2."""
        return 1, 2, NOT_ROLLED, 1

    def jackpot(self, counter: int) -> tuple[int, int]:  # noqa: ARG002 - `Draws`
        """Return 1."""
        return 1, 1

    def reveal(self) -> bytes:
        """Return no seed of any match."""
        return bytes(SEED_SIZE)
