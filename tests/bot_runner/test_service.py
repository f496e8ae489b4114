"""The service as a whole: told by the lobby and by the log, and going on after a restart."""

from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import grpc
import pytest

from libs.chassis.issuing import DevelopmentIssuer
from libs.chassis.status import answer_of
from libs.kernel.ids import SeededIds
from opolyx.bot.v1 import bot_service_pb2 as pb
from services.bot_runner import runner
from services.bot_runner.settings import BotRunnerSettings
from tests.bot_runner.served import Served, request, serving, settings_of
from tests.support.gateway import FakeGateway, LiveMatch, serving_gateway
from tests.support.waiting import until

pytestmark = pytest.mark.postgres

BOTS = {0: "steady", 1: "novice"}


@pytest.fixture
def live(gateway: FakeGateway) -> LiveMatch:
    return gateway.add(LiveMatch.of_bots("steady", "novice"))


@pytest.fixture
async def settings(
    tmp_path: Path, prepared: str, gateway: FakeGateway, issuer: DevelopmentIssuer
) -> AsyncIterator[BotRunnerSettings]:
    async with serving_gateway(gateway, issuer) as server:
        yield settings_of(tmp_path, prepared, server.address)


async def is_done(settings: BotRunnerSettings, live: LiveMatch) -> bool:
    connection = await asyncpg.connect(settings.store_url)
    try:
        done: bool | None = await connection.fetchval(
            "SELECT is_done FROM bot_runner.played_match WHERE match_id = $1", live.match_id
        )
    finally:
        await connection.close()
    return done is True


async def test_bots_that_are_seated_play_to_the_end_and_no_more(
    settings: BotRunnerSettings, gateway: FakeGateway, live: LiveMatch
) -> None:
    async with serving(settings) as served:
        await served.seat(live, BOTS)
        await until(lambda: is_done(settings, live))
    opened = len(gateway.opened)
    async with serving(settings) as served:
        await served.seat(live, BOTS)

    assert live.has_ended
    assert len(gateway.opened) == opened


async def test_bots_learn_of_their_seats_from_the_log(
    settings: BotRunnerSettings, live: LiveMatch
) -> None:
    async with serving(settings) as served:
        await served.publish(live, live.records)
        await until(lambda: is_done(settings, live))

    assert live.has_ended


@pytest.mark.parametrize("by", ["lobby", "log"])
async def test_bots_begin_as_soon_as_they_are_told(
    settings: BotRunnerSettings, live: LiveMatch, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    monkeypatch.setattr(runner, "LOOK_S", 3_600)
    async with serving(settings) as served:
        if by == "lobby":
            await served.seat(live, BOTS)
        else:
            await served.publish(live, live.records)

        await until(lambda: bool(live.given))


async def test_seats_are_durable_when_they_are_taken(
    settings: BotRunnerSettings, gateway: FakeGateway, live: LiveMatch
) -> None:
    del gateway.matches[live.match_id]
    async with serving(settings) as served:
        await served.seat(live, BOTS)
        assert not live.given
    gateway.add(live)

    async with serving(settings):
        await until(lambda: is_done(settings, live))
    assert live.has_ended


async def test_a_restart_goes_on_with_the_match(
    settings: BotRunnerSettings, live: LiveMatch
) -> None:
    async with serving(settings) as served:
        await served.seat(live, BOTS)
        await until(lambda: len(live.records) >= 30)
    stopped_at = len(live.records)
    assert not live.has_ended

    async with serving(settings):
        await until(lambda: is_done(settings, live))
    assert live.has_ended
    assert len(live.records) > stopped_at


async def test_two_replicas_end_a_match_together(
    settings: BotRunnerSettings, live: LiveMatch
) -> None:
    async with serving(settings) as served, serving(settings):
        await served.seat(live, BOTS)
        await until(lambda: is_done(settings, live))

    assert live.has_ended


async def test_a_match_that_is_made_later_is_waited_for(
    settings: BotRunnerSettings, gateway: FakeGateway, live: LiveMatch
) -> None:
    del gateway.matches[live.match_id]
    async with serving(settings) as served:
        await served.seat(live, BOTS)
        gateway.add(live)

        await until(lambda: live.has_ended)


async def test_a_gateway_that_comes_later_is_waited_for(
    tmp_path: Path,
    prepared: str,
    gateway: FakeGateway,
    issuer: DevelopmentIssuer,
    live: LiveMatch,
) -> None:
    async with serving_gateway(gateway, issuer) as server:
        address = server.address
    async with serving(settings_of(tmp_path, prepared, address)) as served:
        await served.seat(live, BOTS)
        async with serving_gateway(gateway, issuer, port=int(address.rpartition(":")[2])):
            await until(lambda: live.has_ended)


async def test_the_record_is_right_about_who_plays(
    settings: BotRunnerSettings, live: LiveMatch
) -> None:
    async with serving(settings) as served:
        await served.seat(live, {1 - live.match.turn: "shark"})
        assert not live.accepted(live.match.turn)
        await served.publish(live, live.records)
        await until(lambda: live.has_ended)

    connection = await asyncpg.connect(settings.store_url)
    rows = await connection.fetch("SELECT seat, strength FROM bot_runner.bot_seat ORDER BY seat")
    await connection.close()
    assert dict(map(tuple, rows)) == BOTS


async def test_a_match_that_is_over_in_the_log_is_not_played(
    settings: BotRunnerSettings, gateway: FakeGateway, live: LiveMatch
) -> None:
    del gateway.matches[live.match_id]
    while not live.has_ended:
        live.fire()
    async with serving(settings) as served:
        await served.publish(live, live.records)
        await until(lambda: is_done(settings, live))

    assert not gateway.opened


async def test_how_far_it_has_read_is_kept(settings: BotRunnerSettings, live: LiveMatch) -> None:
    live.fire()
    async with serving(settings) as served:
        await served.publish(live, live.records)
        await until(lambda: is_done(settings, live))

    connection = await asyncpg.connect(settings.store_url)
    last_seq = await connection.fetchval("SELECT last_seq FROM bot_runner.match_position")
    await connection.close()
    assert last_seq == live.records[1].last_seq


async def test_matches_beyond_the_limit_wait_for_room(
    tmp_path: Path, prepared: str, gateway: FakeGateway, issuer: DevelopmentIssuer
) -> None:
    first, second = (gateway.add(LiveMatch.of_bots("steady", "novice", seed=n)) for n in (1, 2))
    async with serving_gateway(gateway, issuer) as server:
        settings = settings_of(tmp_path, prepared, server.address, matches_max=1)
        async with serving(settings) as served:
            await served.seat(first, BOTS)
            await until(lambda: bool(first.given))
            await served.seat(second, BOTS)
            await until(lambda: bool(second.given))

            assert first.has_ended
            await until(lambda: second.has_ended)


async def test_the_bots_are_listed_from_the_weakest(settings: BotRunnerSettings) -> None:
    async with serving(settings, caller="gateway") as served:
        first = await served.bots.ListBots(pb.ListBotsRequest(page_size=2))
        rest = await served.bots.ListBots(pb.ListBotsRequest(page_token=first.next_page_token))

    assert [bot.strength for bot in first.bots] == ["novice", "steady"]
    assert [bot.strength for bot in rest.bots] == ["shark"]
    assert not rest.next_page_token


async def test_nobody_but_the_lobby_seats_bots(
    settings: BotRunnerSettings, live: LiveMatch
) -> None:
    async with serving(settings, caller="gateway") as served:
        with pytest.raises(grpc.aio.AioRpcError) as error:
            await served.seat(live, BOTS)

    told = answer_of(error.value).told
    assert told is not None
    assert told.reason == "NOT_ALLOWED"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (pb.SeatBotsRequest(command_id="x"), "command_id"),
        (pb.SeatBotsRequest(match_id="x"), "match_id"),
        (pb.SeatBotsRequest(seats=[pb.SeatBotsRequest.BotSeat(seat=8)]), "seats[2].seat"),
        (pb.SeatBotsRequest(seats=[pb.SeatBotsRequest.BotSeat(seat=1)]), "seats[2].seat"),
        (
            pb.SeatBotsRequest(seats=[pb.SeatBotsRequest.BotSeat(seat=2, strength="?")]),
            "seats[2].strength",
        ),
    ],
    ids=["no id", "no match", "no such seat", "a seat twice", "no such bot"],
)
async def test_a_request_that_is_wrong_names_what_is(
    settings: BotRunnerSettings, live: LiveMatch, change: pb.SeatBotsRequest, field: str
) -> None:
    wrong = request(live, BOTS)
    wrong.MergeFrom(change)
    async with serving(settings) as served:
        assert field in await _violations(served, wrong)
        assert await _violations(served, pb.SeatBotsRequest(match_id=_id())) == [
            "command_id",
            "seats",
        ]


async def _violations(served: Served, wrong: pb.SeatBotsRequest) -> list[str]:
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await served.bots.SeatBots(wrong)
    told = answer_of(error.value).told
    assert told is not None
    return [violation.field for violation in told.violations]


def _id() -> str:
    return SeededIds(b"a match").match_id(1)
