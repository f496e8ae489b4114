"""What every adapter must find of matches, and keep of what operators do to them.

Other tests share the store: each looks for what is its own.
"""

from collections.abc import Sequence

from libs.kernel.ids import MatchId
from libs.kernel.shards import shard_of
from libs.store.access import PUBLIC, Access, Label, Watching
from libs.store.directory import NewCall, Wanted
from libs.store.ports import FIRST_FENCE, Fenced, Ok, Published, SealedSeed, Status
from libs.wire.heads import SignedHead
from tests.store.records import AT_MS, SEED, a_command_id, a_match_id, a_record
from tests.store.rig import Rig

SCHEMA = 1


def a_player() -> str:
    return a_command_id()


class DirectoryContract:
    """Labels, who may see what, lists, the quarantine, and the calls of operators."""

    async def test_the_newest_matches_come_first_with_the_records_that_made_them(
        self, rig: Rig
    ) -> None:
        older, newer = sorted([await rig.begin(events=2), await rig.begin(events=2)])
        await rig.store.append(newer, FIRST_FENCE, 2, a_record(3), None, status=Status.FROZEN)
        await rig.store.quarantine(older, "a test")

        found = await rig.store.listed(Wanted())
        behind = await rig.store.listed(Wanted(), newer)
        first = await rig.store.listed(Wanted(), None, 1)

        by_id = {listed.head.match_id: listed for listed in found}
        ids = [listed.head.match_id for listed in found]
        assert ids == sorted(set(ids), reverse=True)
        assert found[:1] == first
        assert behind == [listed for listed in found if listed.head.match_id < newer]
        assert by_id[newer].head == await rig.store.head(newer)
        assert (by_id[newer].quarantined, by_id[older].quarantined) == (False, True)
        assert [by_id[newer].first] == await rig.store.records(newer, 0, 1)

    async def test_matches_are_found_by_all_that_is_asked(self, rig: Rig) -> None:
        ann, bob = a_player(), a_player()
        speed, classic, bobs = [
            await rig.begin(label=label)
            for label in (
                Label("speed", (ann,)),
                Label("classic", (bob, ann)),
                Label("speed", (bob,)),
            )
        ]
        await rig.store.append(speed, FIRST_FENCE, 1, a_record(2), None, status=Status.ENDED)
        await rig.store.quarantine(bobs, "a test")
        over = (Status.ENDED, Status.ABORTED)
        cases = {
            Wanted(player=ann): {speed, classic},
            Wanted(player=ann, rule_set="speed"): {speed},
            Wanted(rule_set="speed"): {speed, bobs},
            Wanted(match_id=classic): {classic},
            Wanted(match_id=classic, rule_set="speed"): set(),
            Wanted(statuses=over): {speed},
            Wanted(statuses=(Status.LIVE,)): {classic, bobs},
            Wanted(statuses=(Status.LIVE,), quarantined=False): {classic},
            Wanted(quarantined=True): {bobs},
            Wanted(match_id=a_match_id()): set(),
        }

        found = {wanted: await _of(rig, wanted, (speed, classic, bobs)) for wanted in cases}

        assert found == cases

    async def test_of_those_of_a_player_a_page_is_the_next_older_ones(self, rig: Rig) -> None:
        ann, made = a_player(), []
        for _ in range(5):
            made.append(await rig.begin(label=Label("classic", (ann,))))
            await rig.begin(label=Label("classic", (a_player(),)))
        made.sort(reverse=True)
        wanted = Wanted(player=ann)

        first = await rig.store.listed(wanted, None, 2)
        second = await rig.store.listed(wanted, made[1], 2)

        assert [listed.head.match_id for listed in (*first, *second)] == made[:4]

    async def test_only_those_are_listed_that_one_may_see(self, rig: Rig) -> None:
        seated, guest, stranger = a_player(), a_player(), a_player()
        public, invited, seats = [
            await rig.begin(label=Label("classic", (seated,), Access(watching, frozenset({guest}))))
            for watching in Watching
        ]
        unlabelled = await rig.begin()
        everything = (public, invited, seats, unlabelled)

        seen = {
            who: await _of(rig, Wanted(seen_by=who), everything)
            for who in (seated, guest, stranger, "", None)
        }

        assert seen == {
            seated: {public, invited, seats, unlabelled},
            guest: {public, invited, unlabelled},
            stranger: {public, unlabelled},
            "": {public, unlabelled},
            None: {public, invited, seats, unlabelled},
        }

    async def test_a_label_comes_with_the_match_and_its_load(self, rig: Rig) -> None:
        access = Access(Watching.INVITED, frozenset({a_player(), a_player()}))
        label = Label("classic", (a_player(), a_player()), access)
        match_id = await rig.begin(label=label)

        (listed,) = await rig.store.listed(Wanted(match_id=match_id))
        loaded = await rig.store.fence_and_load(match_id, schema_version=SCHEMA)

        found = await rig.store.label(match_id)
        assert loaded is not None
        assert loaded.access == access
        assert found == listed.label
        assert found is not None
        assert found._replace(players=tuple(sorted(found.players))) == label._replace(
            players=tuple(sorted(label.players))
        )
        assert await rig.store.label(a_match_id()) is None

    async def test_a_creation_that_comes_again_changes_no_label(self, rig: Rig) -> None:
        match_id, record = a_match_id(), a_record(1)
        private = Label("classic", (a_player(),), Access(Watching.SEATS))
        await rig.store.create(match_id, record, SEED, None, private)

        await rig.store.create(match_id, record, SEED, None, private._replace(access=PUBLIC))

        assert await rig.store.label(match_id) == private

    async def test_a_guest_is_let_in_by_the_writer_once_and_for_good(self, rig: Rig) -> None:
        first, late = a_player(), a_player()
        access = Access(Watching.INVITED, frozenset({first}))
        match_id = await rig.begin(label=Label("classic", (), access))

        outcomes = [await rig.store.admit(match_id, FIRST_FENCE, late) for _ in range(2)]
        loaded = await rig.store.fence_and_load(match_id, schema_version=SCHEMA)
        fenced = await rig.store.admit(match_id, FIRST_FENCE, a_player())

        assert outcomes == [Ok(), Ok()]
        assert fenced == Fenced()
        assert await rig.store.admit(a_match_id(), FIRST_FENCE, late) == Fenced()
        assert loaded is not None
        assert loaded.access == access.with_guest(late)

    async def test_a_match_is_labelled_once(self, rig: Rig) -> None:
        older, newer = sorted([await rig.begin(events=3), await rig.begin()])
        early = a_player()
        await rig.store.admit(older, FIRST_FENCE, early)

        waiting = dict(await rig.store.unlabelled())
        behind = dict(await rig.store.unlabelled(older))
        label = Label("classic", (a_player(),))
        await rig.store.put_label(older, label)
        await rig.store.put_label(older, Label("speed", ()))

        assert [waiting[older]] == await rig.store.records(older, 0, 1)
        assert newer in waiting
        assert newer in behind
        assert older not in behind
        assert older not in dict(await rig.store.unlabelled())
        assert await rig.store.label(older) == label._replace(access=PUBLIC.with_guest(early))

    async def test_a_match_that_goes_on_is_listed_as_such_though_others_are_published(
        self, rig: Rig
    ) -> None:
        running, over = await rig.begin(), await rig.begin()
        await rig.store.append(over, FIRST_FENCE, 1, a_record(2), None, status=Status.ENDED)
        await rig.store.set_published([Published(over, 2, complete=True)])
        live = Wanted(statuses=(Status.LIVE,))

        assert await _of(rig, live, (running, over)) == {running}
        assert over not in {h.match_id for h in await rig.store.open_heads({shard_of(over)})}

    async def test_a_quarantined_match_keeps_its_first_reason_until_it_is_released(
        self, rig: Rig
    ) -> None:
        match_id, other = sorted([await rig.begin(events=4), await rig.begin(events=4)])
        await rig.store.quarantine(match_id, "the chain is broken")
        await rig.store.quarantine(match_id, "still broken")
        await rig.store.quarantine(other, "broken too")

        listed = {each.match_id: each for each in await rig.store.quarantined()}
        behind = [each.match_id for each in await rig.store.quarantined(match_id)]
        (alone,) = await rig.store.quarantined(only=match_id)
        await rig.store.release(match_id)
        after = [each.match_id for each in await rig.store.quarantined()]

        assert (listed[match_id].reason, listed[match_id].seq) == ("the chain is broken", 4)
        assert listed[match_id].since_ms > AT_MS
        assert alone == listed[match_id]
        assert await rig.store.quarantined(only=match_id) == []
        assert list(listed) == sorted(listed)
        assert other in behind
        assert match_id not in behind
        assert match_id not in after
        assert other in after

    async def test_keys_that_were_used_are_told_with_what_hangs_on_them(self, rig: Rig) -> None:
        mine, heads = f"seal-{a_player()}", f"head-{a_player()}"
        ids = [a_match_id() for _ in range(4)]
        for match_id in ids:
            seed = SealedSeed(mine, b"sealed")
            await rig.store.create(match_id, a_record(1), seed, None, None)
        ended, frozen, aborted, _ = ids
        for match_id, status in ((ended, Status.ENDED), (aborted, Status.ABORTED)):
            record = a_record(2)
            signed = SignedHead(2, record.stored.hash, True, heads, b"signature")  # noqa: FBT003
            await rig.store.append(
                match_id, FIRST_FENCE, 1, record, None, status=status, signed=signed
            )
        await rig.store.append(frozen, FIRST_FENCE, 1, a_record(2), None, status=Status.FROZEN)

        used = await rig.store.keys_used()

        assert (used.seals[mine], used.signs[heads]) == (2, 2)
        assert mine not in used.signs

    async def test_calls_are_numbered_and_settled(self, rig: Rig) -> None:
        ann, bob, match_id = a_player(), a_player(), a_match_id()
        asked = [
            NewCall(ann, "FreezeMatch", match_id, a_command_id(), "a complaint"),
            NewCall(bob, "ReleaseMatch", match_id, None, "mended"),
            NewCall(ann, "AbortMatch", a_match_id(), a_command_id(), "a test"),
        ]
        numbers = [await rig.store.note_call(each) for each in asked]
        await rig.store.settle_call(numbers[0], "OK")

        of_ann = await rig.store.admin_calls(operator_id=ann)
        of_match = await rig.store.admin_calls(match_id=match_id)
        of_both = await rig.store.admin_calls(operator_id=bob, match_id=match_id)
        behind = await rig.store.admin_calls(operator_id=ann, before=numbers[2], limit=1)

        assert numbers == sorted(set(numbers))
        assert [(call.number, call.asked, call.outcome) for call in of_ann] == [
            (numbers[2], asked[2], ""),
            (numbers[0], asked[0], "OK"),
        ]
        assert [call.number for call in of_match] == [numbers[1], numbers[0]]
        assert [call.asked for call in of_both] == [asked[1]]
        assert behind == of_ann[1:]
        assert all(call.at_ms > AT_MS for call in of_ann)


async def _of(rig: Rig, wanted: Wanted, ids: Sequence[MatchId]) -> set[MatchId]:
    """Return which of these matches are listed."""
    return {listed.head.match_id for listed in await rig.store.listed(wanted)} & set(ids)
