"""Laws of a match's state: it is what its events make of it, and nobody sees more than the table.

The walks are those of `test_properties`.
"""

import json
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from libs.rules import commands as c
from libs.rules import events as e
from libs.rules.clocks import open_deadlines
from libs.rules.evolve import apply, evolve, replay
from libs.rules.legal import legal_commands
from libs.rules.match import Match
from libs.rules.snapshot import dump, load, state_hash
from libs.rules.state import describe
from libs.rules.views import View, view
from tests.support.builders import everything
from tests.support.strategies import bounded, short, walks
from tests.support.walks import Walk


@bounded
@given(walks(250))
def test_replaying_the_events_gives_the_live_state_at_every_prefix(walk: Walk) -> None:
    """After each record of the match, and from nothing to the middle of any record."""
    live = Walk(walk.rule_set, walk.seats, walk.seed)
    replayed = Match()
    for step in walk.steps:
        if step.command is None:
            apply(live.match, step.events)
        elif not isinstance(step.command, c.CreateMatch):
            live.now = step.at_ms
            assert live.send(step.command) == step.events
        for event in step.events:
            evolve(replayed, event)

        assert everything(replayed) == everything(live.match)
        assert replayed.sequence == live.match.sequence


@short
@given(walks(60), st.integers(0, 10_000))
def test_any_prefix_can_be_replayed_from_nothing(walk: Walk, length: int) -> None:
    prefix = walk.events[: length % (len(walk.events) + 1)]
    folded = Match()
    for event in prefix:
        evolve(folded, event)

    assert everything(replay(prefix)) == everything(folded)
    assert folded.sequence == len(prefix)


@short
@given(walks(120))
def test_a_loaded_snapshot_goes_on_as_the_match_would_have(walk: Walk) -> None:
    loaded = load(json.loads(json.dumps(dump(walk.match))))

    assert everything(loaded) == everything(walk.match)
    assert state_hash(loaded) == state_hash(walk.match)
    for seat in range(len(walk.match.specs)):
        assert list(legal_commands(loaded, seat)) == list(legal_commands(walk.match, seat))


@bounded
@given(walks(250))
def test_views_do_not_depend_on_secrets(walk: Walk) -> None:
    """The same match of another seed, drawn from other blocks, looks the same to everybody."""
    other = replay([_with_other_secrets(event) for event in walk.events])

    for viewer in (None, *range(len(walk.match.specs))):
        assert _seen(other, viewer) == _seen(walk.match, viewer)
    assert describe(other, walk.now) == describe(walk.match, walk.now)


@bounded
@given(walks(150))
def test_a_view_that_is_kept_always_shows_the_match_as_it_is(walk: Walk) -> None:
    """A bot opens one window and legal listing, and keeps them for the whole match."""
    match = Match()
    apply(match, walk.steps[0].events[:1])
    kept = [view(match, viewer) for viewer in (0, None)]
    listing = legal_commands(match, 0)
    for step in walk.steps:
        apply(match, step.events[1:] if step is walk.steps[0] else step.events)

    for window, viewer in zip(kept, (0, None), strict=True):
        assert _read(window) == _read(view(match, viewer))
    assert list(listing) == list(legal_commands(match, 0))


def _with_other_secrets(event: e.Event) -> e.Event:
    if isinstance(event, e.MatchCreated):
        return replace(event, commitment=bytes(32))
    if isinstance(event, e.SeedContributed):
        return replace(event, client_seed=bytes(16))
    if isinstance(event, e.MatchStarted | e.DiceRolled | e.JackpotRolled):
        return replace(event, counter=event.counter + 1_000, blocks=event.blocks + 1)
    return event


def _seen(match: Match, viewer: int | None) -> dict[str, object]:
    """Return everything that a viewer can read, and what it may do."""
    seen = _read(view(match, viewer))
    if viewer is not None:
        seen["legal"] = list(legal_commands(match, viewer))
    return seen


def _read(window: View) -> dict[str, object]:
    """Return everything that a window shows."""
    names = [name for name in dir(window) if not name.startswith("_")]
    seen = {name: getattr(window, name) for name in names}
    return {name: value for name, value in seen.items() if not callable(value)}


@bounded
@given(walks(100), st.integers(0, 10**7))
def test_an_outage_moves_deadlines_and_nothing_else(walk: Walk, by_ms: int) -> None:
    if walk.is_over:
        return
    before = everything(_without_clocks(walk.match))
    dues = [deadline.due for deadline in open_deadlines(walk.match)]
    public = describe(walk.match, walk.now)

    walk.send(c.ExtendDeadlines(by_ms, 1))

    assert [deadline.due for deadline in open_deadlines(walk.match)] == [d + by_ms for d in dues]
    assert everything(_without_clocks(walk.match)) == before
    assert describe(walk.match, walk.now + by_ms) == public


@bounded
@given(walks(100), st.integers(0, 10**7))
def test_a_freeze_moves_deadlines_and_nothing_else(walk: Walk, pause_ms: int) -> None:
    if walk.is_over:
        return
    before = everything(_without_clocks(walk.match))
    public = describe(walk.match, walk.now)
    walk.send(c.Freeze("a report", "operator:1"))
    walk.now += pause_ms

    assert describe(walk.match, walk.now) == public
    walk.send(c.Resume("all well", "operator:1"))
    assert everything(_without_clocks(walk.match)) == before
    assert describe(walk.match, walk.now) == public


def _without_clocks(match: Match) -> Match:
    """Return a copy in which no deadline has a time, and nothing has happened since."""
    copied = match.copy()
    copied.sequence = 0
    if copied.deadline is not None:
        copied.deadline = replace(copied.deadline, due=0)
    for debt in copied.debts:
        debt.due = 0
    for offer in copied.offers:
        offer.due = 0
    return copied
