"""Building, selling, mortgaging, redeeming (BUILD-1 to BUILD-3, MORT-1 to MORT-3)."""

from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules import phases
from libs.rules.board import MAX_LEVEL
from libs.rules.match import Match
from libs.rules.refusals import Refusal
from libs.rules.ruling import Ruling, refuse_unless_affordable

WHOLE_PERCENT = 100


def refuse_unless_managing(match: Match, seat: int, *, raises_cash: bool) -> Refusal | None:
    """Refuse managing and trading at the wrong time.

    In a payment pause a debtor may do what raises cash, and nothing else (DEBT-1); the turn's seat
    may do anything while its roll is pending, or all its turn long where the rules say so.
    """
    phase = match.phase
    if phase == phases.AUCTION:
        return Refusal(Reason.AUCTION_RUNNING, "AUC-5")
    if phase == phases.DEBT and match.is_debtor(seat):
        if raises_cash:
            return None
        return Refusal(Reason.NOT_MANAGING_TIME, "DEBT-1", {"phase": phase, "turn": match.turn})
    if seat == match.turn and (phase == phases.ROLL or match.rules.manage_all_turn):
        return None
    return Refusal(Reason.NOT_MANAGING_TIME, "TURN-4", {"phase": phase, "turn": match.turn})


def build(ruling: Ruling, command: c.Build) -> Refusal | None:
    """Build one level on a street of a whole, unmortgaged group."""
    match, seat, square = ruling.match, command.seat, command.square
    refusal = refuse_unless_managing(match, seat, raises_cash=False)
    if refusal is None:
        refusal = _refuse_street(match, seat, square) or _refuse_build(match, seat, square)
    if refusal is not None:
        return refusal
    cost = match.board.build_cost[square]
    ruling.add(e.LevelBuilt(seat, square, match.level[square] + 1, cost))
    return None


def sell_level(ruling: Ruling, command: c.SellLevel) -> Refusal | None:
    """Sell one level to the bank at half its cost."""
    match, seat, square = ruling.match, command.seat, command.square
    refusal = refuse_unless_managing(match, seat, raises_cash=True)
    if refusal is None:
        refusal = _refuse_street(match, seat, square) or _refuse_sale(match, square)
    if refusal is not None:
        return refusal
    price = match.board.level_value[square]
    ruling.add(e.LevelSold(seat, square, match.level[square] - 1, price))
    return None


def mortgage(ruling: Ruling, command: c.Mortgage) -> Refusal | None:
    """Mortgage a property for half its list price."""
    match, seat, square = ruling.match, command.seat, command.square
    refusal = refuse_unless_managing(match, seat, raises_cash=True)
    if refusal is None:
        refusal = refuse_unless_owner(match, seat, square, "MORT-1")
    if refusal is not None:
        return refusal
    group = match.board.group_of[square]
    if match.group_levels[group]:
        return Refusal(Reason.GROUP_HAS_LEVELS, "MORT-1", {"levels": match.group_levels[group]})
    if match.mortgaged_round[square]:
        return Refusal(Reason.ALREADY_MORTGAGED, "MORT-1", {"square": square})
    ruling.add(e.PropertyMortgaged(seat, square, match.board.mortgage_value[square]))
    return None


def redeem(ruling: Ruling, command: c.Redeem) -> Refusal | None:
    """Lift a mortgage for what it paid and a fee."""
    match, seat, square = ruling.match, command.seat, command.square
    refusal = refuse_unless_managing(match, seat, raises_cash=False)
    if refusal is None:
        refusal = refuse_unless_owner(match, seat, square, "MORT-2")
    if refusal is not None:
        return refusal
    if not match.mortgaged_round[square]:
        return Refusal(Reason.NOT_MORTGAGED, "MORT-2", {"square": square})
    cost = redeem_cost(match, square)
    refusal = refuse_unless_affordable(match, seat, cost, "MORT-2")
    if refusal is not None:
        return refusal
    ruling.add(e.PropertyRedeemed(seat, square, cost))
    return None


def redeem_cost(match: Match, square: int) -> int:
    """Return the half price and the fee on it, rounded up (MORT-2)."""
    half = match.board.mortgage_value[square]
    return half - (-half * match.rules.redeem_fee_percent // WHOLE_PERCENT)


def refuse_unless_owner(match: Match, seat: int, square: int, rule: str) -> Refusal | None:
    """Refuse what is no property, or not the seat's own."""
    if not match.board.is_property(square):
        return Refusal(Reason.NOT_A_PROPERTY, "BOARD-2", {"square": square})
    if match.owner[square] != seat:
        return Refusal(Reason.NOT_OWNER, rule, {"square": square, "owner": match.owner[square]})
    return None


def _refuse_street(match: Match, seat: int, square: int) -> Refusal | None:
    board = match.board
    if not board.is_property(square):
        return Refusal(Reason.NOT_A_PROPERTY, "BOARD-2", {"square": square})
    if not board.is_street(square):
        return Refusal(Reason.NOT_A_STREET, "BUILD-1", {"square": square})
    return refuse_unless_owner(match, seat, square, "BUILD-1")


def _refuse_build(match: Match, seat: int, square: int) -> Refusal | None:
    board, rules = match.board, match.rules
    group = board.group_of[square]
    squares = board.groups[group]
    level = match.level[square]
    if not match.owns_group(seat, group):
        held = match.held[seat][group]
        return Refusal(Reason.GROUP_INCOMPLETE, "BUILD-1", {"held": held, "needed": len(squares)})
    mortgaged = tuple(other for other in squares if match.mortgaged_round[other])
    if mortgaged:
        return Refusal(Reason.GROUP_MORTGAGED, "BUILD-1", {"mortgaged": mortgaged})
    lowest = min(match.level[other] for other in squares)
    if rules.even_building and level > lowest:
        return Refusal(Reason.UNEVEN_BUILDING, "BUILD-2", {"level": level, "lowest": lowest})
    if level >= MAX_LEVEL:
        return Refusal(Reason.LEVEL_LIMIT, "BUILD-1", {"level": level})
    if rules.levels_per_turn and match.built[square] >= rules.levels_per_turn:
        return Refusal(Reason.TURN_LEVEL_LIMIT, "BUILD-2", {"built": match.built[square]})
    return refuse_unless_affordable(match, seat, board.build_cost[square], "BUILD-1")


def _refuse_sale(match: Match, square: int) -> Refusal | None:
    level = match.level[square]
    squares = match.board.groups[match.board.group_of[square]]
    highest = max(match.level[other] for other in squares)
    if match.rules.even_building and level < highest:
        return Refusal(Reason.UNEVEN_BUILDING, "BUILD-2", {"level": level, "highest": highest})
    if not level:
        return Refusal(Reason.NO_LEVEL, "BUILD-3", {"square": square})
    return None
