"""Laws that hold for any match, whatever is sent, at any moment of it.

Each example is a random walk through a match of some rule set, from its start or from a board that
was dealt out in some round; hypothesis chooses the walk by one number and shrinks to its shortest.
"""

import json
from dataclasses import replace
from typing import Final

from hypothesis import given, settings
from hypothesis import strategies as st

from libs.rules import commands as c
from libs.rules import events as e
from libs.rules import phases
from libs.rules.clocks import decision_deadlines, next_deadline
from libs.rules.decide import decide
from libs.rules.evolve import apply, evolve
from libs.rules.explain import explain, sentence, why_not
from libs.rules.ledger import transfers
from libs.rules.legal import Choice, JackpotBounds, SeedBounds, TradeBounds, legal_commands
from libs.rules.match import Match
from libs.rules.refusals import Refusal
from libs.rules.state import describe
from tests.architecture.rule_ids import SPECIFIED
from tests.support.builders import MATCH_ID, everything
from tests.support.invariants import assert_sound
from tests.support.strategies import bounded, commands, offers_within, short, walks
from tests.support.walks import Walk


def cash_after(match: Match, event: e.Event) -> list[int]:
    """Return what everybody should have after *event*, by the ledger alone."""
    if isinstance(event, e.MatchCreated):
        return [0] * len(event.seats)
    cash = match.cash[:]
    for payer, payee, amount in transfers(match, event):
        assert amount > 0
        assert payer != payee
        if payer != e.BANK:
            cash[payer] -= amount
        if payee != e.BANK:
            cash[payee] += amount
    return cash


@bounded
@given(walks(250))
def test_money_is_conserved(walk: Walk) -> None:
    """What a seat gains is another's loss or the bank's, and only the named events move cash."""
    match = Match()
    for event in walk.events:
        expected = cash_after(match, event)
        evolve(match, event)

        assert match.cash == expected, event


@bounded
@given(walks(250))
def test_every_property_has_one_owner_and_every_count_is_right(walk: Walk) -> None:
    match = Match()
    for step in walk.steps:
        apply(match, step.events)

        assert_sound(match)


@bounded
@given(walks(250), st.data())
def test_what_is_listed_is_accepted(walk: Walk, data: st.DataObject) -> None:
    match = walk.match
    for seat in range(len(match.specs)):
        for entry in legal_commands(match, seat):
            command = _instance(match, entry, data)
            if command is not None:
                assert legal_commands(match, seat).allows(command)
                assert not isinstance(decide(match, command, walk.draws, walk.now), Refusal)


def _instance(
    match: Match,
    entry: Choice | JackpotBounds | SeedBounds | TradeBounds,
    data: st.DataObject,
) -> c.SeatCommand | None:
    """Return a command that a listed entry stands for."""
    if isinstance(entry, Choice):
        return entry.command
    if isinstance(entry, JackpotBounds):
        faces = st.integers(1, entry.faces)
        chosen = data.draw(st.lists(faces, min_size=1, max_size=entry.most, unique=True))
        return c.BetJackpot(entry.seat, tuple(chosen))
    if isinstance(entry, SeedBounds):
        sizes = st.one_of(st.just(0), st.integers(entry.least, entry.most))
        return c.ContributeSeed(entry.seat, bytes(data.draw(sizes)))
    return data.draw(offers_within(match, entry))


@bounded
@given(walks(250))
def test_what_a_listed_choice_costs_is_what_it_takes(walk: Walk) -> None:
    """The cost is of the act itself: what a further move brings or takes is not in it."""
    match = walk.match
    for seat in range(len(match.specs)):
        for entry in legal_commands(match, seat):
            if not isinstance(entry, Choice) or isinstance(entry.command, c.Bid):
                continue
            decision = decide(match, entry.command, walk.draws, walk.now)
            assert not isinstance(decision, Refusal)
            closes = isinstance(decision[0], e.TradeClosed)
            moved = [t for t in transfers(match, decision[0]) if seat in (t.payer, t.payee)]
            taken = sum(t.amount if t.payer == seat else -t.amount for t in moved)

            assert closes or isinstance(entry.command, _LOSING) or taken == entry.cost, entry


_LOSING: Final = (c.DeclareBankruptcy, c.Surrender)
"""Acts that take everything, whatever they cost."""


@settings(bounded, max_examples=200)
@given(walks(250), st.data())
def test_a_command_is_accepted_if_and_only_if_it_is_listed(walk: Walk, data: st.DataObject) -> None:
    command = data.draw(commands(walk.match))

    decision = decide(walk.match, command, walk.draws, walk.now)

    is_listed = legal_commands(walk.match, command.seat).allows(command)
    assert is_listed == (not isinstance(decision, Refusal)), decision


@bounded
@given(walks(100), st.data())
def test_a_refused_command_changes_nothing(walk: Walk, data: st.DataObject) -> None:
    before = everything(walk.match)
    command = data.draw(commands(walk.match))

    decision = walk.send(command)

    if isinstance(decision, Refusal):
        assert everything(walk.match) == before
        assert decision.rule in SPECIFIED
        assert sentence(decision)
        assert why_not(walk.match, command, walk.now) == decision


@settings(bounded, max_examples=100)
@given(walks(100), st.data())
def test_deciding_is_pure(walk: Walk, data: st.DataObject) -> None:
    before = everything(walk.match)
    command = data.draw(commands(walk.match))

    decisions = [decide(walk.match, command, walk.draws, walk.now) for _ in range(2)]

    assert decisions[0] == decisions[1]
    assert everything(walk.match) == before
    assert walk.send(command) == decisions[0], "and `play` decides alike"


@bounded
@given(walks(250))
def test_somebody_can_always_do_something(walk: Walk) -> None:
    """A pending decision has an answer; a debtor without one can raise cash; a clock runs."""
    match = walk.match
    if match.phase == phases.ENDED:
        return
    assert decision_deadlines(match)
    for seat in match.pending_seats():
        legal = legal_commands(match, seat)

        assert legal.answers() or legal.sales() or legal.mortgages()


@bounded
@given(walks(250))
def test_a_seat_has_answers_if_and_only_if_it_is_asked_and_they_come_first(walk: Walk) -> None:
    match = walk.match
    asked = match.pending_seats() if match.frozen_at < 0 else []
    for seat in range(len(match.specs)):
        legal = legal_commands(match, seat)
        first = list(legal)[: legal.answer_count]

        assert bool(first) == (seat in asked)
        assert len(first) == legal.answer_count
        if first and match.phase != phases.SEEDING:
            assert first == (legal.answers() or [*legal.sales(), *legal.mortgages()])


@bounded
@given(walks(250))
def test_every_event_and_every_state_can_be_put_into_words(walk: Walk) -> None:
    match = Match()
    for event in walk.events:
        explanation = explain(match, event)
        evolve(match, event)

        assert explanation.rules
        assert set(explanation.rules) <= set(SPECIFIED)
    assert json.dumps(describe(match, walk.now))


@bounded
@given(walks(100))
def test_who_is_out_never_acts(walk: Walk) -> None:
    match = Match()
    for step in walk.steps:
        if step.command is not None and not isinstance(step.command, _OF_NO_SEAT):
            assert not match.out[step.command.seat]
        apply(match, step.events)


_OF_NO_SEAT: Final = (
    c.CreateMatch,
    c.FireDeadline,
    c.ExtendDeadlines,
    c.Freeze,
    c.Resume,
    c.Abort,
)


@bounded
@given(walks(100))
def test_draws_take_block_after_block_without_a_gap(walk: Walk) -> None:
    """FAIR-1."""
    drawn = [
        event
        for event in walk.events
        if isinstance(event, e.MatchStarted | e.DiceRolled | e.JackpotRolled)
    ]
    following = 0
    for event in drawn:
        assert event.counter == following
        following = event.counter + event.blocks

    assert walk.match.next_counter == following


@short
@given(walks(60))
def test_a_match_whose_clocks_alone_run_ends_within_two_missed_turns_or_three(walk: Walk) -> None:
    """CLOCK-3: nobody acts any more, so that all but one are surrendered."""
    started_in = walk.match.round
    while not walk.is_over:
        walk.let_time_out()

    assert walk.match.round <= started_in + walk.match.rules.missed_turns_limit
    assert walk.match.round <= walk.match.rules.round_cap


@short
@given(walks(40), st.integers(2, 6))
def test_a_match_ends_within_its_round_cap_whatever_is_sent(walk: Walk, rounds: int) -> None:
    """END-2: with a cap close by, since no rule set has one that is soon reached."""
    if walk.is_over:
        return
    cap = walk.match.round + rounds
    walk.match.rules = replace(walk.match.rules, round_cap=cap)
    walk.go(20_000)

    assert walk.is_over
    assert walk.match.round <= cap
    assert walk.match.winners


@settings(bounded, max_examples=12)
@given(st.data(), walks(200))
def test_a_match_survives_whatever_is_sent(data: st.DataObject, walk: Walk) -> None:
    """Sound after every command, be it accepted or refused."""
    for _ in range(20):
        command = data.draw(commands(walk.match))
        walk.now += data.draw(st.integers(0, 5_000))
        deadline = next_deadline(walk.match)
        if deadline is not None and deadline.due <= walk.now:
            walk.let_time_out()
        walk.send(command)

        assert_sound(walk.match)
        assert walk.match.match_id == MATCH_ID
