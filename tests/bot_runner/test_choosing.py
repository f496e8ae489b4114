"""What a bot does, and what is done for one that cannot say."""

from collections.abc import Callable, Iterator
from types import MappingProxyType

import pytest

from libs.bots.strengths import STRENGTHS, Strategy
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules import phases
from libs.rules.legal import LegalCommands
from libs.rules.match import Match
from libs.rules.views import View
from services.bot_runner import choosing
from services.bot_runner.choosing import Chosen, Hand
from tests.support.gateway import LiveMatch


def hand_of(match: Match, seat: int, strength: str = "steady", **options: float) -> Hand:
    return Hand(match, seat, strength, limit_ms=options.get("limit_ms", 60_000))


def decider(match: Match) -> int:
    return match.debts[0].debtor if match.deadline is None else match.deadline.seat


def moments(rule_set: str) -> Iterator[LiveMatch]:
    """Play a match of bots, and stop at each decision."""
    live = LiveMatch.of_bots("shark", "novice", "steady", "shark", rule_set=rule_set)
    while not live.has_ended:
        yield live
        command = hand_of(live.match, decider(live.match), "shark").choose().command
        if command is None:
            live.fire()
        else:
            live.play(command, "seat:0")


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Callable[[Strategy], None]:
    """Have the strategy that is given play as `steady`."""

    def put(strategy: Strategy) -> None:
        changed = MappingProxyType({**STRENGTHS, "steady": strategy})
        monkeypatch.setattr(choosing, "STRENGTHS", changed)

    return put


def fails(_: View, __: LegalCommands) -> c.SeatCommand | None:
    raise LookupError


def test_a_bot_is_asked_as_it_stands_and_its_choice_is_taken() -> None:
    live = LiveMatch.of_bots("steady", "steady")

    assert hand_of(live.match, live.match.turn).choose() == Chosen(c.Roll(live.match.turn))
    assert hand_of(live.match, 1 - live.match.turn).choose() == Chosen(None)


def test_a_bot_of_a_newer_release_plays_all_the_same() -> None:
    live = LiveMatch.of_bots("steady", "steady")

    assert hand_of(live.match, live.match.turn, "genius").choose().command is not None


def test_a_bot_within_its_time_is_not_slow() -> None:
    live = LiveMatch.of_bots("steady", "steady")
    times = iter([1.0, 1.1])
    hand = Hand(
        live.match, live.match.turn, "steady", limit_ms=100.5, monotonic_s=lambda: next(times)
    )

    assert not hand.choose().is_default


def test_a_bot_beyond_its_time_is() -> None:
    live = LiveMatch.of_bots("steady", "steady")
    times = iter([1.0, 1.1])
    hand = Hand(
        live.match, live.match.turn, "steady", limit_ms=99.5, monotonic_s=lambda: next(times)
    )

    assert hand.choose() == Chosen(c.Roll(live.match.turn), is_default=True)


@pytest.mark.slow
@pytest.mark.parametrize("rule_set", ["opolyx.classic@2", "opolyx.speed@2", "opolyx.teams@2"])
def test_the_safe_move_is_legal_costs_least_and_is_nothing_only_in_debt(rule_set: str) -> None:
    seen: dict[str, type[c.Command]] = {}
    for live in moments(rule_set):
        match = live.match
        seat = decider(match)

        chosen = hand_of(match, seat, limit_ms=-1).choose()

        assert chosen.is_default
        if chosen.command is None:
            assert match.phase == phases.DEBT
        else:
            assert LegalCommands(match, seat).allows(chosen.command)
            seen[match.phase] = type(chosen.command)
    assert seen[phases.ROLL] is c.Roll
    assert seen[phases.BUY] is c.Decline
    assert seen[phases.AUCTION] is c.Pass
    assert seen[phases.DEBT] in (c.Pay, c.DeclareBankruptcy)
    assert seen.get(phases.BAIL, c.StayInJail) is c.StayInJail
    assert seen.get(phases.JACKPOT, c.DeclineJackpot) is c.DeclineJackpot


@pytest.mark.slow
def test_an_offer_to_a_bot_that_fails_is_turned_down(use: Callable[[Strategy], None]) -> None:
    for live in moments("opolyx.classic@2"):
        match = live.match
        offer = next(iter(match.offers), None)
        if offer is None or offer.receiver == decider(match) or match.phase == phases.AUCTION:
            continue
        use(fails)

        chosen = hand_of(match, offer.receiver).choose()

        assert chosen == Chosen(c.RejectTrade(offer.receiver, offer.offer), is_default=True)
        return
    raise AssertionError("nobody offered anything")


def test_who_has_nothing_to_decide_gets_no_move(use: Callable[[Strategy], None]) -> None:
    use(fails)
    live = LiveMatch.of_bots("steady", "steady")

    assert hand_of(live.match, 1 - live.match.turn).choose() == Chosen(None, is_default=True)
    assert e.NOBODY not in live.match.acting
