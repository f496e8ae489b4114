"""How events change a match. Total: what is recorded happened, so nothing is checked here.

One small function for each event, found by the event's class: a dict look-up costs a fifth of a
`match` statement of this length, and every event of every match comes through here.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final, get_args

from libs.rules import events as e
from libs.rules import phases
from libs.rules.cards import DECK_SIZE
from libs.rules.match import RUNNING, Auction, Debt, Match, Offer
from libs.rules.rule_sets import rule_set


def evolve(match: Match, event: e.Event) -> None:
    """Apply one event to *match*, in place."""
    EVOLVE[event.__class__](match, event)
    match.sequence += 1


def apply(match: Match, events: Iterable[e.Event]) -> Match:
    """Apply *events* in order to *match*, in place, and return it."""
    count = 0
    for event in events:
        EVOLVE[event.__class__](match, event)
        count += 1
    match.sequence += count
    return match


def replay(events: Iterable[e.Event]) -> Match:
    """Rebuild a match from nothing."""
    return apply(Match(), events)


# Birth, rounds and turns.


def _match_created(match: Match, event: e.MatchCreated) -> None:
    seats = len(event.seats)
    match.match_id = event.match_id
    match.rules = rule_set(event.rule_set)
    match.board = match.rules.board
    match.commitment = event.commitment
    match.specs = event.seats
    match.phase = phases.SEEDING
    # Bots have nothing to give: they count as having declined.
    match.client_seeds = [None if spec.kind == e.PERSON else b"" for spec in event.seats]
    match.had_turn = [False] * seats
    match.square = [0] * seats
    match.in_jail = [False] * seats
    match.jail_attempts = [0] * seats
    match.missed_turns = [0] * seats
    match.out = [False] * seats
    match.cash = [0] * seats
    match.living = seats
    match.held = [[0] * len(match.board.groups) for _ in range(seats)]
    match.group_levels = [0] * len(match.board.groups)


def _seed_contributed(match: Match, event: e.SeedContributed) -> None:
    match.client_seeds[event.seat] = event.client_seed


def _match_started(match: Match, event: e.MatchStarted) -> None:
    match.next_counter = event.counter + event.blocks
    match.turn = event.first_seat
    match.cash = [event.starting_cash] * len(match.specs)
    match.cards = tuple(dict(cards) for cards in event.cards)
    match.deadline_kind = ""


def _round_started(match: Match, event: e.RoundStarted) -> None:
    match.round = event.round
    match.had_turn = [False] * len(match.had_turn)


def _turn_started(match: Match, event: e.TurnStarted) -> None:
    seat = event.seat
    match.turn = seat
    match.turn_number = event.turn
    match.had_turn[seat] = True
    match.doubles = 0
    match.rolls_again = False
    match.jump_pending = False
    match.timed_out = False


def _turn_missed(match: Match, event: e.TurnMissed) -> None:
    match.missed_turns[event.seat] = event.in_a_row


def _turn_ended(match: Match, event: e.TurnEnded) -> None:
    seat = event.seat
    # CLOCK-3: a turn of one's own without a time-out ends the run of missed turns.
    if not match.timed_out and not match.out[seat]:
        match.missed_turns[seat] = 0
    match.jump_pending = False
    match.rolls_again = False
    if any(match.built):
        match.built = [0] * len(match.built)


# Clocks.


def _deadline_set(match: Match, event: e.DeadlineSet) -> None:
    kind = event.kind
    match.deadline_count = event.number
    if kind == phases.OFFER:
        for offer in match.offers:
            if offer.offer == event.scope:
                offer.number = event.number
        return
    match.phase = kind
    if kind == phases.DEBT:
        match.deadline_kind = ""
        match.clock_left = event.clock_left
        for debt in match.debts:
            if debt.debt == event.scope:
                debt.number = event.number
                debt.due = event.due
        return
    match.deadline_kind = kind
    match.deadline_seat = event.seat
    match.deadline_number = event.number
    match.deadline_due = event.due
    match.clock_left = event.clock_left if kind == phases.AUCTION else RUNNING


def _deadline_extended(match: Match, event: e.DeadlineExtended) -> None:
    if event.kind == phases.OFFER:
        for offer in match.offers:
            if offer.number == event.number:
                offer.due = event.due
    elif event.kind == phases.DEBT:
        for debt in match.debts:
            if debt.number == event.number:
                debt.due = event.due
    else:
        match.deadline_due = event.due


def _decision_timed_out(match: Match, event: e.DecisionTimedOut) -> None:
    seat, kind = event.seat, event.kind
    if kind == phases.DEBT:
        debt = match.debt_of(seat)
        if debt is not None:
            debt.timed_out = True
    # CLOCK-3: bids are nobody's own turn; a debt of card 6 out of turn is no missed turn.
    if seat == match.turn and kind != phases.AUCTION:
        match.timed_out = True
    if kind == phases.ROLL:
        # CLOCK-2: a timed-out roll ends the turn, without a further roll and without a jump.
        match.rolls_again = False
        match.jump_pending = False


# Dice, moving and jail.


def _dice_rolled(match: Match, event: e.DiceRolled) -> None:
    white_1, third = event.white_1, event.third
    match.white_1 = white_1
    match.white_2 = event.white_2
    match.third = third
    match.next_counter = event.counter + event.blocks
    if third == e.X:
        match.jump_pending = True
    if white_1 != event.white_2 or match.in_jail[event.seat]:
        # JAIL-5: doubles in jail neither count nor give a further roll.
        match.rolls_again = False
    else:
        match.rolls_again = True
        # DIE3-4: a triple is no doubles and breaks a run of them.
        match.doubles = 0 if white_1 == third else match.doubles + 1


def _token_moved(match: Match, event: e.TokenMoved) -> None:
    match.square[event.seat] = event.target


def _jail_entered(match: Match, event: e.JailEntered) -> None:
    match.in_jail[event.seat] = True
    match.jail_attempts[event.seat] = 0
    match.rolls_again = False


def _jail_attempt_failed(match: Match, event: e.JailAttemptFailed) -> None:
    match.jail_attempts[event.seat] = event.attempt


def _jail_left(match: Match, event: e.JailLeft) -> None:
    match.in_jail[event.seat] = False
    match.jail_attempts[event.seat] = 0


def _jump_made(match: Match, _: e.JumpMade) -> None:
    match.jump_pending = False


def _card_drawn(match: Match, event: e.CardDrawn) -> None:
    match.last_card = event.card
    match.next_card = event.card % DECK_SIZE + 1


# Cash that simply comes or goes.


def _amount_received(
    match: Match, event: e.SalaryPaid | e.LandingBonusPaid | e.CashReceived
) -> None:
    match.cash[event.seat] += event.amount


def _bail_paid(match: Match, event: e.BailPaid) -> None:
    match.cash[event.seat] -= event.amount


def _cash_collected(match: Match, event: e.CashCollected) -> None:
    match.cash[event.from_seat] -= event.amount
    match.cash[event.to_seat] += event.amount


def _jackpot_bet_placed(match: Match, event: e.JackpotBetPlaced) -> None:
    match.cash[event.seat] -= event.stake


def _jackpot_rolled(match: Match, event: e.JackpotRolled) -> None:
    match.cash[event.seat] += event.payout
    match.next_counter = event.counter + event.blocks


# Property.


def _property_bought(match: Match, event: e.PropertyBought) -> None:
    match.cash[event.seat] -= event.price
    _give(match, event.square, event.seat)


def _property_released(match: Match, event: e.PropertyReleased) -> None:
    square = event.square
    match.group_levels[match.board.group_of[square]] -= match.level[square]
    match.level[square] = 0
    match.mortgaged_round[square] = 0
    _give(match, square, e.NOBODY)


def _level_built(match: Match, event: e.LevelBuilt) -> None:
    match.cash[event.seat] -= event.amount
    match.level[event.square] = event.level
    match.group_levels[match.board.group_of[event.square]] += 1
    match.built[event.square] += 1


def _level_sold(match: Match, event: e.LevelSold) -> None:
    match.cash[event.seat] += event.amount
    match.level[event.square] = event.level
    match.group_levels[match.board.group_of[event.square]] -= 1
    _managed(match, event.seat)


def _property_mortgaged(match: Match, event: e.PropertyMortgaged) -> None:
    match.cash[event.seat] += event.amount
    match.mortgaged_round[event.square] = match.round
    _managed(match, event.seat)


def _property_redeemed(match: Match, event: e.PropertyRedeemed) -> None:
    match.cash[event.seat] -= event.amount
    match.mortgaged_round[event.square] = 0


def _give(match: Match, square: int, seat: int) -> None:
    group = match.board.group_of[square]
    before = match.owner[square]
    if before != e.NOBODY:
        match.held[before][group] -= 1
    if seat != e.NOBODY:
        match.held[seat][group] += 1
    match.owner[square] = seat


# Auctions.


def _auction_opened(match: Match, event: e.AuctionOpened) -> None:
    match.auction = Auction(event.square, event.order, match.out[:], event.order[0])


def _bid_placed(match: Match, event: e.BidPlaced) -> None:
    auction = match.auction
    assert auction is not None
    auction.leader = event.seat
    auction.bid = event.amount
    _ask_next(match, auction)
    _acted(match, event.seat)


def _bid_passed(match: Match, event: e.BidPassed) -> None:
    auction = match.auction
    assert auction is not None
    auction.passed[event.seat] = True
    if event.seat == auction.bidder:
        _ask_next(match, auction)
    if not event.forced:
        _acted(match, event.seat)


def _bid_voided(match: Match, event: e.BidVoided) -> None:
    auction = match.auction
    assert auction is not None
    auction.passed[event.seat] = True
    auction.leader = e.NOBODY
    auction.bid = 0


def _ask_next(match: Match, auction: Auction) -> None:
    """Name the next seat to be asked: in order, neither passed nor leading (AUC-1, AUC-2)."""
    order = auction.order
    place = order.index(auction.bidder)
    for step in range(1, len(order) + 1):
        seat = order[(place + step) % len(order)]
        if not auction.passed[seat] and seat != auction.leader:
            auction.bidder = seat
            return
    auction.bidder = e.NOBODY


def _auction_closed(match: Match, event: e.AuctionClosed) -> None:
    match.auction = None
    if event.winner != e.NOBODY:
        match.cash[event.winner] -= event.amount
        _give(match, event.square, event.winner)


# Debts and going out.


def _debt_opened(match: Match, event: e.DebtOpened) -> None:
    match.debt_count = event.debt
    match.debts.append(
        Debt(
            event.debt,
            event.debtor,
            event.reason,
            event.amount,
            event.withheld,
            event.tax_bp,
            event.creditors,
        )
    )


def _debt_paid(match: Match, event: e.DebtPaid) -> None:
    debts, cash = match.debts, match.cash
    debt = debts[0]
    if debt.debt != event.debt:
        debt = next(debt for debt in debts if debt.debt == event.debt)
    debts.remove(debt)
    cash[event.debtor] -= event.withheld
    for seat, amount in event.amounts:
        cash[event.debtor] -= amount
        if seat != e.BANK:
            cash[seat] += amount
    if not debt.timed_out:
        _acted(match, event.debtor)


def _seat_bankrupted(match: Match, event: e.SeatBankrupted) -> None:
    _go_out(match, event.seat, event.shares)


def _seat_surrendered(match: Match, event: e.SeatSurrendered) -> None:
    _go_out(match, event.seat, event.shares)


def _go_out(match: Match, seat: int, shares: tuple[e.Share, ...]) -> None:
    for creditor, amount in shares:
        if creditor != e.BANK:
            match.cash[creditor] += amount
    match.cash[seat] = 0
    match.out[seat] = True
    match.out_order.append(seat)
    match.living -= 1
    match.in_jail[seat] = False
    match.jail_attempts[seat] = 0
    if seat == match.turn:
        match.jump_pending = False
        match.rolls_again = False
    match.debts = [debt for debt in match.debts if debt.debtor != seat]
    for debt in match.debts:
        # BANK-3: the share of a creditor who is gone goes to the bank, as an entry of its own.
        debt.creditors = tuple(
            (e.BANK if creditor == seat else creditor, amount)
            for creditor, amount in debt.creditors
        )


# Trades.


def _trade_offered(match: Match, event: e.TradeOffered) -> None:
    match.offer_count = event.offer
    match.offers.append(
        Offer(
            event.offer, event.proposer, event.receiver, event.give, event.take, event.expires
        )
    )
    _managed(match, event.proposer)


def _trade_accepted(match: Match, event: e.TradeAccepted) -> None:
    offer = _close(match, event.offer)
    change = offer.take.cash - offer.give.cash
    match.cash[offer.proposer] += change
    match.cash[offer.receiver] -= change
    for square in offer.give.squares:
        _give(match, square, offer.receiver)
    for square in offer.take.squares:
        _give(match, square, offer.proposer)
    _managed(match, offer.receiver)


def _trade_rejected(match: Match, event: e.TradeRejected) -> None:
    _managed(match, _close(match, event.offer).receiver)


def _trade_withdrawn(match: Match, event: e.TradeWithdrawn) -> None:
    _managed(match, _close(match, event.offer).proposer)


def _trade_closed(match: Match, event: e.TradeClosed) -> None:
    offer = _close(match, event.offer)
    if event.why == "no_longer_holds":
        # Only the receiver's acceptance finds that out, and that is a command of its own.
        _managed(match, offer.receiver)


def _close(match: Match, offer_id: int) -> Offer:
    offer = match.offer(offer_id)
    assert offer is not None
    match.offers.remove(offer)
    return offer


# Missed turns end by acting outside one's own turn (CLOCK-3).


def _acted(match: Match, seat: int) -> None:
    if seat != match.turn:
        match.missed_turns[seat] = 0


def _managed(match: Match, seat: int) -> None:
    """Note an act of managing property or trading, which not every revision counts."""
    if seat == match.turn or not match.rules.any_action_forgives:
        return
    debt = match.debt_of(seat)
    if debt is None or not debt.timed_out:
        match.missed_turns[seat] = 0


# The end, and operators.


def _match_ended(match: Match, event: e.MatchEnded) -> None:
    _stop(match)
    match.winners = event.winners
    match.placing = event.placing


def _match_aborted(match: Match, _: e.MatchAborted) -> None:
    _stop(match)


def _stop(match: Match) -> None:
    match.phase = phases.ENDED
    match.deadline_kind = ""
    match.auction = None
    match.debts = []
    match.offers = []
    match.jump_pending = False
    match.frozen_at = -1


def _match_frozen(match: Match, event: e.MatchFrozen) -> None:
    match.frozen_at = event.at_ms


def _match_resumed(match: Match, _: e.MatchResumed) -> None:
    match.frozen_at = -1


def _nothing(_: Match, __: e.Event) -> None:
    """For events that tell what is about to be decided, or why the next event comes."""


EVOLVE: Final[dict[type, Callable[[Match, Any], None]]] = {
    e.MatchCreated: _match_created,
    e.SeedContributed: _seed_contributed,
    e.MatchStarted: _match_started,
    e.RoundStarted: _round_started,
    e.TurnStarted: _turn_started,
    e.DeadlineSet: _deadline_set,
    e.DeadlineExtended: _deadline_extended,
    e.DecisionTimedOut: _decision_timed_out,
    e.DiceRolled: _dice_rolled,
    e.TokenMoved: _token_moved,
    e.SalaryPaid: _amount_received,
    e.LandingBonusPaid: _amount_received,
    e.PropertyOffered: _nothing,
    e.PropertyBought: _property_bought,
    e.PropertyDeclined: _nothing,
    e.PropertyReleased: _property_released,
    e.AuctionOpened: _auction_opened,
    e.BidPlaced: _bid_placed,
    e.BidPassed: _bid_passed,
    e.BidVoided: _bid_voided,
    e.AuctionClosed: _auction_closed,
    e.CardDrawn: _card_drawn,
    e.CashReceived: _amount_received,
    e.DebtOpened: _debt_opened,
    e.DebtPaid: _debt_paid,
    e.CashCollected: _cash_collected,
    e.LevelBuilt: _level_built,
    e.LevelSold: _level_sold,
    e.PropertyMortgaged: _property_mortgaged,
    e.PropertyRedeemed: _property_redeemed,
    e.MortgageReminded: _nothing,
    e.JailEntered: _jail_entered,
    e.JailAttemptFailed: _jail_attempt_failed,
    e.BailOffered: _nothing,
    e.BailPaid: _bail_paid,
    e.JailLeft: _jail_left,
    e.BusOffered: _nothing,
    e.BusMoveChosen: _nothing,
    e.TeleportOffered: _nothing,
    e.TeleportChosen: _nothing,
    e.JumpMade: _jump_made,
    e.JackpotOffered: _nothing,
    e.JackpotDeclined: _nothing,
    e.JackpotBetPlaced: _jackpot_bet_placed,
    e.JackpotRolled: _jackpot_rolled,
    e.TradeOffered: _trade_offered,
    e.TradeAccepted: _trade_accepted,
    e.TradeRejected: _trade_rejected,
    e.TradeWithdrawn: _trade_withdrawn,
    e.TradeClosed: _trade_closed,
    e.TurnMissed: _turn_missed,
    e.TurnEnded: _turn_ended,
    e.SeatBankrupted: _seat_bankrupted,
    e.SeatSurrendered: _seat_surrendered,
    e.MatchEnded: _match_ended,
    e.SeedRevealed: _nothing,
    e.MatchAborted: _match_aborted,
    e.MatchFrozen: _match_frozen,
    e.MatchResumed: _match_resumed,
}

"""What each event does, by its class."""

assert EVOLVE.keys() == set(get_args(e.Event)), "every event changes the match, or says not"
