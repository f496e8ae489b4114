"""Looking at matches: as they are, as they were, why, and whether it is true.

Cited: I1, I3, I6; FAIR-1.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from grpc import StatusCode

from libs.kernel.ids import MatchId
from libs.rules import commands as c
from libs.rules import phases
from libs.rules.evolve import apply
from libs.rules.explain import explain, why_not
from libs.rules.legal import LegalCommands
from libs.rules.match import Match
from libs.rules.views import view
from libs.wire.chain import follow
from libs.wire.commands import command_of, message_of
from libs.wire.heads import head_message
from libs.wire.views import legal_messages, match_message
from opolyx.match.v1 import match_pb2
from opolyx.match.v1 import match_service_pb2 as pb
from opolyx.record.v1 import record_pb2
from tests.e2e.rig import Refusal, Stage, Table, refusal, refusal_in
from tests.support.calling import Client, new_id

pytestmark = [pytest.mark.slow, pytest.mark.postgres]

INVALID: Final = StatusCode.INVALID_ARGUMENT


@pytest.fixture(scope="session")
async def played(stage: Stage) -> Table:
    """Return a match with a bit of everything, which somebody's debt holds up."""
    table = await stage.table(3)
    await table.reach(phases.AUCTION)
    await table.reach(phases.DEBT)
    return table


async def look(person: Client, kind: str, match_id: str, **fields: Any) -> Any:
    """Call a read of one match."""
    request = getattr(pb, f"{kind}Request")(match_id=match_id, **fields)
    return await person.call(getattr(person.match, kind), request)


async def test_a_match_is_shown_as_it_was_at_any_sequence(stage: Stage, played: Table) -> None:
    """I6."""
    watcher, match = stage.person("", "spectator"), Match()
    records = await played.records()
    ends = {record.last_seq: record.hash for record in records}
    for record in follow(records):
        for event in record.events:
            apply(match, [event])
            for person, viewer in ((played.people[1], 1), (watcher, None)):
                shown = await look(person, "GetMatch", played.match_id, sequence=match.sequence)
                should = match_message(
                    view(match, viewer),
                    shown.server_time_ms,
                    commitment=match.commitment,
                    chain_hash=ends.get(match.sequence, b""),
                )
                assert shown == should


async def test_what_is_listed_would_be_accepted_and_what_is_not_would_not(
    stage: Stage, played: Table
) -> None:
    match = await played.state()
    now_ms = stage.system.clock.now_ms()
    for seat, person in enumerate(played.people):
        listed = await look(person, "ListLegalCommands", played.match_id)
        legal = LegalCommands(match, seat)
        assert list(listed.legal_commands) == list(legal_messages(legal))
        assert (listed.sequence, listed.seat) == (match.sequence, seat)
        commands = [e.choice.command for e in listed.legal_commands if e.HasField("choice")]
        commands += [
            message_of(c.Roll(seat)),
            message_of(c.Build(seat, 1)),
            message_of(c.Pay(seat)),
        ]
        for command in commands:
            told = await look(person, "WhyNot", played.match_id, command=command)
            should = why_not(match, command_of(command, seat), now_ms)
            assert told.HasField("refused") == (should is not None)
            assert told.sequence == match.sequence
            if should is not None:
                given = refusal_in(told.refused)
                assert (given.reason, given.metadata["rule"]) == (should.reason, should.rule)


async def test_every_event_is_explained(played: Table) -> None:
    match = Match()
    for record in follow(await played.records()):
        for event in record.events:
            should = explain(match, event)
            apply(match, [event])
            told = await look(played.people[0], "Explain", played.match_id, sequence=match.sequence)
            assert (tuple(told.rules), told.text) == (should.rules, should.text)
            assert told.HasField("event")


async def test_records_are_read_page_by_page_and_decoded_for_people(played: Table) -> None:
    """I1, I3."""
    records = await played.records()
    pages = [page async for page in played.pages(page_size=2, decode=True)]
    read = [record for page in pages for record in page.records]
    decoded = [record for page in pages for record in page.decoded]

    assert [(r.first_seq, r.last_seq, r.hash, r.data) for r in read] == records
    assert {len(page.records) for page in pages[:-1]} == {2}
    assert {page.head_sequence for page in pages} == {records[-1].last_seq}
    assert decoded == [record_pb2.Record.FromString(record.data) for record in records]


async def test_a_part_of_the_records_is_read_by_whole_records(played: Table) -> None:
    records = await played.records()
    wide = next(record for record in records if record.last_seq > record.first_seq)
    page = await look(
        played.people[0],
        "ReadEvents",
        played.match_id,
        after_sequence=wide.first_seq,
        last_sequence=wide.last_seq,
    )

    assert [record.data for record in page.records] == [wide.data]
    assert page.next_page_token == ""


async def test_heads_are_signed_wherever_a_record_ends(stage: Stage, played: Table) -> None:
    """I3."""
    keys = await public_keys(stage.nobody())
    records = await played.records()
    for record in records:
        head = await look(stage.person(), "GetHead", played.match_id, sequence=record.last_seq)

        assert (head.sequence, head.chain_hash, head.ended) == (
            record.last_seq,
            record.hash,
            False,
        )
        check_signature(keys, head)
    newest = await look(stage.person(), "GetHead", played.match_id)
    assert newest.sequence == records[-1].last_seq
    with pytest.raises(InvalidSignature):
        check_signature(keys, match_pb2.SignedHead(**{**fields_of(newest), "ended": True}))


async def test_the_head_of_a_match_that_is_over_says_so(stage: Stage) -> None:
    """FAIR-1."""
    table = await stage.table()
    await table.submit(1, c.Surrender(1))
    head = await look(stage.person(), "GetHead", table.match_id)
    match = await table.match()

    assert (head.ended, head.sequence) == (True, match.sequence)
    assert (match.phase, list(match.winners)) == (match_pb2.Match.PHASE_ENDED, [0])
    check_signature(await public_keys(stage.nobody()), head)


def fields_of(head: match_pb2.SignedHead) -> dict[str, Any]:
    return {field.name: value for field, value in head.ListFields()}


async def public_keys(client: Client) -> dict[str, bytes]:
    listed = await client.call(client.match.ListKeys, pb.ListKeysRequest())
    return {key.key_id: key.public_key for key in listed.keys}


def check_signature(keys: dict[str, bytes], head: match_pb2.SignedHead) -> None:
    """Check a head as somebody does who has read how it is signed."""
    message = head_message(MatchId(head.match_id), head.sequence, head.chain_hash, ended=head.ended)
    Ed25519PublicKey.from_public_bytes(keys[head.key_id]).verify(head.signature, message)


async def test_who_has_a_reply_reads_it(table: Table) -> None:
    match = await table.state()
    seat = match.turn
    reply = await table.submit(seat, c.Roll(seat))
    person, roll = table.people[seat], {"command": message_of(c.Roll(seat))}
    for kind in READS:
        fields = roll if kind == "WhyNot" else {}
        if kind != "Explain":
            await look(person, kind, table.match_id, min_sequence=reply.sequence, **fields)
    shown = await look(person, "GetMatch", table.match_id, min_sequence=reply.sequence)

    assert shown.sequence >= reply.sequence


# How reads are refused.

READS: Final = ("GetMatch", "ListLegalCommands", "ReadEvents", "Explain", "WhyNot", "GetHead")


@pytest.mark.parametrize("kind", READS)
async def test_a_match_that_there_is_not_is_not_to_be_seen(stage: Stage, kind: str) -> None:
    fields: dict[str, Any] = {}
    if kind == "Explain":
        fields["sequence"] = 1
    if kind == "WhyNot":
        fields["command"] = message_of(c.Roll(0))
    person = stage.person()
    missing = look(person, kind, new_id(), **fields)
    unclear = look(person, kind, "x", **fields)

    assert await refusal(missing, StatusCode.NOT_FOUND) == Refusal("MATCH_NOT_FOUND", {})
    assert (await refusal(unclear, INVALID)).fields == ("match_id",)


@pytest.mark.parametrize(
    ("kind", "fields", "wrong"),
    [
        ("GetMatch", {"sequence": 0}, ("sequence",)),
        ("GetMatch", {"sequence": -1, "min_sequence": -1}, ("sequence", "min_sequence")),
        ("GetHead", {"sequence": 0}, ("sequence",)),
        ("GetHead", {"sequence": 1}, ("sequence",)),
        ("Explain", {}, ("sequence",)),
        ("ReadEvents", {"after_sequence": -1}, ("after_sequence",)),
        ("ReadEvents", {"last_sequence": -1, "page_size": -1}, ("last_sequence", "page_size")),
        ("ReadEvents", {"page_token": "AAAAAAAAAAAAAAAA"}, ("page_token",)),
        ("ReadEvents", {"page_token": "é"}, ("page_token",)),
        ("WhyNot", {}, ("command",)),
        ("ListLegalCommands", {"min_sequence": -1}, ("min_sequence",)),
    ],
)
async def test_a_read_that_makes_no_sense_names_its_fields(
    table: Table, kind: str, fields: dict[str, Any], wrong: tuple[str, ...]
) -> None:
    told = await refusal(look(table.people[0], kind, table.match_id, **fields), INVALID)

    assert told == Refusal("INVALID_REQUEST", {"fields": ",".join(wrong)}, wrong)


async def test_nobody_looks_into_the_future(table: Table) -> None:
    future: dict[str, dict[str, Any]] = {
        "GetMatch": {"sequence": 9_999},
        "Explain": {"sequence": 9_999},
        "GetHead": {"sequence": 9_999},
        "ReadEvents": {"after_sequence": 9_999},
        "ListLegalCommands": {"min_sequence": 9_999},
        "WhyNot": {"min_sequence": 9_999, "command": message_of(c.Roll(0))},
    }
    calls = [
        refusal(look(table.people[0], kind, table.match_id, **fields), StatusCode.ABORTED)
        for kind, fields in future.items()
    ]
    head = await table.head()

    told = Refusal("STALE_SEQUENCE", {"asked": "9999", "head": str(head.sequence)})
    assert await asyncio.gather(*calls) == [told] * len(future)


async def test_who_has_no_seat_has_no_commands(stage: Stage, table: Table) -> None:
    person = stage.person()
    listed = look(person, "ListLegalCommands", table.match_id)
    asked = look(person, "WhyNot", table.match_id, command=message_of(c.Roll(0)))

    told = Refusal("NOT_SEATED", {"seats": "2"})
    assert await refusal(listed, StatusCode.PERMISSION_DENIED) == told
    assert await refusal(asked, StatusCode.PERMISSION_DENIED) == told
