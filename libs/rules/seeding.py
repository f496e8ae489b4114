"""Birth of a match: who sits where, client seeds, the first seat (SETUP-1 to SETUP-4, FAIR-1)."""

from typing import Final

from libs.kernel.chance import CLIENT_SEED_SIZE_MAX, CLIENT_SEED_SIZE_MIN
from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules import phases
from libs.rules.cards import RARITIES
from libs.rules.refusals import Refusal
from libs.rules.rule_sets import RULE_SETS, RuleSet, team_of
from libs.rules.ruling import Ruling
from libs.rules.turns import begin_first

COMMITMENT_SIZE: Final = 32


def create(ruling: Ruling, command: c.CreateMatch) -> Refusal | None:
    """Make a match and wait for its people's seeds; without people it starts at once."""
    match = ruling.match
    if match.phase != phases.UNBORN:
        return Refusal(Reason.MATCH_EXISTS, "SETUP-1", {"match_id": match.match_id})
    rules = RULE_SETS.get(command.rule_set)
    if rules is None:
        return Refusal(Reason.INVALID_REQUEST, "SETUP-1", {"rule_set": command.rule_set})
    refusal = _refuse_table(rules, command)
    if refusal is not None:
        return refusal
    ruling.add(
        e.MatchCreated(
            command.match_id,
            command.rule_set,
            rules.board_id,
            tuple(_with_best_cards(spec) for spec in command.seats),
            command.commitment,
        )
    )
    if match.pending_seats():
        ruling.await_seeds()
    else:
        start(ruling)
    return None


def contribute(ruling: Ruling, command: c.ContributeSeed) -> Refusal | None:
    """Take a person's client seed, once, while the match has not started (FAIR-1)."""
    match, seat, seed = ruling.match, command.seat, command.client_seed
    if match.phase != phases.SEEDING or match.client_seeds[seat] is not None:
        return Refusal(Reason.SEED_TOO_LATE, "FAIR-1", {"phase": match.phase})
    if seed and not CLIENT_SEED_SIZE_MIN <= len(seed) <= CLIENT_SEED_SIZE_MAX:
        return Refusal(Reason.SEED_INVALID, "FAIR-1", {"size": len(seed)})
    ruling.add(e.SeedContributed(seat, seed))
    if not match.pending_seats():
        start(ruling)
    return None


def start(ruling: Ruling) -> None:
    """Fix the key, draw the first seat and begin; collection cards count from here (RENT-6)."""
    match = ruling.match
    seats = len(match.specs)
    ruling.draws.bind(match.client_seeds)
    counter = match.next_counter
    first_seat, blocks = ruling.draws.first(counter, seats)
    rules = match.rules
    ruling.add(
        e.MatchStarted(
            first_seat,
            counter,
            blocks,
            rules.starting_cash,
            tuple(team_of(seat) for seat in range(seats)) if rules.teams else (),
            tuple(spec.cards if rules.cards_raise_rent else () for spec in match.specs),
        )
    )
    begin_first(ruling, first_seat)


def _refuse_table(rules: RuleSet, command: c.CreateMatch) -> Refusal | None:
    if len(command.seats) not in rules.seats:
        return Refusal(Reason.INVALID_REQUEST, "SETUP-1", {"seats": len(command.seats)})
    if len(command.commitment) != COMMITMENT_SIZE:
        size = len(command.commitment)
        return Refusal(Reason.INVALID_REQUEST, "FAIR-1", {"commitment_size": size})
    for seat, spec in enumerate(command.seats):
        if not _is_sound(rules, spec):
            return Refusal(Reason.INVALID_REQUEST, "SETUP-1", {"seat": seat})
    return None


def _is_sound(rules: RuleSet, spec: e.SeatSpec) -> bool:
    return spec.kind in (e.PERSON, e.BOT) and all(
        rules.board.is_property(square) and rarity in RARITIES for square, rarity in spec.cards
    )


def _with_best_cards(spec: e.SeatSpec) -> e.SeatSpec:
    """Keep the best card for each square, by square: bonuses never stack (RENT-6)."""
    by_worth = sorted(spec.cards, key=lambda card: (card[0], RARITIES.index(card[1])))
    return e.SeatSpec(spec.kind, spec.player, spec.strength, tuple(dict(by_worth).items()))
