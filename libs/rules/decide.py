"""The rules: which events a command causes, or why it is refused."""

from collections.abc import Callable
from typing import Any, Final, get_args

from libs.kernel.chance import Draws
from libs.kernel.reasons import Reason
from libs.rules import (
    auctions,
    building,
    buying,
    clocks,
    debts,
    jackpot,
    jail,
    leaving,
    operating,
    phases,
    rolling,
    seeding,
    third_die,
    trading,
)
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules.landing import land
from libs.rules.match import Match
from libs.rules.refusals import Refusal
from libs.rules.ruling import CARRY_ON, LAND, NOTHING, Ruling
from libs.rules.turns import carry_on

Decision = list[e.Event] | Refusal
"""Events in order, never none; or why not."""


def decide(match: Match, command: c.Command, draws: Draws, at_ms: int) -> Decision:
    """Return the events that *command* causes at *at_ms*, or the first rule that it breaks.

    Pure: *match* is left as it is, and the same arguments always give the same decision.
    """
    return play(match.copy(), command, draws, at_ms)


def play(match: Match, command: c.Command, draws: Draws, at_ms: int) -> Decision:
    """Decide, and apply the events to a match that the caller owns.

    For those who keep no match without its events, such as the simulation: it saves copying the
    match. A refusal leaves the match as it is.
    """
    return Referee(match, draws).play(command, at_ms)


class Referee:
    """Plays one match that the caller owns, command after command."""

    __slots__ = ("_match", "_ruling")

    def __init__(self, match: Match, draws: Draws) -> None:
        """Sit down at *match*, which every command will change in place."""
        self._match = match
        self._ruling = Ruling(match, draws)

    def play(self, command: c.Command, at_ms: int) -> Decision:
        """See `play`."""
        match, kind = self._match, type(command)
        handler = _SEATED.get(kind)
        if handler is None:
            handler = _SYSTEM[kind]
            refusal = _refuse_system(match, kind)
            if refusal is not None:
                return refusal
        elif command.seat not in match.acting:  # type: ignore[union-attr]
            refusal = _refuse_seat(match, command, command.seat)  # type: ignore[union-attr]
            if refusal is not None:
                return refusal
        ruling = self._ruling
        events: list[e.Event] = []
        ruling.now, ruling.events, ruling.next = at_ms, events, NOTHING
        refusal = handler(ruling, command)
        if refusal is not None:
            return refusal
        while ruling.next:
            step, ruling.next = ruling.next, NOTHING
            _FLOW[step](ruling)
        match.sequence += len(events)
        return events


def _refuse_seat(match: Match, command: c.Command, seat: int) -> Refusal | None:
    """Refuse a seat's command for what the match or the seat is, whatever the command asks."""
    if match.phase == phases.UNBORN:
        return Refusal(Reason.MATCH_NOT_FOUND, "SETUP-1")
    malformed = trading.refuse_malformed(match, command) if type(command) is c.OfferTrade else None
    if malformed is not None:
        return malformed
    if not match.has_seat(seat):
        return Refusal(Reason.NOT_SEATED, "SETUP-1", {"seats": len(match.specs)})
    if match.phase == phases.SEEDING and type(command) is not c.ContributeSeed:
        return Refusal(Reason.MATCH_NOT_STARTED, "SETUP-3")
    if match.phase == phases.ENDED:
        return Refusal(Reason.MATCH_ENDED, "END-1", {"winners": match.winners})
    if match.frozen_at >= 0:
        return Refusal(Reason.MATCH_FROZEN, "CLOCK-1", {"frozen_at": match.frozen_at})
    if match.out[seat]:
        return Refusal(Reason.SEAT_IS_OUT, "SURR-1", {"seat": seat})
    return None


def _refuse_system(match: Match, kind: type) -> Refusal | None:
    if kind is c.CreateMatch:
        return None
    if match.phase == phases.UNBORN:
        return Refusal(Reason.MATCH_NOT_FOUND, "SETUP-1")
    if match.phase == phases.ENDED:
        return Refusal(Reason.MATCH_ENDED, "END-1", {"winners": match.winners})
    if match.frozen_at >= 0 and kind not in (c.Resume, c.Abort):
        return Refusal(Reason.MATCH_FROZEN, "CLOCK-1", {"frozen_at": match.frozen_at})
    return None


_FLOW: Final = {LAND: land, CARRY_ON: carry_on}
"""How a turn goes on after what a topic has done."""

_Handler = Callable[[Ruling, Any], Refusal | None]

_SEATED: Final[dict[type, _Handler]] = {
    c.Roll: rolling.roll,
    c.Buy: buying.buy,
    c.Decline: buying.decline,
    c.Bid: auctions.bid,
    c.Pass: auctions.pass_bid,
    c.Build: building.build,
    c.SellLevel: building.sell_level,
    c.Mortgage: building.mortgage,
    c.Redeem: building.redeem,
    c.Pay: debts.pay,
    c.DeclareBankruptcy: debts.declare_bankruptcy,
    c.PayBail: jail.pay_bail,
    c.StayInJail: jail.stay,
    c.ChooseBusMove: third_die.choose_bus_move,
    c.ChooseTeleport: third_die.choose_teleport,
    c.BetJackpot: jackpot.bet,
    c.DeclineJackpot: jackpot.decline,
    c.OfferTrade: trading.offer_trade,
    c.AcceptTrade: trading.accept_trade,
    c.RejectTrade: trading.reject_trade,
    c.WithdrawTrade: trading.withdraw_trade,
    c.Surrender: leaving.surrender,
    c.ContributeSeed: seeding.contribute,
}

_SYSTEM: Final[dict[type, _Handler]] = {
    c.CreateMatch: seeding.create,
    c.FireDeadline: clocks.fire_deadline,
    c.ExtendDeadlines: operating.extend_deadlines,
    c.Freeze: operating.freeze,
    c.Resume: operating.resume,
    c.Abort: operating.abort,
}

assert _SEATED.keys() == set(get_args(c.SeatCommand)), "every seat's command has a handler"
assert _SYSTEM.keys() == set(get_args(c.SystemCommand)), "every system command has a handler"
