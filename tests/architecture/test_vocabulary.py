"""Names are promises: records that were ever written are full of them, and clients ask by them.

Copied here on purpose, so that a name that is changed is missed. A new one is promised here too.
"""

import re
from typing import Final, get_args

from libs.kernel.reasons import Reason
from libs.rules import commands, events
from tests.support.repository import ROOT

EVENTS: Final = """
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

COMMANDS: Final = """
roll buy decline bid pass build sell_level mortgage redeem pay declare_bankruptcy pay_bail
stay_in_jail choose_bus_move choose_teleport bet_jackpot decline_jackpot offer_trade accept_trade
reject_trade withdraw_trade surrender contribute_seed create_match fire_deadline freeze resume
abort extend_deadlines
""".split()

REASONS: Final = """
INVALID_REQUEST MATCH_NOT_FOUND ROOM_NOT_FOUND PLAYER_NOT_FOUND NOT_SEATED COMMAND_ID_REUSED
MATCH_NOT_STARTED MATCH_ENDED MATCH_FROZEN MATCH_QUARANTINED SEAT_IS_OUT STALE_SEQUENCE
OFFER_NOT_FOUND NOT_YOUR_TURN NOT_YOUR_BID NOT_YOUR_DEBT WRONG_PHASE AUCTION_RUNNING
NOT_MANAGING_TIME NOT_A_PROPERTY NOT_A_STREET NOT_OWNER GROUP_INCOMPLETE GROUP_MORTGAGED
GROUP_HAS_LEVELS UNEVEN_BUILDING LEVEL_LIMIT TURN_LEVEL_LIMIT NO_LEVEL ALREADY_MORTGAGED
NOT_MORTGAGED NOT_ENOUGH_CASH CAN_STILL_PAY NOT_IN_JAIL INVALID_CHOICE TRADE_WITH_SELF TRADE_EMPTY
TRADE_CASH_BOTH_SIDES TRADE_DUPLICATE_SQUARE TRADE_UNFAIR TRADE_NOT_TRADABLE TRADE_LIMIT
NOT_OFFER_RECEIVER NOT_OFFER_PROPOSER SEED_TOO_LATE SEED_INVALID ROOM_FULL ROOM_CLOSED NOT_CREATOR
INVITE_NOT_FOUND MATCH_NOT_QUARANTINED SEAT_EMPTY TOO_MANY_INVITES
TOO_FEW_SEATS TEAMS_UNEVEN ALREADY_IN_MATCH NOT_READY SEAT_TAKEN BANNED_FROM_ROOM RATE_LIMITED
OVERLOADED NOT_OWNER_OF_SHARD STORE_UNAVAILABLE TOKEN_MISSING TOKEN_INVALID TOKEN_EXPIRED
NOT_ALLOWED SLOW_READER GOING_AWAY
""".split()


def test_the_promised_events_are_those_that_exist() -> None:
    assert sorted(EVENTS) == sorted(_event_names())


def test_the_promised_commands_are_those_that_exist() -> None:
    known = [_snake(command.__name__) for command in get_args(commands.Command)]

    assert sorted(COMMANDS) == sorted(known)


def test_every_promised_reason_exists_under_its_own_name() -> None:
    assert [name for name in REASONS if Reason[name].value != name] == []


def test_every_event_has_a_message_and_a_case_on_the_wire() -> None:
    protos = sorted((ROOT / "protos/opolyx/record/v1").glob("*.proto"))
    wire = "\n".join(proto.read_text(encoding="utf-8") for proto in protos)

    assert protos, "protos/opolyx/record/v1 is missing"
    assert [name for name in _event_names() if not _is_on_the_wire(name, wire)] == []


def _event_names() -> list[str]:
    return [event.__name__ for event in get_args(events.Event)]


def _is_on_the_wire(name: str, wire: str) -> bool:
    is_message = re.search(rf"^message {name} {{", wire, flags=re.MULTILINE)
    is_case = re.search(rf"^ +{name} {_snake(name)} = \d+;", wire, flags=re.MULTILINE)
    return is_message is not None and is_case is not None


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
