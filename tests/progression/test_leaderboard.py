"""Everybody by experience, page by page."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from libs.kernel.ids import PlayerId, SeededIds
from libs.kernel.reasons import Reason
from libs.store.connections import Connections
from libs.wire.paging import next_page_token
from opolyx.progression.v1 import progression_service_pb2 as pb
from services.progression.ranking import TOP, Leaderboard
from tests.progression.asking import refusal
from tests.progression.rig import ANN, BEN, EVE, NOBODY
from tests.progression.served import NOW_MS, Served, person, serving

pytestmark = pytest.mark.postgres

_IDS = SeededIds(b"many people")
PEOPLE = sorted(_IDS.player_id(NOW_MS) for _ in range(40))


@pytest.fixture
async def served(emptied: str, tmp_path: Path) -> AsyncIterator[Served]:
    async with serving(emptied, tmp_path) as opened:
        yield opened


async def earn(connections: Connections, earned: dict[PlayerId, int]) -> None:
    """Have people earned so much."""
    await connections.fetch(
        "INSERT INTO progression.profile (player_id, sequence, experience)"
        " SELECT player_id, 1, experience FROM unnest($1::uuid[], $2::bigint[])"
        " AS earned (player_id, experience)",
        list(earned),
        list(earned.values()),
    )


async def page(served: Served, metadata: Any = (), **fields: Any) -> pb.GetLeaderboardResponse:
    return await served.stub.GetLeaderboard(pb.GetLeaderboardRequest(**fields), metadata=metadata)


async def whole(served: Served, **fields: Any) -> list[tuple[int, str, int]]:
    """Return place, player and experience of all entries, from page to page."""
    entries, token = [], ""
    while True:
        response = await page(served, page_token=token, **fields)
        entries += [(each.place, each.player_id, each.experience) for each in response.entries]
        token = response.next_page_token
        if not token:
            return entries


def expected(earned: dict[PlayerId, int]) -> list[tuple[int, str, int]]:
    """Return what the leaderboard is, by its definition."""
    ordered = sorted(earned.items(), key=lambda each: (-each[1], each[0]))
    return [
        (1 + sum(other > experience for other in earned.values()), player_id, experience)
        for player_id, experience in ordered
    ]


async def test_the_most_experience_comes_first_with_its_level_and_rank(
    served: Served, connections: Connections
) -> None:
    await earn(connections, {ANN: 0, BEN: 4_500, EVE: 100})

    response = await page(served)

    assert [
        (each.place, each.player_id, each.experience, each.level, each.rank)
        for each in response.entries
    ] == [
        (1, BEN, 4_500, 10, "Trader"),
        (2, EVE, 100, 2, "Newcomer"),
        (3, ANN, 0, 1, "Newcomer"),
    ]
    assert response.next_page_token == ""


async def test_people_with_the_same_experience_share_a_place(
    served: Served, connections: Connections
) -> None:
    first, second, third, fourth = PEOPLE[:4]
    await earn(connections, {first: 100, second: 300, third: 100, fourth: 50})

    assert await whole(served) == [
        (1, second, 300),
        (2, first, 100),
        (2, third, 100),
        (4, fourth, 50),
    ]


async def test_whoever_never_finished_a_match_is_not_in_it(
    served: Served, connections: Connections
) -> None:
    await connections.fetch("INSERT INTO progression.profile (player_id) VALUES ($1)", ANN)

    assert await page(served) == pb.GetLeaderboardResponse()
    assert (await refusal(page(served, around=ANN)))[1] == Reason.PLAYER_NOT_FOUND


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    experiences=st.lists(st.integers(0, 6).map(lambda n: 100 * n), max_size=len(PEOPLE)),
    size=st.integers(1, 12),
)
async def test_pages_leave_nobody_out_and_count_places_through(
    served: Served, connections: Connections, experiences: Sequence[int], size: int
) -> None:
    earned = dict(zip(PEOPLE, experiences, strict=False))
    await connections.fetch("TRUNCATE progression.profile")
    await earn(connections, earned)

    assert await whole(served, page_size=size) == expected(earned)


@pytest.mark.parametrize("size", [1, 2, 3, 8, 9, 50])
@pytest.mark.parametrize("index", [0, 1, 20, 38, 39])
async def test_around_somebody_the_page_has_them_in_its_middle(
    served: Served, connections: Connections, size: int, index: int
) -> None:
    earned = {player_id: 100 * (n // 3) for n, player_id in enumerate(PEOPLE)}
    await earn(connections, earned)
    all_of_it = expected(earned)
    player_id = all_of_it[index][1]

    response = await page(served, around=player_id, page_size=size)
    entries = [(each.place, each.player_id, each.experience) for each in response.entries]
    rest = await whole(served, around=player_id, page_size=size)

    start = max(index - (size - 1) // 2, 0)
    assert entries == all_of_it[start : start + size]
    assert rest == all_of_it[start:]


async def test_around_oneself_is_around_the_caller(
    served: Served, connections: Connections
) -> None:
    await earn(connections, {ANN: 100, BEN: 200, EVE: 300})

    response = await page(served, person(BEN), around="self", page_size=1)

    assert [each.player_id for each in response.entries] == [BEN]


@pytest.mark.parametrize("who", ["", NOBODY], ids=["nobody", "somebody who never finished any"])
async def test_around_a_caller_who_is_not_in_it_is_nothing(
    served: Served, connections: Connections, who: str
) -> None:
    await earn(connections, {ANN: 100})

    told = await refusal(page(served, person(who) if who else (), around="self"))

    assert told == ("NOT_FOUND", Reason.PLAYER_NOT_FOUND, {})


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"around": "ann"}, "around"),
        ({"around": "SELF"}, "around"),
        ({"page_size": -1}, "page_size"),
        ({"page_token": "x"}, "page_token"),
        ({"page_size": -1, "around": "x", "page_token": "x"}, "page_size,around,page_token"),
    ],
)
async def test_what_is_wrong_with_a_request_is_named(
    served: Served, fields: dict[str, Any], wrong: str
) -> None:
    code, reason, facts = await refusal(page(served, **fields))

    assert (code, reason, facts["fields"]) == ("INVALID_ARGUMENT", Reason.INVALID_REQUEST, wrong)


@pytest.mark.parametrize("position", ["1", f"x/{ANN}", "1/x", f"{10**18}/{ANN}", f"-1/{ANN}"])
async def test_a_token_that_somebody_made_up_is_refused(served: Served, position: str) -> None:
    token = next_page_token(pb.GetLeaderboardRequest(), position)

    code, reason, _ = await refusal(page(served, page_token=token))

    assert (code, reason) == ("INVALID_ARGUMENT", Reason.INVALID_REQUEST)


async def test_a_token_is_good_for_its_own_request_alone(
    served: Served, connections: Connections
) -> None:
    await earn(connections, {ANN: 100, BEN: 200})
    token = (await page(served, page_size=1)).next_page_token

    code, _, _ = await refusal(page(served, page_token=token, around=ANN))

    assert code == "INVALID_ARGUMENT"


async def test_pages_have_fifty_entries_and_never_over_two_hundred(
    served: Served, connections: Connections
) -> None:
    await earn(connections, {_IDS.player_id(NOW_MS): n for n in range(250)})

    sizes = [len((await page(served, page_size=size)).entries) for size in (0, 200, 1_000_000)]

    assert sizes == [50, 200, 200]


async def test_a_page_is_found_by_the_index_and_counted_in_it_alone(
    connections: Connections,
) -> None:
    await earn(connections, {_IDS.player_id(NOW_MS): n // 7 for n in range(3_000)})
    await connections.fetch("ANALYZE progression.profile")
    asked: list[tuple[str, tuple[object, ...]]] = []

    class Noting:
        async def fetch(self, query: str, *args: object) -> list[Any]:
            asked.append((query, args))
            return await connections.fetch(query, *args)

        async def fetchrow(self, query: str, *args: object) -> Any:
            asked.append((query, args))
            return await connections.fetchrow(query, *args)

    leaderboard = Leaderboard(Noting())  # type: ignore[arg-type] # as far as it is used
    middle = (await leaderboard.page(TOP, 1_500))[-1].point
    await leaderboard.page(middle, 10)
    await leaderboard.before(PlayerId(middle.player_id), 5)

    plans = [
        "\n".join(row[0] for row in await connections.fetch(f"EXPLAIN {query}", *args))
        for query, args in asked
    ]
    assert all("Seq Scan on profile" not in plan for plan in plans), plans
    assert all("profile_ranked" in plan for plan in plans), plans
