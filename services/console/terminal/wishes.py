"""What somebody wants to play, as the options of a command say."""

from dataclasses import dataclass

from libs.kernel.ids import MatchId


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What somebody wants to play.

    Attributes:
        rule_set, seats, bots: of a new room, the bots by their strengths.
        is_private: whether only those who are invited see the new room.
        is_quick: whether the lobby finds the others instead.
        room: the id of a room to join instead, empty for none.
        invite: the code of an invitation to a room to join instead, empty for none.
        match: the match to go on with instead, None for none.
        auto: the strength of the bot that chooses for the caller; empty for none.
        hint: what others add to `opolyx play --room ID` to get to the same place.
        back: what the caller adds to `opolyx play --match ID` to come back.

    """

    rule_set: str
    seats: int
    bots: tuple[str, ...] = ()
    is_private: bool = False
    is_quick: bool = False
    room: str = ""
    invite: str = ""
    match: MatchId | None = None
    auto: str = ""
    hint: str
    back: str
