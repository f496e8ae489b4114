"""How a match ends, and who is placed where (END-1 to END-3)."""

from libs.rules import events as e
from libs.rules.match import Match
from libs.rules.rule_sets import team_of
from libs.rules.ruling import NOTHING, Ruling


def is_decided(match: Match) -> bool:
    """Whether one seat, or in Teams one side, is left (END-1)."""
    if not match.rules.teams:
        return match.living == 1
    return len({team_of(seat) for seat in match.living_seats()}) == 1


def finish(ruling: Ruling, why: str) -> None:
    """End the match and reveal its seed; *why* is last_standing or round_cap."""
    match = ruling.match
    seats = range(len(match.out))
    worths = tuple(match.net_worth(seat) for seat in seats)
    order = _by_standing(match, worths)
    if match.rules.teams:
        team = _winning_team(match, worths)
        winners = tuple(seat for seat in seats if team_of(seat) == team)
        order = sorted(order, key=lambda seat: team_of(seat) != team)
    else:
        winners = (order[0],)
    held = tuple(len(groups) for groups in match.whole_groups)
    ruling.add(e.MatchEnded(winners, tuple(order), worths, held, match.round, why))
    ruling.add(e.SeedRevealed(ruling.draws.reveal()))
    ruling.next = NOTHING


def _by_standing(match: Match, worths: tuple[int, ...]) -> list[int]:
    """Return living seats by net worth, ties to the lower seat, then the last out first."""
    living = sorted(match.living_seats(), key=lambda seat: (-worths[seat], seat))
    return living + match.out_order[::-1]


def _winning_team(match: Match, worths: tuple[int, ...]) -> int:
    """Return the only team left, or the richer one; a tie goes to team 0."""
    living = match.living_seats()
    teams = sorted({team_of(seat) for seat in living})
    return max(teams, key=lambda t: (sum(worths[s] for s in living if team_of(s) == t), -t))
