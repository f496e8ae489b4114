"""Which player somebody is: asked of the lobby, kept for a while, and asked again."""

from collections.abc import AsyncIterator

import grpc
import pytest

from libs.chassis.channels import open_channel
from libs.kernel.reasons import Reason
from services.gateway.callers import AGAIN_S, LIFE_S, Players
from tests.chassis.answers import answer
from tests.gateway.neighbours import PLAYERS, Neighbours
from tests.support.times import Times


@pytest.fixture
def times() -> Times:
    return Times()


@pytest.fixture
def lobby() -> Neighbours:
    return Neighbours()


@pytest.fixture
async def players(lobby: Neighbours, times: Times) -> AsyncIterator[Players]:
    async with lobby.serving() as address, open_channel(address, retries=False) as channel:
        yield Players(channel, "issuer", monotonic_s=times)


async def test_who_somebody_is_is_asked_anew_after_a_while(
    players: Players, lobby: Neighbours, times: Times
) -> None:
    before = await players.find("ann", "Ann")
    times.now_s += LIFE_S - 1
    same = await players.find("ann", "Ann")
    lobby.players["ann"] = PLAYERS["cem"]
    times.now_s += 1
    after = await players.find("ann", "Ann")

    assert (before, same, after) == (PLAYERS["ann"], PLAYERS["ann"], PLAYERS["cem"])
    assert len(lobby.resolved) == 2


@pytest.mark.parametrize("reason", [Reason.STORE_UNAVAILABLE, Reason.OVERLOADED])
async def test_who_is_known_is_known_on_while_the_lobby_is_away(
    players: Players, lobby: Neighbours, times: Times, reason: Reason
) -> None:
    await players.find("ann", "Ann")
    times.now_s += LIFE_S
    lobby.resolves_by = reason
    known = [await players.find("ann", "Ann") for _ in range(3)]
    times.now_s += AGAIN_S
    lobby.resolves_by = None
    await players.find("ann", "Ann")

    assert known == [PLAYERS["ann"]] * 3
    assert len(lobby.resolved) == 3


async def test_whom_the_lobby_refuses_is_nobody_any_more(
    players: Players, lobby: Neighbours, times: Times
) -> None:
    await players.find("ann", "Ann")
    times.now_s += LIFE_S
    lobby.resolves_by = Reason.NOT_ALLOWED

    answers = [await answer(players.find("ann", "Ann")) for _ in range(2)]

    assert [got.code for got in answers] == [grpc.StatusCode.PERMISSION_DENIED] * 2
    assert not players._known


async def test_no_more_people_are_kept_than_is_said(lobby: Neighbours, times: Times) -> None:
    async with lobby.serving() as address, open_channel(address) as channel:
        players = Players(channel, "issuer", kept=2, monotonic_s=times)
        for name in ("ann", "bob", "ann", "cem"):
            await players.find(name, name)

    assert list(players._known) == ["ann", "cem"]
