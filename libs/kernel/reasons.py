"""Why a command can be refused: the one closed set of reasons, in the order they are looked for."""

from enum import StrEnum, auto


class Reason(StrEnum):
    """A refusal's stable, machine-readable name. Part of the public API: add, never rename.

    The order is the order of the checks: the first that applies is the one that is told. What only
    an edge or a service can know (tokens, rates, routing, rooms) is named here too, since clients
    read one enum.
    """

    @staticmethod
    def _generate_next_value_(name: str, *_: object) -> str:
        return name

    # The edge and the store, before any rule.
    TOKEN_MISSING = auto()
    TOKEN_INVALID = auto()
    TOKEN_EXPIRED = auto()
    NOT_ALLOWED = auto()
    RATE_LIMITED = auto()
    OVERLOADED = auto()
    NOT_OWNER_OF_SHARD = auto()
    STORE_UNAVAILABLE = auto()
    SLOW_READER = auto()
    GOING_AWAY = auto()

    # The request and its match.
    INVALID_REQUEST = auto()
    MATCH_NOT_FOUND = auto()
    ROOM_NOT_FOUND = auto()
    PLAYER_NOT_FOUND = auto()
    INVITE_NOT_FOUND = auto()
    NOT_SEATED = auto()
    COMMAND_ID_REUSED = auto()
    MATCH_EXISTS = auto()
    MATCH_NOT_STARTED = auto()
    MATCH_ENDED = auto()
    MATCH_FROZEN = auto()
    MATCH_NOT_FROZEN = auto()
    MATCH_QUARANTINED = auto()
    MATCH_NOT_QUARANTINED = auto()
    SEAT_IS_OUT = auto()
    STALE_SEQUENCE = auto()
    OFFER_NOT_FOUND = auto()

    # Whose decision it is, and when.
    DEADLINE_STALE = auto()
    DEADLINE_NOT_DUE = auto()
    NOT_YOUR_TURN = auto()
    NOT_YOUR_BID = auto()
    NOT_YOUR_DEBT = auto()
    WRONG_PHASE = auto()
    AUCTION_RUNNING = auto()
    NOT_MANAGING_TIME = auto()

    # The property.
    NOT_A_PROPERTY = auto()
    NOT_A_STREET = auto()
    NOT_OWNER = auto()
    GROUP_INCOMPLETE = auto()
    GROUP_MORTGAGED = auto()
    GROUP_HAS_LEVELS = auto()
    UNEVEN_BUILDING = auto()
    LEVEL_LIMIT = auto()
    TURN_LEVEL_LIMIT = auto()
    NO_LEVEL = auto()
    ALREADY_MORTGAGED = auto()
    NOT_MORTGAGED = auto()

    # The money and the choice.
    NOT_ENOUGH_CASH = auto()
    CAN_STILL_PAY = auto()
    NOT_IN_JAIL = auto()
    INVALID_CHOICE = auto()

    # Trades.
    TRADE_WITH_SELF = auto()
    TRADE_EMPTY = auto()
    TRADE_CASH_BOTH_SIDES = auto()
    TRADE_DUPLICATE_SQUARE = auto()
    TRADE_UNFAIR = auto()
    TRADE_NOT_TRADABLE = auto()
    TRADE_LIMIT = auto()
    NOT_OFFER_RECEIVER = auto()
    NOT_OFFER_PROPOSER = auto()

    # Client seeds.
    SEED_TOO_LATE = auto()
    SEED_INVALID = auto()

    # The lobby.
    ROOM_FULL = auto()
    ROOM_CLOSED = auto()
    NOT_CREATOR = auto()
    TOO_FEW_SEATS = auto()
    TEAMS_UNEVEN = auto()
    ALREADY_IN_MATCH = auto()
    NOT_READY = auto()
    SEAT_TAKEN = auto()
    SEAT_EMPTY = auto()
    TOO_MANY_INVITES = auto()
    BANNED_FROM_ROOM = auto()
