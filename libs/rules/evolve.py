"""How events become state: the fold that play, replay and audit all run.

Each event is dispatched by its class: a look-up in a dict costs a fifth of a `match` statement of
this length, and every event of every match comes through here.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final, get_args

from libs.rules import events as e
from libs.rules.changes import flow, holdings, money, movement
from libs.rules.match import Match


def evolve(match: Match, event: e.Event) -> None:
    """Apply one event to *match*, in place."""
    EVOLVE[type(event)](match, event)
    match.sequence += 1


def apply(match: Match, events: Iterable[e.Event]) -> Match:
    """Apply *events* in order to *match*, in place, and return it."""
    count = 0
    for event in events:
        EVOLVE[type(event)](match, event)
        count += 1
    match.sequence += count
    return match


def replay(events: Iterable[e.Event]) -> Match:
    """Rebuild a match from nothing."""
    return apply(Match(), events)


def _nothing(_: Match, __: e.Event) -> None:
    """For events that tell what is about to be decided, or why the next event comes."""


EVOLVE: Final[dict[type, Callable[[Match, Any], None]]] = {
    **flow.CHANGES,
    **movement.CHANGES,
    **money.CHANGES,
    **holdings.CHANGES,
    e.PropertyOffered: _nothing,
    e.PropertyDeclined: _nothing,
    e.MortgageReminded: _nothing,
    e.BailOffered: _nothing,
    e.BusOffered: _nothing,
    e.BusMoveChosen: _nothing,
    e.TeleportOffered: _nothing,
    e.TeleportChosen: _nothing,
    e.JackpotOffered: _nothing,
    e.JackpotDeclined: _nothing,
    e.SeedRevealed: _nothing,
}
"""What each event does, by its class."""

assert EVOLVE.keys() == set(get_args(e.Event)), "every event changes the match, or says not"
