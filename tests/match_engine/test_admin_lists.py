"""What operators find: matches, private ones too, and those in quarantine."""

from typing import Any

from libs.kernel.reasons import Reason
from opolyx.admin.v1 import admin_service_pb2 as pb
from opolyx.match.v1 import match_pb2
from tests.match_engine.admin_rig import a_request, ask, calls
from tests.match_engine.edge_rig import UNKNOWN, Edge, a_bot, a_person, a_player, refusal
from tests.match_engine.watched import create, watched_by


class TestFindMatches:
    async def ids(self, edge: Edge, **asked: Any) -> list[str]:
        request, found = pb.FindMatchesRequest(page_size=2, **asked), []
        while True:
            page = await ask(edge, request)
            found += [each.summary.match_id for each in page.matches]
            if not page.next_page_token:
                return found
            request.page_token = page.next_page_token

    async def test_matches_are_found_by_all_that_is_asked(self, edge: Edge) -> None:
        player = a_player()
        made = []
        for n in range(5):
            edge.clock.advance(1)
            rule_set = "opolyx.speed@2" if n % 2 else "opolyx.classic@2"
            made.append(await edge.create([a_person(player), a_bot()], rule_set))
        await ask(edge, a_request("FreezeMatch", made[0]))
        await ask(edge, a_request("AbortMatch", made[1]))
        await edge.store.quarantine(made[2], "a test")
        statuses = match_pb2.MatchSummary.Status

        assert await self.ids(edge) == made[::-1]
        assert await self.ids(edge, player_id=player) == made[::-1]
        assert await self.ids(edge, player_id=a_player()) == []
        assert await self.ids(edge, rule_set="opolyx.speed@2") == [made[3], made[1]]
        assert await self.ids(edge, match_id=made[4]) == [made[4]]
        assert await self.ids(edge, match_id=UNKNOWN) == []
        assert await self.ids(edge, status=statuses.STATUS_FROZEN) == [made[0]]
        assert await self.ids(edge, status=statuses.STATUS_ENDED) == [made[1]]
        assert await self.ids(edge, status=statuses.STATUS_QUARANTINED) == [made[2]]
        assert await self.ids(edge, status=statuses.STATUS_RUNNING) == [made[4], made[3]]
        both = {"status": statuses.STATUS_RUNNING, "rule_set": "opolyx.speed@2"}
        assert await self.ids(edge, **both, player_id=player) == [made[3]]

    async def test_private_ones_too_and_it_is_said_how_private(self, edge: Edge) -> None:
        made = {await create(edge, watched_by(n)): n for n in (1, 2, 3)}

        found = (await ask(edge, pb.FindMatchesRequest())).matches

        assert {each.summary.match_id: each.watching for each in found} == made


class TestQuarantine:
    async def test_what_is_in_is_listed_by_id_with_what_is_wrong(self, edge: Edge) -> None:
        made = sorted([await edge.a_match(2) for _ in range(3)])
        for n, match_id in enumerate(made):
            await edge.store.quarantine(match_id, f"fault {n}")
        first = await ask(edge, pb.ListQuarantinedMatchesRequest(page_size=2))
        request = pb.ListQuarantinedMatchesRequest(page_token=first.next_page_token)
        second = await ask(edge, request)

        found = [*first.matches, *second.matches]
        assert len(first.matches) == 2
        assert not second.next_page_token
        assert [(each.match_id, each.cause) for each in found] == [
            (match_id, f"fault {n}") for n, match_id in enumerate(made)
        ]
        assert [each.sequence for each in found] == [await edge.head_of(each) for each in made]
        assert {each.since_ms for each in found} == {edge.clock.now_ms()}

    async def test_it_is_lifted_if_all_checks_out_and_stays_if_not(self, edge: Edge) -> None:
        match_id = await edge.a_match(20)
        records = edge.store._streams[match_id]._records
        good = records[7]
        edge.matches.drop_all(Reason.NOT_OWNER_OF_SHARD)
        records[7] = good._replace(data=good.data + b"\0")
        await refusal(ask(edge, a_request("FreezeMatch", match_id)))

        _, reason, facts = await refusal(ask(edge, a_request("ReleaseMatch", match_id)))
        still = (await ask(edge, pb.ListQuarantinedMatchesRequest())).matches
        records[7] = good
        released = await ask(edge, a_request("ReleaseMatch", match_id))

        assert reason == Reason.MATCH_QUARANTINED
        assert facts == {"cause": still[0].cause}
        assert [each.match_id for each in still] == [match_id]
        assert released.sequence == await edge.head_of(match_id)
        assert not (await ask(edge, pb.ListQuarantinedMatchesRequest())).matches
        await edge.play(match_id, 3)
        assert [outcome for *_, outcome in await calls(edge)] == [
            "OK",
            Reason.MATCH_QUARANTINED,
            Reason.MATCH_QUARANTINED,
        ]
