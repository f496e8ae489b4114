"""What can be going on in a match beside the turn: an auction, debts, trade offers."""

from dataclasses import dataclass

from libs.rules.events import NOBODY, Share, Side


@dataclass(slots=True)
class Auction:
    """An auction that is going on; *bidder* is asked, *passed* marks seats by index."""

    square: int
    order: tuple[int, ...]
    passed: list[bool]
    bidder: int = NOBODY
    leader: int = NOBODY
    bid: int = 0

    def copy(self) -> "Auction":
        """Return an independent copy."""
        return Auction(self.square, self.order, self.passed[:], self.bidder, self.leader, self.bid)


@dataclass(slots=True)
class Debt:
    """A payment pause: who owes what to whom, and until when."""

    debt: int
    debtor: int
    reason: str
    amount: int
    withheld: int
    tax_bp: int
    creditors: tuple[Share, ...]
    number: int = 0
    due: int = 0
    timed_out: bool = False

    def copy(self) -> "Debt":
        """Return an independent copy."""
        return Debt(
            self.debt,
            self.debtor,
            self.reason,
            self.amount,
            self.withheld,
            self.tax_bp,
            self.creditors,
            self.number,
            self.due,
            self.timed_out,
        )


@dataclass(slots=True)
class Offer:
    """An open trade offer."""

    offer: int
    proposer: int
    receiver: int
    give: Side
    take: Side
    due: int
    number: int = 0

    def copy(self) -> "Offer":
        """Return an independent copy."""
        return Offer(
            self.offer,
            self.proposer,
            self.receiver,
            self.give,
            self.take,
            self.due,
            self.number,
        )
