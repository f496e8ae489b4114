"""The match that a scenario's set-up describes, with its turn's roll pending."""

from typing import Final

from libs.kernel.chance import commitment
from libs.kernel.ids import MatchId
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules.board import JAIL
from libs.rules.decide import play
from libs.rules.match import Match
from libs.rules.refusals import Refusal
from libs.rules.rule_sets import RULE_SETS
from libs.rules.snapshot import recount
from libs.scenarios.draws import SEED, ScriptedDraws
from libs.scenarios.legality import check
from libs.scenarios.reading import MalformedError
from libs.scenarios.scenario import Scenario, SeatSetup, Setup

MATCH_ID: Final = MatchId("00000000-0000-7000-8000-000000000000")
"""Every scenario's match has the same id: nothing depends on it."""

START_MS: Final = 0
"""When a scenario begins."""


def set_up(scenario: Scenario, draws: ScriptedDraws) -> Match:
    """Make the match of *scenario*, its clock just started.

    It is born and started by the rules themselves. What the set-up tells beyond that is no story
    of events but a picture, so it is written over the start, once it has been checked.

    Raises:
        MalformedError: no match could stand so; the error says why.

    """
    rules = RULE_SETS.get(scenario.rule_set)
    if rules is None:
        known = ", ".join(RULE_SETS)
        raise MalformedError("rule_set", f'"{scenario.rule_set}" is unknown; known are {known}')
    check(rules, scenario.seats, scenario.setup)
    match = _born(scenario, draws)
    _place_seats(match, scenario.setup)
    _place_properties(match, scenario.setup)
    _place_turn(match, scenario.setup)
    recount(match)
    return match


def _born(scenario: Scenario, draws: ScriptedDraws) -> Match:
    """Create a table of bots: it starts at once, since nobody has a seed to give."""
    match = Match()
    specs = tuple(
        e.SeatSpec(e.BOT, cards=tuple(scenario.setup.cards.get(seat, {}).items()))
        for seat in range(scenario.seats)
    )
    create = c.CreateMatch(MATCH_ID, scenario.rule_set, specs, commitment(MATCH_ID, SEED))
    decision = play(match, create, draws, START_MS)
    assert not isinstance(decision, Refusal), decision
    return match


def _place_seats(match: Match, setup: Setup) -> None:
    for seat, given in enumerate(setup.seats):
        _place_seat(match, seat, given)
    # Several that are out went out in the order of their numbers.
    match.out_order = [seat for seat, is_out in enumerate(match.out) if is_out]


def _place_seat(match: Match, seat: int, given: SeatSetup) -> None:
    if given.cash is not None:
        match.cash[seat] = given.cash
    elif given.out:
        match.cash[seat] = 0
    if given.square is not None:
        match.square[seat] = given.square
    elif given.in_jail:
        match.square[seat] = JAIL
    match.in_jail[seat] = given.in_jail
    match.jail_attempts[seat] = given.jail_attempts
    match.missed_turns[seat] = given.missed_turns
    match.out[seat] = given.out


def _place_properties(match: Match, setup: Setup) -> None:
    for square, given in setup.properties.items():
        match.owner[square] = e.NOBODY if given.owner is None else given.owner
        match.level[square] = given.level
        match.built[square] = given.built_this_turn
        if given.mortgaged:
            match.mortgaged_round[square] = given.mortgaged_round or setup.round


def _place_turn(match: Match, setup: Setup) -> None:
    match.round = setup.round
    match.next_card = setup.next_card
    match.doubles = setup.doubles_in_turn
    match.rolls_again = setup.doubles_in_turn > 0
    match.jump_pending = setup.jump_pending
