"""Who asks, and what that is in a match: a seat, somebody who looks, or nobody."""

from collections.abc import Iterable
from dataclasses import dataclass

from libs.chassis import identity
from libs.chassis.status import refused
from libs.kernel.ids import is_uuid
from libs.kernel.reasons import Reason
from libs.rules import events as e
from libs.rules.match import Match
from libs.store.access import Access
from opolyx.engine.v1 import caller_pb2 as pb
from services.match_engine.allowed import BELIEVED
from services.match_engine.live import LiveMatch


@dataclass(frozen=True, slots=True)
class Person:
    """A person, who may have a seat; an operator is one too, and sees everything."""

    player_id: str
    is_operator: bool = False


@dataclass(frozen=True, slots=True)
class BotSeat:
    """The bot runner, acting for one seat; nobody where that seat is no bot's."""

    seat: int


@dataclass(frozen=True, slots=True)
class Serving:
    """A service that calls as itself, and has no seat anywhere."""

    name: str


@dataclass(frozen=True, slots=True)
class Nobody:
    """Nobody in particular: what is public may be seen."""


Caller = Person | BotSeat | Serving | Nobody


def caller_of(message: pb.Caller) -> Caller:
    """Read on whose behalf a service calls."""
    match message.WhichOneof("caller"):
        case "player_id":
            return Person(message.player_id)
        case "bot_seat":
            return BotSeat(message.bot_seat)
        case "operator_id":
            return Person(message.operator_id, is_operator=True)
        case "service":
            return Serving(message.service)
        case None:
            return Nobody()


def present_caller() -> Caller:
    """Return on whose behalf the call is made that is being handled.

    Who calls for others calls for nobody where it does not say for whom, and never as itself.
    """
    made_by = identity.caller()
    if made_by.on_behalf is not None:
        return caller_of(made_by.on_behalf)
    if made_by.service is None or made_by.service in BELIEVED:
        return Nobody()
    return Serving(made_by.service)


def is_automatic(caller: Caller) -> bool:
    """Tell whether *caller* derives the ids of its commands, as bots and services do (W3)."""
    return isinstance(caller, BotSeat | Serving)


def is_operator(caller: Caller) -> bool:
    """Tell whether *caller* is a person who may see everything."""
    return isinstance(caller, Person) and caller.is_operator


def viewer_of(caller: Caller, match: Match) -> int:
    """Return the seat that *caller* has in a match, `NOBODY` if none."""
    match caller:
        case Person(player_id):
            seats = (seat for seat, spec in enumerate(match.specs) if spec.player == player_id)
            # A bot's seat has no player, and must not be found by a caller without an id.
            return next(seats, e.NOBODY) if player_id else e.NOBODY
        case BotSeat(seat):
            is_bots = match.has_seat(seat) and match.specs[seat].kind == e.BOT
            return seat if is_bots else e.NOBODY
        case Serving() | Nobody():
            return e.NOBODY


def seat_of(caller: Caller, match: Match) -> int:
    """Return the seat that *caller* has in a match.

    Raises:
        RefusedError: NOT_SEATED, it has none.

    """
    seat = viewer_of(caller, match)
    if seat == e.NOBODY:
        raise refused(Reason.NOT_SEATED, seats=len(match.specs))
    return seat


def may_see(caller: Caller, players: Iterable[str], access: Access) -> bool:
    """Tell whether *caller* may see a match in which these people sit.

    Services may, the bot runner among them, whichever seat it acts for; and operators.
    """
    match caller:
        case Person(player_id, is_operator):
            return is_operator or access.lets_in(player_id, players)
        case BotSeat() | Serving():
            return True
        case Nobody():
            return access.lets_in("", players)


def seen_by(caller: Caller) -> str | None:
    """Return by whom what *caller* may see is seen, as `Wanted.seen_by` has it: None sees all."""
    match caller:
        case Person(player_id, is_operator):
            return None if is_operator else player_id if is_uuid(player_id) else ""
        case BotSeat() | Serving():
            return None
        case Nobody():
            return ""


def check_sees(caller: Caller, live: LiveMatch) -> None:
    """Go on if *caller* may see a match.

    Raises:
        RefusedError: MATCH_NOT_FOUND, as if it were not there.

    """
    if not may_see(caller, (spec.player for spec in live.match.specs), live.access):
        raise refused(Reason.MATCH_NOT_FOUND)
