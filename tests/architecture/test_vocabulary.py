"""The names of events are promises: every record that was ever written is full of them."""

import re
from typing import Final, get_args

from libs.rules import events
from tests.support.repository import ROOT

PROMISED: Final = """
MatchCreated SeedContributed MatchStarted RoundStarted TurnStarted DeadlineSet DeadlineExtended
DecisionTimedOut DiceRolled TokenMoved SalaryPaid LandingBonusPaid PropertyOffered PropertyBought
PropertyDeclined PropertyReleased AuctionOpened BidPlaced BidPassed BidVoided AuctionClosed
CardDrawn CashReceived DebtOpened DebtPaid CashCollected LevelBuilt LevelSold PropertyMortgaged
PropertyRedeemed MortgageReminded JailEntered JailAttemptFailed BailOffered BailPaid JailLeft
BusOffered BusMoveChosen TeleportOffered TeleportChosen JumpMade JackpotOffered JackpotDeclined
JackpotBetPlaced JackpotRolled TradeOffered TradeAccepted TradeRejected TradeWithdrawn TradeClosed
TurnMissed TurnEnded SeatBankrupted SeatSurrendered MatchEnded SeedRevealed MatchAborted
MatchFrozen MatchResumed
""".split()
"""Add where the rules need more; never rename."""


def test_every_promised_event_exists() -> None:
    assert [name for name in PROMISED if name not in _event_names()] == []


def test_every_event_has_a_message_and_a_case_on_the_wire() -> None:
    protos = sorted((ROOT / "protos/opolyx/record/v1").glob("*.proto"))
    wire = "\n".join(proto.read_text(encoding="utf-8") for proto in protos)

    assert protos, "protos/opolyx/record/v1 is missing"
    assert [name for name in _event_names() if not _is_on_the_wire(name, wire)] == []


def _event_names() -> list[str]:
    return [event.__name__ for event in get_args(events.Event)]


def _is_on_the_wire(name: str, wire: str) -> bool:
    field = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
    is_message = re.search(rf"^message {name} {{", wire, flags=re.MULTILINE)
    is_case = re.search(rf"^ +{name} {field} = \d+;", wire, flags=re.MULTILINE)
    return is_message is not None and is_case is not None
