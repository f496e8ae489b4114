"""What is kept of a match until it ends: who plays it, by which rules, and who is out."""

from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from libs.kernel.ids import MatchId, PlayerId, is_uuid
from libs.rules import events as e
from libs.rules.rewards import Reward, reward_key, rewards
from libs.rules.rule_sets import RuleSet, rule_set
from libs.wire.events import UnreadableError

FOLDED: Final = (
    e.MatchCreated,
    e.SeatBankrupted,
    e.SeatSurrendered,
    e.MatchEnded,
    e.MatchAborted,
)
"""The events that matter here. All others of a match are passed over."""


@dataclass(frozen=True, slots=True)
class OpenMatch:
    """A match that goes on.

    Attributes:
        rule_set: the id of its rules.
        players: the player of each seat, empty for a bot.
        seats_out: the seats that are out.

    """

    rule_set: str
    players: tuple[str, ...]
    seats_out: frozenset[int] = frozenset()


class Earned(NamedTuple):
    """What a finished match brings to somebody who played it, be it nothing.

    Attributes:
        key: under which it is granted, once (XP-6).
        player_id, match_id, seat: whose it is, and for what.
        experience: the experience.
        cards: how many cards it brings whatever their level.
        levels_drop: whether new levels bring cards too, which they do in revision 2 (XP-5).

    """

    key: str
    player_id: PlayerId
    match_id: MatchId
    seat: int
    experience: int
    cards: int
    levels_drop: bool


def opened(event: e.MatchCreated) -> OpenMatch:
    """Return what is to be kept of a match that was made.

    Raises:
        UnreadableError: a person in it is nobody that there can be.

    """
    players = tuple(spec.player if spec.kind == e.PERSON else "" for spec in event.seats)
    if not all(is_uuid(player) for player in players if player):
        raise UnreadableError("a person without a player id")
    return OpenMatch(event.rule_set, players)


def with_out(match: OpenMatch, seat: int) -> OpenMatch:
    """Return the match with one more seat out."""
    return replace(match, seats_out=match.seats_out | {seat})


def earned(match_id: MatchId, match: OpenMatch, ended: e.MatchEnded) -> list[Earned]:
    """Return what each person's seat earned, by seat, be it nothing (XP-1 to XP-3).

    Raises:
        UnknownRuleSetError: it was played by rules that this version does not know.

    """
    rules = rule_set(match.rule_set)
    specs = [e.SeatSpec(e.PERSON if player else e.BOT, player) for player in match.players]
    out = [seat in match.seats_out for seat in range(len(specs))]
    paid = {reward.seat: reward for reward in rewards(ended, specs, rules, out)}
    return [
        _earned(match_id, player, paid.get(seat, Reward(seat, 0)), rules)
        for seat, player in enumerate(match.players)
        if player
    ]


def _earned(match_id: MatchId, player: str, reward: Reward, rules: RuleSet) -> Earned:
    return Earned(
        key=reward_key(match_id, reward.seat),
        player_id=PlayerId(player),
        match_id=match_id,
        seat=reward.seat,
        experience=reward.experience,
        cards=reward.cards,
        levels_drop=rules.every_seat_earns,
    )
