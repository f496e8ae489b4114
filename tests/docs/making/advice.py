"""What whoever is refused can do about it, for every reason; what it means is told by the rules."""

from collections.abc import Mapping
from typing import Final

from libs.kernel.reasons import Reason

TOKEN_CHECKS: Final[Mapping[str, str]] = {
    "scheme": "It does not come as `Bearer TOKEN`.",
    "size": "It is too long.",
    "token": "It is no JSON Web Token that can be read.",
    "algorithm": "It is signed by another algorithm than the system accepts.",
    "type": "Its `typ` is not the one that the system accepts.",
    "key": "The system does not know the key that signed it: in development that of another data "
    "folder (`OPOLYX_DATA_FOLDER`).",
    "signature": "It was changed, or another key signed it.",
    "issuer": "Its `iss` is not the system's issuer.",
    "audience": "Its `aud` is not the system.",
    "claims": "One of `exp`, `iat`, `iss`, `aud` and `sub` is missing.",
    "subject": "Its `sub` is no text of 1 to 255 characters.",
    "times": "One of its times is no time.",
    "issued_at": "It was issued in the future: look at the clocks.",
    "not_before": "It is not good yet.",
}
"""What the `check` of an invalid token may be, and what that means, in the order of asking."""

ADVICE: Final[Mapping[Reason, str]] = {
    Reason.TOKEN_MISSING: "Send `authorization: Bearer TOKEN` as metadata.",
    Reason.TOKEN_INVALID: "Get another token; `check` in the metadata says what did not hold, see "
    "[below](#checks-of-a-token).",
    Reason.TOKEN_EXPIRED: "Get a new token, then send the same again.",
    Reason.NOT_ALLOWED: "This is for others: see who may call it at the RPC.",
    Reason.RATE_LIMITED: "Send the same again after the time told, and less often from then on; "
    "`limit` in the metadata is what you are beyond, by its name in `GetServerInfo`.",
    Reason.OVERLOADED: "Send the same again after the time told; `limit` in the metadata, if it is "
    "there, is what was reached, by its name in `GetServerInfo`.",
    Reason.NOT_OWNER_OF_SHARD: "The match is moving to another engine: send the same again.",
    Reason.STORE_UNAVAILABLE: "It may have been carried out: send the same again, same id.",
    Reason.SLOW_READER: "Open the stream again after your last record, and read it faster; "
    "`limit` is as in `RATE_LIMITED`.",
    Reason.GOING_AWAY: "Connect again; open streams again after your last record.",
    Reason.INVALID_REQUEST: "Mend the fields that `BadRequest` (or `violations`) names.",
    Reason.MATCH_NOT_FOUND: "Check the id; a match that you may not see is not there either.",
    Reason.ROOM_NOT_FOUND: "Check the id; a room that you may not see is not there either.",
    Reason.PLAYER_NOT_FOUND: "Check the id: players have ids, not names.",
    Reason.INVITE_NOT_FOUND: "Ask for a new code: this one is wrong, or has expired.",
    Reason.NOT_SEATED: "Only who sits there may do it. Watching needs no seat.",
    Reason.COMMAND_ID_REUSED: "Make a new id for each new command.",
    Reason.MATCH_EXISTS: "Nothing: the match is there.",
    Reason.MATCH_NOT_STARTED: "Wait for the event `MatchStarted`, or give a client seed.",
    Reason.MATCH_ENDED: "Nothing more can be done in it.",
    Reason.MATCH_FROZEN: "Wait for the event `MatchResumed`.",
    Reason.MATCH_NOT_FROZEN: "Nothing: its clocks run.",
    Reason.MATCH_QUARANTINED: "Wait: an operator looks into it, who alone can export it meanwhile.",
    Reason.MATCH_NOT_QUARANTINED: "Nothing: it takes commands.",
    Reason.SEAT_IS_OUT: "Nothing more can be done by, or for, this seat.",
    Reason.STALE_SEQUENCE: "Look again, then decide again: something happened meanwhile.",
    Reason.OFFER_NOT_FOUND: "Nothing: it was answered, withdrawn, or has lapsed.",
    Reason.DEADLINE_STALE: "Nothing: the decision was made.",
    Reason.DEADLINE_NOT_DUE: "Fire it again when it is due.",
    Reason.NOT_YOUR_TURN: "Wait for `TurnStarted` with your seat.",
    Reason.NOT_YOUR_BID: "Wait until the auction asks your seat.",
    Reason.NOT_YOUR_DEBT: "Wait for those who owe.",
    Reason.WRONG_PHASE: "Make the decision that is pending: `phase` names it.",
    Reason.AUCTION_RUNNING: "Wait for `AuctionClosed`.",
    Reason.NOT_MANAGING_TIME: "Wait for your turn, before you roll (in `@1`: all of your turn).",
    Reason.NOT_A_PROPERTY: "Name one of the 28 squares that can be owned.",
    Reason.NOT_A_STREET: "Name a street: stations and utilities have no levels.",
    Reason.NOT_OWNER: "Name a square of yours (in a trade: of the side that gives it).",
    Reason.GROUP_INCOMPLETE: "Get the whole group first.",
    Reason.GROUP_MORTGAGED: "Redeem the streets named first.",
    Reason.GROUP_HAS_LEVELS: "Sell the levels of the group first.",
    Reason.UNEVEN_BUILDING: "Take another street of the group first.",
    Reason.LEVEL_LIMIT: "Build elsewhere: five is the most.",
    Reason.TURN_LEVEL_LIMIT: "Build elsewhere, or in your next turn.",
    Reason.NO_LEVEL: "Name a street with a level.",
    Reason.ALREADY_MORTGAGED: "Name a property that is not mortgaged.",
    Reason.NOT_MORTGAGED: "Name a property that is mortgaged.",
    Reason.NOT_ENOUGH_CASH: "Raise cash first where the rules let you: `needed` and `cash` tell.",
    Reason.CAN_STILL_PAY: "Sell and mortgage until you can pay.",
    Reason.NOT_IN_JAIL: "Nothing: your seat is free.",
    Reason.INVALID_CHOICE: "Choose one that `ListLegalCommands` lists.",
    Reason.TRADE_WITH_SELF: "Name another seat.",
    Reason.TRADE_EMPTY: "Put something on both sides; an ally may get a gift.",
    Reason.TRADE_CASH_BOTH_SIDES: "Take the smaller sum from both sides.",
    Reason.TRADE_DUPLICATE_SQUARE: "Name each square once.",
    Reason.TRADE_UNFAIR: "Add to the smaller side: `give` and `take` tell what they are worth.",
    Reason.TRADE_NOT_TRADABLE: "Leave the square out, or redeem it or sell its group's levels.",
    Reason.TRADE_LIMIT: "Withdraw an offer, or wait until one is answered.",
    Reason.NOT_OFFER_RECEIVER: "Nothing: it is for the seat named.",
    Reason.NOT_OFFER_PROPOSER: "Nothing: it is the offer of the seat named.",
    Reason.SEED_TOO_LATE: "Nothing: the match goes on without your seed.",
    Reason.SEED_INVALID: "Give 16 to 32 bytes, or none.",
    Reason.ROOM_FULL: "Join another room.",
    Reason.ROOM_CLOSED: "Join another room; if its match is there, `GetRoom` names it.",
    Reason.NOT_CREATOR: "Ask the creator: `creator_id` of the room; empty: nobody may.",
    Reason.TOO_FEW_SEATS: "Seat more people or bots.",
    Reason.TEAMS_UNEVEN: "Fill the seats of both sides.",
    Reason.ALREADY_IN_MATCH: "Play on, surrender, or leave the room: the metadata names which.",
    Reason.NOT_READY: "Wait for the people on the seats named.",
    Reason.SEAT_TAKEN: "Take another seat, or name none.",
    Reason.SEAT_EMPTY: "Look at the room again: who sat there has gone.",
    Reason.TOO_MANY_INVITES: "Hand out a code that you have. A room that has all its guests takes "
    "no more.",
    Reason.BANNED_FROM_ROOM: "Join another room.",
}

assert ADVICE.keys() == set(Reason), set(Reason) ^ ADVICE.keys()
