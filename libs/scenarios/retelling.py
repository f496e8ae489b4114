"""Recorded events told again as what a scenario can say: the commands that caused them, and time.

A record holds what happened and who caused it, not the command; but each command has an event that
it alone begins with.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from libs.rules import events as e
from libs.rules import phases
from libs.rules.evolve import apply
from libs.rules.match import Match
from libs.rules.state import seconds
from libs.wire.record import SYSTEM, Record

SEAT: Final = "seat:"
"""What the actor of a seat's record begins with; the seat's number follows."""

Step = dict[str, Any]


class NotSayableError(ValueError):
    """What happened in a match is beyond what a scenario can say."""


def retell(match: Match, at_ms: int, records: Sequence[Record]) -> list[Step]:
    """Return the steps that *records* come to, for a match that stood so at *at_ms*.

    Raises:
        NotSayableError: one of them has no step, such as an operator's.

    """
    match = match.copy()
    # A scenario's offers are counted anew from its set-up on.
    offers_before = match.offer_count
    steps: list[Step] = []
    for record in records:
        if record.at_ms > at_ms:
            steps.append({"wait_s": seconds(record.at_ms - at_ms)})
            at_ms = record.at_ms
        if record.actor.startswith(SEAT):
            command = _command(match, record, offers_before)
            steps.append({"seat": int(record.actor.removeprefix(SEAT)), "command": command})
        elif not _is_time_out(record):
            raise NotSayableError(
                f"no step says what happened at sequence {record.first_seq}, by {record.actor}"
            )
        apply(match, record.events)
    return steps


def _is_time_out(record: Record) -> bool:
    """Whether a deadline was fired, which a scenario leaves to its clock."""
    return record.actor == SYSTEM and isinstance(
        record.events[0], e.DecisionTimedOut | e.TradeClosed
    )


def _command(match: Match, record: Record, offers_before: int) -> str | Step:
    cause: Any = record.events[0]
    kind = type(cause)
    if kind in _NAMES:
        return _NAMES[kind]
    if kind in _ON_OFFERS:
        return {_ON_OFFERS[kind]: {"offer": cause.offer - offers_before}}
    if kind in _WITH_FIELDS:
        name, fields = _WITH_FIELDS[kind]
        return {name: fields(cause)}
    if match.phase == phases.BAIL:
        # To stay in jail leaves no trace of its own: the turn just ends.
        return "stay_in_jail"
    raise NotSayableError(f"no command begins with {kind.__name__}, at {record.first_seq}")


def _side(side: e.Side) -> Step:
    return {"cash": side.cash, "squares": list(side.squares)}


def _on_square(event: Any) -> Step:
    return {"square": event.square}


def _trade(event: e.TradeOffered) -> Step:
    return {"to": event.receiver, "give": _side(event.give), "take": _side(event.take)}


_NAMES: Final[Mapping[type, str]] = {
    e.DiceRolled: "roll",
    e.PropertyBought: "buy",
    e.PropertyDeclined: "decline",
    e.BidPlaced: "bid",
    e.BidPassed: "pass",
    e.DebtPaid: "pay",
    e.SeatBankrupted: "declare_bankruptcy",
    e.BailPaid: "pay_bail",
    e.JackpotDeclined: "decline_jackpot",
    e.SeatSurrendered: "surrender",
}
"""Commands without fields, by the event that each begins with."""

_ON_OFFERS: Final[Mapping[type, str]] = {
    e.TradeAccepted: "accept_trade",
    # An offer that no longer holds is closed by whoever accepts it.
    e.TradeClosed: "accept_trade",
    e.TradeRejected: "reject_trade",
    e.TradeWithdrawn: "withdraw_trade",
}

_WITH_FIELDS: Final[Mapping[type, tuple[str, Callable[[Any], Step]]]] = {
    e.LevelBuilt: ("build", _on_square),
    e.LevelSold: ("sell_level", _on_square),
    e.PropertyMortgaged: ("mortgage", _on_square),
    e.PropertyRedeemed: ("redeem", _on_square),
    e.TeleportChosen: ("choose_teleport", _on_square),
    e.BusMoveChosen: ("choose_bus_move", lambda event: {"total": event.total}),
    e.JackpotBetPlaced: ("bet_jackpot", lambda event: {"numbers": list(event.numbers)}),
    e.TradeOffered: ("offer_trade", _trade),
}
