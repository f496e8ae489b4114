"""How a match is born, goes round and ends, and how its clocks are set."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from libs.rules import events as e
from libs.rules import phases
from libs.rules.match import Match
from libs.rules.rule_sets import rule_set


def _match_created(match: Match, event: e.MatchCreated) -> None:
    seats = len(event.seats)
    match.match_id = event.match_id
    match.rules = rule_set(event.rule_set)
    match.board = match.rules.board
    match.commitment = event.commitment
    match.specs = event.seats
    match.phase = phases.SEEDING
    # Bots have nothing to give: they count as having declined.
    match.client_seeds = [None if spec.kind == e.PERSON else b"" for spec in event.seats]
    match.had_turn[:] = [False] * seats
    match.square[:] = [0] * seats
    match.in_jail[:] = [False] * seats
    match.jail_attempts[:] = [0] * seats
    match.missed_turns[:] = [0] * seats
    match.out[:] = [False] * seats
    match.cash[:] = [0] * seats
    match.living = seats
    match.owned[:] = [()] * seats
    match.whole_groups[:] = [()] * seats
    match.held[:] = [[0] * len(match.board.groups) for _ in range(seats)]
    match.group_levels[:] = [0] * len(match.board.groups)


def _seed_contributed(match: Match, event: e.SeedContributed) -> None:
    match.client_seeds[event.seat] = event.client_seed


def _match_started(match: Match, event: e.MatchStarted) -> None:
    match.next_counter = event.counter + event.blocks
    match.turn = event.first_seat
    match.cash[:] = [event.starting_cash] * len(match.specs)
    match.cards = tuple(dict(cards) for cards in event.cards)
    match.acting = tuple(range(len(match.specs)))
    match.deadline = None


def _round_started(match: Match, event: e.RoundStarted) -> None:
    match.round = event.round
    match.had_turn[:] = [False] * len(match.had_turn)


def _turn_started(match: Match, event: e.TurnStarted) -> None:
    seat = event.seat
    match.turn = seat
    match.turn_number = event.turn
    match.had_turn[seat] = True
    match.timed_out = False


def _turn_missed(match: Match, event: e.TurnMissed) -> None:
    match.missed_turns[event.seat] = event.in_a_row


def _turn_ended(match: Match, event: e.TurnEnded) -> None:
    seat = event.seat
    # CLOCK-3: a turn of one's own without a time-out ends the run of missed turns.
    if not match.timed_out and not match.out[seat]:
        match.missed_turns[seat] = 0
    match.jump_pending = False
    match.rolls_again = False
    match.doubles = 0
    _forget_built(match)


def _forget_built(match: Match) -> None:
    if match.built_any:
        match.built[:] = [0] * len(match.built)
        match.built_any = False


def _deadline_set(match: Match, event: e.DeadlineSet) -> None:
    kind = event.kind
    match.deadline_count = event.number
    if kind == phases.OFFER:
        offer = match.offer(event.scope)
        assert offer is not None
        offer.number = event.number
        return
    match.phase = kind
    if kind == phases.DEBT:
        match.deadline = None
        match.clock_left = event.clock_left
        # The debt has just been opened.
        debt = match.debts[-1]
        debt.number = event.number
        debt.due = event.due
    else:
        match.deadline = event


def _deadline_extended(match: Match, event: e.DeadlineExtended) -> None:
    if event.kind == phases.OFFER:
        offer = match.offer(event.scope)
        assert offer is not None
        offer.due = event.due
    elif event.kind == phases.DEBT:
        debt = next(debt for debt in match.debts if debt.debt == event.scope)
        debt.due = event.due
    else:
        assert match.deadline is not None
        match.deadline = replace(match.deadline, due=event.due)


def _decision_timed_out(match: Match, event: e.DecisionTimedOut) -> None:
    seat, kind = event.seat, event.kind
    if kind == phases.DEBT:
        debt = match.debt_of(seat)
        if debt is not None:
            debt.timed_out = True
    # CLOCK-3: bids are nobody's own turn; a debt of card 6 out of turn is no missed turn.
    if seat == match.turn and kind != phases.AUCTION:
        match.timed_out = True
    if kind == phases.ROLL:
        # CLOCK-2: a timed-out roll ends the turn, without a further roll and without a jump.
        match.rolls_again = False
        match.jump_pending = False


def _match_ended(match: Match, event: e.MatchEnded) -> None:
    _stop(match)
    match.winners = event.winners
    match.placing = event.placing


def _match_aborted(match: Match, _: e.MatchAborted) -> None:
    _stop(match)


def _stop(match: Match) -> None:
    match.phase = phases.ENDED
    match.deadline = None
    match.auction = None
    match.debts.clear()
    match.offers.clear()
    match.jump_pending = False
    match.frozen_at = -1
    match.acting = ()
    _forget_built(match)


def _match_frozen(match: Match, event: e.MatchFrozen) -> None:
    match.frozen_at = event.at_ms
    match.acting = ()


def _match_resumed(match: Match, _: e.MatchResumed) -> None:
    match.frozen_at = -1
    if match.phase != phases.SEEDING:
        match.acting = tuple(match.living_seats())


CHANGES: Final[dict[type, Callable[[Match, Any], None]]] = {
    e.MatchCreated: _match_created,
    e.SeedContributed: _seed_contributed,
    e.MatchStarted: _match_started,
    e.RoundStarted: _round_started,
    e.TurnStarted: _turn_started,
    e.DeadlineSet: _deadline_set,
    e.DeadlineExtended: _deadline_extended,
    e.DecisionTimedOut: _decision_timed_out,
    e.TurnMissed: _turn_missed,
    e.TurnEnded: _turn_ended,
    e.MatchEnded: _match_ended,
    e.MatchAborted: _match_aborted,
    e.MatchFrozen: _match_frozen,
    e.MatchResumed: _match_resumed,
}
