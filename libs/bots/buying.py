"""Whether to buy, and how high to bid (TURN-4, TURN-5, AUC-1)."""

from libs.bots.appraising import WHOLE_PERCENT, appraisal
from libs.bots.characters import Character
from libs.rules.events import NOBODY
from libs.rules.views import View


def wants_to_buy(view: View, seat: int, character: Character) -> bool:
    """Whether to take the offered property at its list price."""
    square = view.square[seat]
    left = view.cash[seat] - view.board.price[square]
    if left >= character.purchase_reserve:
        return True
    return left >= 0 and extra_value(view, seat, square, character) > 0


def wants_to_bid(view: View, seat: int, character: Character) -> bool:
    """Whether to bid the minimum in the auction that is going on."""
    auction = view.auction
    assert auction is not None
    square, leader = auction.square, auction.leader
    price = view.board.price[square]
    if leader == NOBODY:
        minimum = price
    elif view.is_rival(seat, leader):
        minimum = auction.bid + view.rules.auction_step
    else:
        return False  # an ally leads: the side gets it as it is
    extra = extra_value(view, seat, square, character)
    reserve = 0 if extra > 0 else character.purchase_reserve
    limit = (price + extra) * character.bid_percent // WHOLE_PERCENT
    return minimum <= min(max(limit, price), view.cash[seat] - reserve)


def extra_value(view: View, seat: int, square: int, character: Character) -> int:
    """Return what *square* is worth beyond its price: what it adds, or keeps from a rival."""
    eye = appraisal(view.board, character)
    group = view.board.group_of[square]
    held = view.held[seat][group]
    bonus = eye.bonus[group]
    extra = bonus[held + 1] - bonus[held]
    short_by_one = view.board.group_size[group] - 1
    for other, holding in enumerate(view.held):
        if holding[group] == short_by_one and view.is_rival(seat, other):
            extra += eye.menace[group][-1]
    return extra
