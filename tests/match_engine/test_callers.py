import pytest

from libs.chassis.identity import Caller as MadeBy
from libs.chassis.identity import set_caller
from libs.chassis.roles import service
from libs.chassis.status import RefusedError
from libs.kernel.reasons import Reason
from libs.rules import events as e
from libs.store.access import Access, Watching
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
    seen_by,
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
        (pb.Caller(operator_id=ONE.player), Person(ONE.player, is_operator=True)),
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
    if seat == e.NOBODY:
        with pytest.raises(RefusedError) as caught:
            seat_of(caller, MATCH)
        assert caught.value.told.reason == Reason.NOT_SEATED
    else:
        assert seat_of(caller, MATCH) == seat


GUEST = PLAYER_IDS[4]
OPERATOR = Person(STRANGER, is_operator=True)

EVERYBODY: dict[str, Caller] = {
    "a seat": Person(ONE.player),
    "a guest": Person(GUEST),
    "a stranger": Person(STRANGER),
    "no player": Person(""),
    "an operator": OPERATOR,
    "the bot runner": BotSeat(1),
    "a service": Serving("timer"),
    "nobody": Nobody(),
}
"""Whoever may ask, by what they are called here."""

ALWAYS = {"a seat", "an operator", "the bot runner", "a service"}


@pytest.mark.parametrize(
    ("watching", "expected"),
    [
        (Watching.EVERYBODY, set(EVERYBODY)),
        (Watching.INVITED, ALWAYS | {"a guest"}),
        (Watching.SEATS, ALWAYS),
    ],
    ids=[*Watching],
)
def test_who_may_see_a_match(watching: Watching, expected: set[str]) -> None:
    players = [spec.player for spec in MATCH.specs]
    access = Access(watching, frozenset({GUEST}))

    assert {who for who, c in EVERYBODY.items() if may_see(c, players, access)} == expected


def test_lists_are_made_for_whoever_asks() -> None:
    found = {who: seen_by(caller) for who, caller in EVERYBODY.items()}

    assert found == {
        "a seat": ONE.player,
        "a guest": GUEST,
        "a stranger": STRANGER,
        "no player": "",
        "an operator": None,
        "the bot runner": None,
        "a service": None,
        "nobody": "",
    }
    assert seen_by(Person("no uuid")) == ""


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
    set_caller(MadeBy("gateway", gateway, on_behalf=pb.Caller()))
    for_nobody = present_caller()
    set_caller(MadeBy("gateway", gateway))
    untold = present_caller()
    set_caller(MadeBy("timer", frozenset({service("timer")})))
    as_itself = present_caller()

    assert for_somebody == Person(ONE.player)
    assert for_nobody == untold == Nobody()
    assert as_itself == Serving("timer")
