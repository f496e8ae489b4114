import pytest

from libs.chassis.identity import Caller as MadeBy
from libs.chassis.identity import set_caller
from libs.chassis.roles import service
from libs.chassis.status import RefusedError
from libs.kernel.reasons import Reason
from libs.rules import events as e
from opolyx.engine.v1 import caller_pb2 as pb
from services.match_engine.callers import (
    BotSeat,
    Caller,
    Nobody,
    Person,
    Serving,
    caller_of,
    is_automatic,
    may_see,
    present_caller,
    seat_of,
    viewer_of,
)
from tests.support.builders import CLASSIC_2, PLAYER_IDS, bots, created, people

ONE, TWO = people(2)
MATCH = created(CLASSIC_2, (ONE, *bots(1), TWO))
"""A person, a bot, a person."""

STRANGER = PLAYER_IDS[5]


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (pb.Caller(player_id=ONE.player), Person(ONE.player)),
        (pb.Caller(operator_id=ONE.player), Person(ONE.player)),
        (pb.Caller(bot_seat=0), BotSeat(0)),
        (pb.Caller(service="timer"), Serving("timer")),
        (pb.Caller(), Nobody()),
    ],
)
def test_a_caller_is_read(message: pb.Caller, expected: Caller) -> None:
    assert caller_of(message) == expected


@pytest.mark.parametrize(
    ("caller", "seat"),
    [
        (Person(ONE.player), 0),
        (Person(TWO.player), 2),
        (BotSeat(1), 1),
        (Person(STRANGER), e.NOBODY),
        (Person(""), e.NOBODY),
        (BotSeat(0), e.NOBODY),
        (BotSeat(3), e.NOBODY),
        (BotSeat(-1), e.NOBODY),
        (Serving("timer"), e.NOBODY),
        (Nobody(), e.NOBODY),
    ],
)
def test_a_caller_has_the_seat_that_the_match_gave_it(caller: Caller, seat: int) -> None:
    assert viewer_of(caller, MATCH) == seat
    assert may_see(caller, MATCH.specs)
    if seat == e.NOBODY:
        with pytest.raises(RefusedError) as caught:
            seat_of(caller, MATCH)
        assert caught.value.told.reason == Reason.NOT_SEATED
    else:
        assert seat_of(caller, MATCH) == seat


def test_only_bots_and_services_derive_the_ids_of_their_commands() -> None:
    assert is_automatic(BotSeat(1))
    assert is_automatic(Serving("timer"))
    assert not is_automatic(Person(ONE.player))
    assert not is_automatic(Nobody())


async def test_a_service_calls_for_somebody_or_as_itself() -> None:
    on_behalf = pb.Caller(player_id=ONE.player)
    gateway = frozenset({service("gateway")})

    set_caller(MadeBy("gateway", gateway, on_behalf=on_behalf))
    for_somebody = present_caller()
    set_caller(MadeBy("gateway", gateway))
    as_itself = present_caller()

    assert for_somebody == Person(ONE.player)
    assert as_itself == Serving("gateway")
