"""The names of a match's phases, which are the kinds of its deadlines too."""

from typing import Final

UNBORN: Final = "unborn"
"""Before the first event; never seen by anyone."""
SEEDING: Final = "seeding"
ROLL: Final = "roll"
BUY: Final = "buy"
AUCTION: Final = "auction"
DEBT: Final = "debt"
BAIL: Final = "bail"
BUS: Final = "bus"
TELEPORT: Final = "teleport"
JACKPOT: Final = "jackpot"
ENDED: Final = "ended"

OFFER: Final = "offer"
"""The deadline of a trade offer, which is no phase."""
