"""What a seat is asked is what the match waits for, and every answer is one that is accepted."""

import pytest

from libs.client import Reply, Turn
from libs.rules import commands as c
from libs.rules import phases
from libs.rules.clocks import decision_deadlines
from libs.rules.rule_sets import RULE_SETS
from tests.support.walks import Walk

ROUNDS = (7, 60, 120, 200, 290)


async def nobody_is_asked(command: c.SeatCommand, *, expected_sequence: int) -> Reply:
    raise AssertionError(command, expected_sequence)


def turns(walk: Walk) -> list[Turn]:
    return [Turn(walk.match, seat, nobody_is_asked) for seat in range(walk.seats)]


@pytest.mark.parametrize("rule_set", RULE_SETS)
def test_who_has_to_decide_has_an_answer_and_every_answer_is_legal(rule_set: str) -> None:
    given: set[type[c.SeatCommand]] = set()
    for seed, in_round in enumerate(ROUNDS):
        walk = Walk(rule_set, seats=4, seed=seed).deal(in_round)
        while not walk.is_over and len(walk.steps) < 80:
            asked = {deadline.seat for deadline in decision_deadlines(walk.match)}
            asked |= {debt.debtor for debt in walk.match.debts}
            for turn in turns(walk):
                answers = [choice.command for choice in turn.answers]
                assert answers or turn.seat not in asked
                assert all(turn.legal.allows(command) for command in answers)
                given.update(command.__class__ for command in answers)
            walk.step()

    # In debts that cash covers, in others, and out of debt.
    assert {c.Roll, c.Buy, c.Bid, c.Pay, c.Mortgage} <= given


@pytest.mark.parametrize("seats", [2, 4])
def test_a_bot_that_gives_the_first_answer_always_gets_on(seats: int) -> None:
    walk = Walk("opolyx.speed@2", seats=seats, seed=1)
    while not walk.is_over and len(walk.steps) < 400:
        turn = next((turn for turn in turns(walk) if turn.answers), None)
        if turn is None:
            walk.let_time_out()
        else:
            walk.send(turn.answers[0].command)

    assert walk.match.round > 5


def test_nobody_is_asked_before_the_start_nor_after_the_end() -> None:
    waiting = Walk("opolyx.classic@2", seats=2, seed=1, has_people=True)
    over = Walk("opolyx.classic@2", seats=2, seed=1)
    over.send(c.Surrender(0))

    assert (waiting.match.phase, over.match.phase) == (phases.SEEDING, phases.ENDED)
    assert [turn.answers for turn in (*turns(waiting), *turns(over))] == [[], [], [], []]


def test_an_offer_is_answered_by_who_got_it_and_not_by_who_made_it() -> None:
    walk = next(
        walk
        for seed in range(50)
        if (walk := offered(seed)) is not None and walk.match.phase == phases.ROLL
    )
    offer = walk.match.offers[0]
    by_seat = [[choice.command for choice in turn.answers] for turn in turns(walk)]

    assert c.AcceptTrade(offer.receiver, offer.offer) in by_seat[offer.receiver]
    assert c.RejectTrade(offer.receiver, offer.offer) in by_seat[offer.receiver]
    assert c.WithdrawTrade(offer.proposer, offer.offer) not in by_seat[offer.proposer]


def offered(seed: int) -> Walk | None:
    """Return a match in which an offer is open."""
    walk = Walk("opolyx.classic@2", seats=3, seed=seed).deal(7)
    while not walk.is_over and len(walk.steps) < 60:
        if walk.match.offers:
            return walk
        walk.step()
    return None
