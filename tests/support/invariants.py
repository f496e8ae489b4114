"""What is true of every match at every moment, checked without the rules' own counts.

Independent of the engine on purpose: it reads the plain facts and counts them anew.
"""

from libs.rules import phases
from libs.rules.events import NOBODY
from libs.rules.match import Match

PHASES = (
    phases.ROLL,
    phases.BUY,
    phases.AUCTION,
    phases.DEBT,
    phases.BAIL,
    phases.BUS,
    phases.TELEPORT,
    phases.JACKPOT,
)


def assert_sound(match: Match) -> None:
    """Check a match that has started, or at least been created."""
    _assert_counts(match)
    _assert_seats(match)
    _assert_property(match)
    _assert_pending(match)


def _assert_counts(match: Match) -> None:
    groups = match.board.groups
    for seat, held in enumerate(match.held):
        assert held == [sum(match.owner[sq] == seat for sq in group) for group in groups]
        streets = match.board.street_groups
        whole = tuple(g for g in streets if held[g] == len(groups[g]))
        assert match.whole_groups[seat] == whole
    assert match.group_levels == [sum(match.level[sq] for sq in group) for group in groups]
    assert match.living == match.out.count(False)
    assert match.built_any == any(match.built)
    assert match.mortgage_count == sum(in_round > 0 for in_round in match.mortgaged_round)
    for seat, owned in enumerate(match.owned):
        assert owned == tuple(sq for sq in match.board.properties if match.owner[sq] == seat)
    is_on = match.phase in PHASES and match.frozen_at < 0
    assert match.acting == tuple(match.living_seats() if is_on else ())
    assert sorted(match.out_order) == [seat for seat, is_out in enumerate(match.out) if is_out]


def _assert_seats(match: Match) -> None:
    assert all(cash >= 0 for cash in match.cash), match.cash
    assert all(0 <= square < 40 for square in match.square)
    for seat, is_out in enumerate(match.out):
        if is_out:
            assert match.cash[seat] == 0
            assert seat not in match.owner
            assert not match.in_jail[seat]
            assert match.debt_of(seat) is None
            assert all(seat not in (offer.proposer, offer.receiver) for offer in match.offers)
        if match.in_jail[seat]:
            assert match.square[seat] == 10
            assert match.jail_attempts[seat] <= match.rules.jail_attempts
        else:
            assert match.jail_attempts[seat] == 0


def _assert_property(match: Match) -> None:
    board = match.board
    for square in range(40):
        owner, level = match.owner[square], match.level[square]
        assert 0 <= level <= 5
        if not board.is_property(square) or owner == NOBODY:
            assert (owner, level, match.mortgaged_round[square]) == (NOBODY, 0, 0)
        if level:
            group = board.groups[board.group_of[square]]
            assert all(match.owner[other] == owner for other in group)
            assert not any(match.mortgaged_round[other] for other in group)
            if match.rules.even_building:
                assert max(match.level[other] for other in group) - level <= 1


def _assert_pending(match: Match) -> None:
    """Check that exactly one kind of decision is pending, and of whom."""
    if match.phase in (phases.UNBORN, phases.SEEDING):
        return
    assert (match.auction is not None) == (match.phase == phases.AUCTION)
    assert bool(match.debts) == (match.phase == phases.DEBT)
    if match.phase == phases.ENDED:
        assert not match.offers
        assert not match.jump_pending
        return
    assert match.phase in PHASES
    assert match.living > 1
    pending = match.pending_seats()
    assert pending
    assert len(set(pending)) == len(pending)
    assert not any(match.out[seat] for seat in pending)
    if match.phase == phases.AUCTION:
        assert match.auction is not None
        assert pending == [match.auction.bidder]
    elif match.phase != phases.DEBT:
        assert pending == [match.turn]
        assert match.deadline is not None
        assert match.deadline.kind == match.phase
    assert len({debt.debtor for debt in match.debts}) == len(match.debts)
    by_proposer = [sum(o.proposer == seat for o in match.offers) for seat in range(len(match.out))]
    assert max(by_proposer) <= match.rules.open_offers
