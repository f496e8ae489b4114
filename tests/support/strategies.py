"""Matches in mid-game and commands for them, for hypothesis."""

from collections.abc import Callable
from typing import Final, get_args

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from libs.rules import commands as c
from libs.rules import events as e
from libs.rules.legal import Choice, TradeBounds, TradePartner, legal_commands
from libs.rules.match import Match
from libs.rules.rule_sets import rule_set
from libs.rules.trading import value_of
from tests.support.builders import RULE_SETS
from tests.support.walks import Walk

# Repeatable on purpose: a check that fails now and then is mended now and then.
bounded: Final = settings(
    max_examples=120, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
"""How much a property of one walk is tried."""
short: Final = settings(bounded, max_examples=40)
"""How much one is tried that takes longer."""

ROUNDS: Final = (1, 6, 39, 60, 99, 150, 200, 295, 495)
"""Rounds from which a dealt match goes on: before and in the third die, the tax, the last round."""


@st.composite
def walks(draw: st.DrawFn, steps: int = 120, *, are_dealt: bool | None = None) -> Walk:
    """Return a match of any rule set after some random steps, dealt out at first or not."""
    rules = rule_set(draw(st.sampled_from(RULE_SETS)))
    seats = draw(st.sampled_from(rules.seats))
    walk = Walk(rules.rule_set_id, seats, draw(st.integers(0, 2**32 - 1)))
    if draw(st.booleans()) if are_dealt is None else are_dealt:
        walk.deal(min(draw(st.sampled_from(ROUNDS)), rules.round_cap))
    return walk.go(draw(st.integers(0, steps)))


def seats_of(match: Match) -> st.SearchStrategy[int]:
    """Return a seat of the match, or now and then one that it does not have."""
    return st.one_of(
        st.integers(0, len(match.specs) - 1),
        st.integers(0, len(match.specs) - 1),
        st.sampled_from((-1, len(match.specs))),
    )


SQUARES: Final = st.one_of(
    st.integers(0, 39), st.sampled_from((1, 3, 5, 6, 8, 9, 12, 37, 39)), st.sampled_from((-1, 40))
)


@st.composite
def commands(draw: st.DrawFn, match: Match) -> c.SeatCommand:
    """Return any command of any seat: one that is listed, or one that may make no sense at all."""
    seat = draw(seats_of(match))
    listed = [entry.command for entry in legal_commands(match, seat) if isinstance(entry, Choice)]
    is_listed: bool = draw(st.booleans())
    if listed and is_listed:
        return draw(st.sampled_from(listed))
    return draw(any_command(match, seat))


PLAIN: Final[tuple[Callable[[int], c.SeatCommand], ...]] = (
    c.Roll,
    c.Buy,
    c.Decline,
    c.Bid,
    c.Pass,
    c.Pay,
    c.DeclareBankruptcy,
    c.PayBail,
    c.StayInJail,
    c.DeclineJackpot,
    c.Surrender,
)
OF_SQUARES: Final[tuple[Callable[[int, int], c.SeatCommand], ...]] = (
    c.Build,
    c.SellLevel,
    c.Mortgage,
    c.Redeem,
    c.ChooseTeleport,
)
OF_OFFERS: Final[tuple[Callable[[int, int], c.SeatCommand], ...]] = (
    c.AcceptTrade,
    c.RejectTrade,
    c.WithdrawTrade,
)
OTHERS: Final = (c.ChooseBusMove, c.BetJackpot, c.ContributeSeed, c.OfferTrade)
"""Commands with fields of their own kind, each with its line in `any_command`."""

_DRAWN: Final = (*PLAIN, *OF_SQUARES, *OF_OFFERS, *OTHERS)
_FORGOTTEN: Final = [kind.__name__ for kind in get_args(c.SeatCommand) if kind not in _DRAWN]
assert not _FORGOTTEN, f"no property would ever draw these commands: {_FORGOTTEN}"


def any_command(match: Match, seat: int) -> st.SearchStrategy[c.SeatCommand]:
    """Return any command of a seat, whatever the match is."""
    offers = st.integers(0, match.offer_count + 1)
    numbers = st.lists(st.integers(0, 7), max_size=4).map(tuple)
    seeds = st.sampled_from((0, 1, 15, 16, 32, 33)).map(bytes)
    return st.one_of(
        *(st.builds(kind, st.just(seat)) for kind in PLAIN),
        *(st.builds(kind, st.just(seat), SQUARES) for kind in OF_SQUARES),
        *(st.builds(kind, st.just(seat), offers) for kind in OF_OFFERS),
        st.builds(c.ChooseBusMove, st.just(seat), st.integers(0, 13)),
        st.builds(c.BetJackpot, st.just(seat), numbers),
        st.builds(c.ContributeSeed, st.just(seat), seeds),
        any_offer(match, seat),
        any_offer(match, seat),
    )


@st.composite
def any_offer(draw: st.DrawFn, match: Match, seat: int) -> c.OfferTrade:
    """Return an offer that may be wrong in any way, or in none."""
    to = draw(seats_of(match))
    return c.OfferTrade(seat, to, draw(_side(match, seat)), draw(_side(match, to)))


@st.composite
def _side(draw: st.DrawFn, match: Match, seat: int) -> e.Side:
    owned = match.properties_of(seat) if match.has_seat(seat) else ()
    squares = st.one_of(st.sampled_from(owned), SQUARES) if owned else SQUARES
    cash = draw(st.one_of(st.just(0), st.just(0), st.integers(-1, 16_000)))
    return e.Side(cash, tuple(draw(st.lists(squares, max_size=3))))


@st.composite
def offers_within(draw: st.DrawFn, match: Match, bounds: TradeBounds) -> c.OfferTrade | None:
    """Return an offer within the listed bounds, None where what was drawn cannot be evened out."""
    partner = draw(st.sampled_from(bounds.partners))
    give = e.Side(0, draw(_some(bounds.squares)))
    take = e.Side(0, draw(_some(partner.squares)))
    give_cash, take_cash = draw(_even_out(match, bounds, partner, give, take))
    give, take = e.Side(give_cash, give.squares), e.Side(take_cash, take.squares)
    worths = sorted((value_of(match, give), value_of(match, take)))
    is_fair = worths[0] * 100 >= worths[1] * bounds.fair_share_percent and worths[0] > 0
    if is_fair or (partner.is_ally and worths[1] > 0):
        return c.OfferTrade(bounds.seat, partner.seat, give, take)
    return None


def _some(squares: tuple[int, ...]) -> st.SearchStrategy[tuple[int, ...]]:
    if not squares:
        return st.just(())
    return st.lists(st.sampled_from(squares), max_size=4, unique=True).map(tuple)


def _even_out(
    match: Match, bounds: TradeBounds, partner: TradePartner, give: e.Side, take: e.Side
) -> st.SearchStrategy[tuple[int, int]]:
    """Return cash on one side, between what just makes the trade fair and all there is."""
    lack = value_of(match, take) - value_of(match, give)
    gifts = st.integers(min(max(0, lack // 2), bounds.cash), bounds.cash)
    claims = st.integers(min(max(0, -lack // 2), partner.cash), partner.cash)
    return st.one_of(
        st.just((0, 0)),
        gifts.map(lambda cash: (cash, 0)),
        claims.map(lambda cash: (0, cash)),
    )
