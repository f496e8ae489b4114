"""Bots play matches through a gateway: real gRPC, real rules, and a gateway that makes trouble."""

import asyncio
from collections.abc import Mapping
from types import MappingProxyType

import pytest

from libs.bots import strengths
from libs.bots.strengths import STRENGTHS
from libs.chassis.status import RefusedError, refused
from libs.client.client import Client
from libs.kernel.command_ids import bot_id
from libs.kernel.ids import MatchId, SeededIds
from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules import phases
from libs.rules.legal import LegalCommands
from libs.rules.refusals import Refusal
from libs.rules.rule_sets import RULE_SETS
from libs.rules.views import View
from libs.wire.chain import rebuild
from libs.wire.refusals import refused_message, tell
from opolyx.match.v1 import match_service_pb2 as pb
from services.bot_runner import choosing, sitting
from services.bot_runner.sitting import Manner, play
from tests.support.gateway import FakeGateway, Given, LiveMatch
from tests.support.waiting import until

AT_ONCE = Manner(pace_ms=0, choice_limit_ms=10_000)
BOTS = {0: "steady", 1: "shark", 2: "novice", 3: "steady"}


def table_of(seats: Mapping[int, str], **options: object) -> LiveMatch:
    return LiveMatch.of_bots(*seats.values(), **options)  # type: ignore[arg-type]


def bot_commands(live: LiveMatch) -> int:
    """Return how many records are of bots."""
    return sum(b"seat:" in record.data for record in live.records)


async def within(seconds: float, work: asyncio.Task[None]) -> None:
    async with asyncio.timeout(seconds):
        await work


@pytest.mark.slow
@pytest.mark.parametrize("rule_set", RULE_SETS)
async def test_a_match_of_bots_is_played_to_its_end(
    client: Client, gateway: FakeGateway, rule_set: str
) -> None:
    live = gateway.add(table_of(BOTS, rule_set=rule_set))

    async with asyncio.timeout(200):
        await play(client, live.match_id, BOTS, AT_ONCE)

    assert live.has_ended
    assert rebuild(live.records).phase == phases.ENDED
    # None of them was refused, or had to be let go by the clock.
    assert bot_commands(live) == len(live.given) == len(live.records) - 1


async def test_a_bot_says_which_command_it_gives_and_when(
    client: Client, gateway: FakeGateway
) -> None:
    live = gateway.add(table_of(BOTS))
    playing = asyncio.create_task(play(client, live.match_id, BOTS, AT_ONCE))
    await until(lambda: len(live.given) >= 20)
    playing.cancel()

    for seat, _, command_id, expected in live.given:
        assert expected is not None
        assert command_id == bot_id(live.match_id, expected, seat)


async def test_each_bot_has_a_chair_of_its_own_and_draws_it_up_when_it_must(
    client: Client, gateway: FakeGateway
) -> None:
    live = gateway.add(table_of(BOTS))
    playing = asyncio.create_task(play(client, live.match_id, BOTS, AT_ONCE))
    await until(lambda: len({given[0] for given in live.given}) == 4)
    playing.cancel()

    assert sorted(who for who, _ in gateway.opened) == [f"play {seat}" for seat in range(4)]
    assert gateway.opened[0] == ("play 0", 0)
    # The history is told once, whatever the number of bots.
    assert all(after > 0 for _, after in gateway.opened[1:])


@pytest.mark.slow
async def test_two_replicas_play_one_match(client: Client, gateway: FakeGateway) -> None:
    live = gateway.add(table_of(BOTS, rule_set="opolyx.classic@1"))

    async with asyncio.timeout(200):
        await asyncio.gather(*(play(client, live.match_id, BOTS, AT_ONCE) for _ in range(2)))

    assert live.has_ended
    records = list(live.records)
    assert len({record.last_seq for record in records}) == len(records)
    assert len(live.given) > bot_commands(live) == len(records) - 1


async def test_a_bot_plays_on_after_a_restart(client: Client, gateway: FakeGateway) -> None:
    live = gateway.add(table_of(BOTS))
    for _ in range(3):
        playing = asyncio.create_task(play(client, live.match_id, BOTS, AT_ONCE))
        before = len(live.records)
        await until(lambda: len(live.records) >= before + 20)  # noqa: B023 - is done within the loop
        playing.cancel()
        await asyncio.wait([playing])

    assert bot_commands(live) == len(live.records) - 1


async def test_bots_play_on_over_streams_that_are_cut_and_results_that_are_lost(
    client: Client, gateway: FakeGateway
) -> None:
    live = gateway.add(table_of(BOTS))
    playing = asyncio.create_task(play(client, live.match_id, BOTS, AT_ONCE))
    for count in range(20, 101, 20):
        await until(lambda: len(live.records) >= count)  # noqa: B023 - is done within the loop
        gateway.trouble.lose_results = 2
        gateway.cut()
    await until(lambda: len(live.records) >= 120)
    playing.cancel()

    assert bot_commands(live) == len(live.records) - 1


async def test_bots_leave_the_seats_of_people_alone(client: Client, gateway: FakeGateway) -> None:
    person = SeededIds(b"person").player_id(1)
    specs = [e.SeatSpec(e.BOT, "", "steady"), e.SeatSpec(e.PERSON, person)]
    live = gateway.add(LiveMatch("opolyx.classic@2", specs))
    live.fire()  # the person has no seed to give
    playing = asyncio.create_task(play(client, live.match_id, {0: "steady"}, AT_ONCE))
    for _ in range(2):
        await until(lambda: live.match.deadline is not None and live.match.deadline.seat == 1)
        live.fire()
    await until(lambda: bool(live.given))
    playing.cancel()

    assert {given[0] for given in live.given} == {0}


async def test_a_bot_answers_an_offer_though_it_is_not_its_turn(
    client: Client, gateway: FakeGateway
) -> None:
    person = SeededIds(b"person").player_id(1)
    specs = [e.SeatSpec(e.PERSON, person), e.SeatSpec(e.BOT, "", "steady")]
    live = gateway.add(LiveMatch("opolyx.classic@2", specs))
    live.fire()
    playing = asyncio.create_task(play(client, live.match_id, {1: "steady"}, AT_ONCE))
    offered = await _until_an_offer(live)
    await until(lambda: not live.match.offers)
    playing.cancel()

    answers = [g[1] for g in live.given if isinstance(g[1], c.AcceptTrade | c.RejectTrade)]
    assert [answer.offer for answer in answers] == [offered]


async def _until_an_offer(live: LiveMatch) -> int:
    """Play seat 0 until it can offer the bot something, and do so."""
    for _ in range(2_000):
        await until(lambda: live.match.deadline is not None and live.match.deadline.seat == 0)
        legal = LegalCommands(live.match, 0)
        for bounds in legal.trades():
            [partner] = bounds.partners
            if bounds.squares and partner.squares:
                give, take = e.Side(0, (bounds.squares[0],)), e.Side(0, (partner.squares[0],))
                if not isinstance(live.play(c.OfferTrade(0, 1, give, take), "seat:0"), Refusal):
                    return live.match.offers[0].offer
        first, *_ = legal.answers()
        live.play(first.command, "seat:0")  # type: ignore[union-attr]
    raise AssertionError("nobody got anything")


def _strategies(monkeypatch: pytest.MonkeyPatch, **changed: strengths.Strategy) -> None:
    monkeypatch.setattr(choosing, "STRENGTHS", MappingProxyType({**STRENGTHS, **changed}))


async def test_a_bot_that_fails_makes_safe_moves(
    client: Client, gateway: FakeGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: View, __: LegalCommands) -> c.SeatCommand | None:
        raise ZeroDivisionError

    _strategies(monkeypatch, novice=fail)
    live = gateway.add(table_of(BOTS))
    playing = asyncio.create_task(play(client, live.match_id, BOTS, AT_ONCE))
    await until(lambda: len(live.accepted(2)) >= 5)
    playing.cancel()

    safe = (c.Roll, c.Decline, c.Pass, c.Pay, c.RejectTrade, c.StayInJail, c.DeclineJackpot)
    assert all(isinstance(command, safe) for command in live.accepted(2))


async def test_a_bot_that_is_slow_makes_safe_moves(client: Client, gateway: FakeGateway) -> None:
    live = gateway.add(table_of(BOTS))
    never_in_time = Manner(pace_ms=0, choice_limit_ms=-1)
    playing = asyncio.create_task(play(client, live.match_id, BOTS, never_in_time))
    await until(lambda: len(live.given) >= 40)
    playing.cancel()

    assert not any(isinstance(given[1], c.Buy) for given in live.given)
    assert any(isinstance(given[1], c.Decline) for given in live.given)


async def test_a_bot_whose_choice_is_against_the_rules_makes_a_safe_move(
    client: Client, gateway: FakeGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    _strategies(monkeypatch, novice=lambda view, _: c.Build(view.viewer, 0))
    live = gateway.add(table_of(BOTS))
    playing = asyncio.create_task(play(client, live.match_id, BOTS, AT_ONCE))
    await until(lambda: bool(live.accepted(2)))
    playing.cancel()

    given = [given for given in live.given if given[0] == 2]
    assert [type(g[1]) for g in given[:2]] == [c.Build, c.Roll]
    assert given[0][2:] == given[1][2:]


async def test_a_bot_that_has_nothing_to_say_lets_the_clock_decide(
    client: Client, gateway: FakeGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def shrug(view: View, _: LegalCommands) -> c.SeatCommand | None:
        asked.append(view.sequence)
        return None

    _strategies(monkeypatch, steady=shrug)
    live = gateway.add(LiveMatch.of_bots("steady", "steady"))
    bots = {0: "steady", 1: "steady"}
    playing = asyncio.create_task(play(client, live.match_id, bots, AT_ONCE))
    await until(lambda: len(asked) == 1)
    live.fire()
    await until(lambda: len(asked) >= 2)
    playing.cancel()

    assert not live.given
    assert len(set(asked)) == len(asked)


async def test_a_refused_command_is_not_sent_again_before_something_happens(
    client: Client, gateway: FakeGateway
) -> None:
    live = gateway.add(table_of(BOTS))
    told = refused_message(tell(Refusal(Reason.MATCH_QUARANTINED, "", {})))

    def refuse(given: Given) -> pb.CommandResult:
        live.given.append(given)
        return pb.CommandResult(command_id=given[2], refused=told)

    gateway.trouble.before = refuse
    playing = asyncio.create_task(play(client, live.match_id, BOTS, AT_ONCE))
    await until(lambda: bool(live.given))
    live.fire()
    await until(lambda: len(live.given) >= 2)
    playing.cancel()

    at = [given[3] for given in live.given]
    assert len(set(at)) == len(at) == 2


async def test_a_command_without_an_answer_is_given_again_under_its_id(
    client: Client, gateway: FakeGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sitting, "ANSWER_S", 0.2)
    monkeypatch.setattr(sitting, "PAUSE_S", 0.01)
    live = gateway.add(table_of(BOTS))

    def forget(given: Given) -> pb.CommandResult | None:
        live.given.append(given)
        if len(live.given) > 1:
            return None
        return pb.CommandResult(command_id="another")

    gateway.trouble.before = forget
    playing = asyncio.create_task(play(client, live.match_id, BOTS, AT_ONCE))
    await until(lambda: len(live.records) >= 3)
    playing.cancel()

    assert live.given[0] == live.given[1]


async def test_bots_that_are_all_out_leave(client: Client, gateway: FakeGateway) -> None:
    live = gateway.add(table_of(BOTS))
    bots = {2: "novice", 3: "steady"}
    playing = asyncio.create_task(play(client, live.match_id, bots, AT_ONCE))
    await until(lambda: gateway.open_streams >= 1)
    for seat in bots:
        live.play(c.Surrender(seat), f"seat:{seat}")
    await within(20, playing)

    assert not live.has_ended
    await until(lambda: gateway.open_streams == 0)


async def test_bots_take_their_time(client: Client, gateway: FakeGateway) -> None:
    live = gateway.add(table_of(BOTS))
    loop = asyncio.get_running_loop()
    began_s = loop.time()
    paced = Manner(pace_ms=100, choice_limit_ms=10_000)
    playing = asyncio.create_task(play(client, live.match_id, BOTS, paced))
    await until(lambda: len(live.given) >= 5)
    took_s = loop.time() - began_s
    playing.cancel()

    assert took_s >= 0.5


async def test_a_match_that_is_not_there_is_said_to_be_so(client: Client) -> None:
    nowhere = MatchId(SeededIds(b"nowhere").match_id(1))

    with pytest.raises(RefusedError, match="MATCH_NOT_FOUND"):
        await play(client, nowhere, BOTS, AT_ONCE)


async def test_a_match_that_is_taken_away_is_said_to_be_so(
    client: Client, gateway: FakeGateway
) -> None:
    live = gateway.add(table_of(BOTS))
    patient = Manner(pace_ms=10_000, choice_limit_ms=10_000)
    playing = asyncio.create_task(play(client, live.match_id, BOTS, patient))
    await until(lambda: gateway.open_streams >= 1)
    gateway.cut(refused(Reason.MATCH_QUARANTINED))

    with pytest.raises(RefusedError, match="MATCH_QUARANTINED"):
        await within(20, playing)
