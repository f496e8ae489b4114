"""A bot is asked whenever the match waits for its seat, and never about the past."""

import asyncio

import pytest

from libs.chassis.issuing import DevelopmentIssuer
from libs.client import Accepted, Client, Refused, RefusedError, Turn, commands
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules import phases
from libs.rules.clocks import next_deadline
from tests.support.gateway import FakeGateway, LiveMatch, serving_gateway
from tests.support.waiting import until


def first(turn: Turn) -> c.SeatCommand:
    return turn.answers[0].command


async def play_to_the_end(client: Client, live: LiveMatch) -> list[Turn]:
    """Play the seat of *client*; the clock plays the other."""
    played = []
    async with asyncio.timeout(60), client.play(live.match_id) as table:
        async for turn in table.turns():
            assert isinstance(await turn.play(first(turn)), Accepted)
            played.append(turn)
            while not live.has_ended and not is_asked(live, turn.seat):
                live.fire()
    return played


def is_asked(live: LiveMatch, seat: int) -> bool:
    deadline = next_deadline(live.match)
    return deadline is not None and deadline.seat == seat and deadline.kind != phases.OFFER


async def test_a_turn_shows_what_the_match_waits_for(client: Client, live: LiveMatch) -> None:
    async with client.play(live.match_id) as table:
        turn = await anext(table.turns())

    assert [choice.command for choice in turn.answers] == [c.Roll(live.match.turn)]
    assert (turn.seat, turn.sequence) == (live.match.turn, live.match.sequence)
    assert turn.cash == live.match.cash[turn.seat]


async def test_a_match_is_played_to_its_end(client: Client, live: LiveMatch) -> None:
    played = await play_to_the_end(client, live)

    assert live.has_ended
    assert live.accepted(played[0].seat) == [given[1] for given in live.given]


async def test_each_turn_is_asked_once_though_its_results_are_lost(
    client: Client, live: LiveMatch, gateway: FakeGateway
) -> None:
    gateway.trouble.lose_results = 3
    turns = []
    async with asyncio.timeout(20), client.play(live.match_id) as table:
        async for turn in table.turns():
            turns.append(turn.sequence)
            assert isinstance(await turn.play(first(turn)), Accepted)
            if len(turns) == 2 or not is_asked(live, turn.seat):
                break

    assert len(set(turns)) == len(turns)
    assert len({given[2] for given in live.given}) == len(turns) < len(live.given)


async def test_who_comes_late_is_asked_about_the_present_alone(
    client: Client, live: LiveMatch
) -> None:
    seat = live.match.turn
    live.fire()
    while not is_asked(live, seat):
        live.fire()
    async with asyncio.timeout(20), client.play(live.match_id) as table:
        turn = await anext(table.turns())

    assert len(live.records) > 2
    assert turn.sequence == live.match.sequence


async def test_a_turn_of_the_past_is_refused_and_comes_again(
    client: Client, live: LiveMatch
) -> None:
    async with asyncio.timeout(20), client.play(live.match_id) as table:
        turns = table.turns()
        turn = await anext(turns)
        live.fire()
        reply = await turn.play(c.Roll(turn.seat))
        while not is_asked(live, turn.seat):
            live.fire()
        again = await anext(turns)

    assert isinstance(reply, Refused)
    assert reply.reason == "STALE_SEQUENCE"
    assert again.sequence > turn.sequence


async def test_a_refusal_tells_its_rule_and_its_numbers(client: Client, live: LiveMatch) -> None:
    async with client.play(live.match_id) as table:
        turn = await anext(table.turns())
        reply = await turn.play(commands.Buy(turn.seat))

    assert isinstance(reply, Refused)
    assert (reply.reason, reply.rule) == ("WRONG_PHASE", reply.metadata["rule"])
    assert reply.metadata["phase"] == "roll"
    assert reply.text == "Another decision is pending. (TURN-1; phase roll)"
    assert not reply.is_passing


@pytest.mark.parametrize("seed", [b"", b"sixteen bytes at"], ids=["declined", "given"])
async def test_the_question_for_a_seed_is_answered(issuer: DevelopmentIssuer, seed: bytes) -> None:
    people = [e.SeatSpec(e.PERSON, f"seat-{n}", "") for n in (0, 1)]
    live = LiveMatch("opolyx.classic@2", people)
    live.play(c.ContributeSeed(1, b""), "seat:1")
    token = issuer.issue("seat-0")
    async with (
        serving_gateway(FakeGateway(live), issuer) as server,
        Client.connect(server.address, token) as client,
        asyncio.timeout(20),
        client.play(live.match_id) as table,
    ):
        asking = asyncio.ensure_future(anext(table.turns(seed)))
        await until(lambda: live.match.phase != phases.SEEDING)
        while not is_asked(live, 0):
            live.fire()

        assert (await asking).seat == 0
    assert live.accepted(0) == [c.ContributeSeed(0, seed)]


async def test_who_has_no_seat_has_no_turns(
    gateway: FakeGateway, live: LiveMatch, issuer: DevelopmentIssuer
) -> None:
    token = issuer.issue("seat-7")
    async with (
        serving_gateway(gateway, issuer) as server,
        Client.connect(server.address, token) as client,
        client.play(live.match_id) as table,
    ):
        with pytest.raises(RefusedError) as error:
            await anext(table.turns())

    assert error.value.reason == "NOT_SEATED"
    assert str(error.value).startswith("NOT_SEATED: ")
