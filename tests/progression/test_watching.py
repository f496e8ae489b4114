"""Profiles that are watched: now, again when they have changed, and signs of life between."""

import asyncio
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path
from typing import Any

import pytest

from libs.chassis.together import cancel_all
from libs.kernel.ids import PlayerId
from libs.kernel.reasons import Reason
from libs.store.connections import Connections
from opolyx.progression.v1 import profile_pb2
from opolyx.progression.v1 import progression_service_pb2 as pb
from opolyx.progression.v1.progression_service_pb2_grpc import ProgressionServiceStub
from services.progression.profiles import Profiles
from services.progression.watching import Watcher
from tests.progression.asking import refusal
from tests.progression.played import Played, played
from tests.progression.rig import ANN, BEN, NOBODY, Rig
from tests.progression.served import NOW_MS, Served, person, serving
from tests.support.builders import CLASSIC_2

pytestmark = pytest.mark.postgres

NEVER_S = 3_600.0


def watch(served: Served, player_id: str = "", metadata: Any = ()) -> Any:
    request = pb.WatchProfileRequest(player_id=player_id)
    return served.stub.WatchProfile(request, metadata=metadata, timeout=60)


async def told(stream: Any) -> profile_pb2.Profile:
    """Return the next profile on a stream."""
    while not (response := await stream.read()).HasField("profile"):
        pass
    profile: profile_pb2.Profile = response.profile
    return profile


async def test_a_profile_is_told_at_once_and_whenever_another_replica_has_changed_it(
    emptied: str, tmp_path: Path, rig: Rig, match: Played
) -> None:
    async with serving(emptied, tmp_path, poll_s=0.05) as served:
        stream = watch(served, ANN)
        empty = await told(stream)
        await rig.read(match.table)
        first = await told(stream)
        await rig.read(played(CLASSIC_2, 4, [BEN, ANN]).table)
        second = await told(stream)

        assert (empty.player_id, empty.sequence, empty.level) == (ANN, 0, 1)
        assert first.experience == match.experience(0)
        assert first.sequence < second.sequence
        assert second == await served.profile(ANN)


async def test_what_the_replica_itself_grants_is_told_without_a_look_at_the_store(
    emptied: str, tmp_path: Path, match: Played
) -> None:
    async with serving(emptied, tmp_path, poll_s=NEVER_S) as served:
        stream = watch(served, ANN)
        await told(stream)
        await served.publish(match.match_id, match.records)

        assert (await told(stream)).experience == match.experience(0)


async def test_nobody_named_is_the_caller(emptied: str, tmp_path: Path) -> None:
    async with serving(emptied, tmp_path) as served:
        assert (await told(watch(served, metadata=person(BEN)))).player_id == BEN


async def test_a_quiet_stream_gives_signs_of_life(emptied: str, tmp_path: Path) -> None:
    async with serving(emptied, tmp_path, heartbeat_s=0.05) as served:
        stream = watch(served, ANN)
        await told(stream)

        assert [await stream.read() for _ in range(3)] == [
            pb.WatchProfileResponse(server_time_ms=NOW_MS)
        ] * 3


async def test_a_stream_goes_away_with_the_service(emptied: str, tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        async with serving(emptied, tmp_path) as served:
            channel = served.foundation.channel("gateway", served.address, retries=False)
            stub = ProgressionServiceStub(await stack.enter_async_context(channel))
            stream: Any = stub.WatchProfile(pb.WatchProfileRequest(player_id=ANN), timeout=60)
            await told(stream)

        assert (await refusal(stream.read()))[:2] == ("UNAVAILABLE", Reason.GOING_AWAY)


@pytest.mark.parametrize(
    ("player_id", "code", "reason"),
    [("", "NOT_FOUND", "PLAYER_NOT_FOUND"), ("ann", "INVALID_ARGUMENT", "INVALID_REQUEST")],
)
async def test_somebody_must_be_meant(
    emptied: str, tmp_path: Path, player_id: str, code: str, reason: str
) -> None:
    async with serving(emptied, tmp_path) as served:
        assert (await refusal(watch(served, player_id).read()))[:2] == (code, reason)


class TestAWatcher:
    @pytest.fixture
    def watcher(self, connections: Connections) -> Watcher:
        return Watcher(Profiles(connections), 0.02)

    async def test_keeps_nothing_of_whom_nobody_watches(self, watcher: Watcher) -> None:
        with ExitStack() as stack:
            one = stack.enter_context(watcher.watching(ANN))
            with watcher.watching(ANN) as other, watcher.watching(BEN):
                assert one is other
                assert len(watcher._watched) == 2
            assert list(watcher._watched) == [ANN]

        assert not watcher._watched

    async def test_tells_all_who_watch_and_only_what_they_do_not_know(
        self, watcher: Watcher, rig: Rig, match: Played
    ) -> None:
        looking = asyncio.create_task(watcher.run())
        try:
            with watcher.watching(ANN) as ann, watcher.watching(NOBODY) as nobody:
                waits = [asyncio.create_task(ann.is_beyond(0, within_s=20)) for _ in range(3)]
                await rig.read(match.table)
                heard = await asyncio.gather(*waits)
                sequence = (await rig.progress(ANN)).sequence

                assert heard == [True] * 3
                assert ann.sequence == sequence
                assert not await ann.is_beyond(sequence, within_s=0.1)
                assert nobody.sequence == 0
        finally:
            await cancel_all([looking])

    async def test_looks_at_nobody_while_nobody_watches(self, connections: Connections) -> None:
        looks: list[dict[PlayerId, int]] = []

        class Noting(Profiles):
            async def moved(self, known: Any) -> list[tuple[PlayerId, int]]:
                looks.append(known)
                return await super().moved(known)

        watcher = Watcher(Noting(connections), 0.01)
        looking = asyncio.create_task(watcher.run())
        try:
            watcher.ring()
            await asyncio.sleep(0.05)
            none = list(looks)
            with watcher.watching(ANN) as ann:
                await ann.is_beyond(0, within_s=0.1)
        finally:
            await cancel_all([looking])

        assert not none
        assert looks
        assert all(known == {ANN: 0} for known in looks)
