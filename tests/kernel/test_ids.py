"""Identifiers: their shape, and that they repeat."""

import uuid

import pytest

from libs.kernel.ids import MatchId, SeededIds, derived_command_id, fresh_id, is_uuid

MATCH = MatchId("0190a000-0000-7000-8000-000000000001")


def test_seeded_ids_are_version_7_and_carry_the_time() -> None:
    ids = SeededIds(b"seed")
    made = uuid.UUID(ids.match_id(1_700_000_000_123))

    assert made.version == 7
    assert made.variant == uuid.RFC_4122
    assert made.int >> 80 == 1_700_000_000_123


def test_seeded_ids_repeat_and_differ() -> None:
    ids, again = SeededIds(b"seed"), SeededIds(b"seed")
    made = [ids.match_id(5), ids.player_id(5), ids.command_id(5)]

    assert made == [again.match_id(5), again.player_id(5), again.command_id(5)]
    assert len(set(made)) == 3
    assert SeededIds(b"other").match_id(5) not in made


def test_a_derived_id_is_the_standard_version_5() -> None:
    expected = uuid.uuid5(uuid.UUID(MATCH), "fire:roll:0:12")

    assert derived_command_id(MATCH, "fire:roll:0:12") == str(expected)


@pytest.mark.parametrize("text", [MATCH, str(uuid.NAMESPACE_DNS)])
def test_a_uuid_is_known(text: str) -> None:
    assert is_uuid(text)


@pytest.mark.parametrize(
    "text", ["", MATCH.upper().replace("0", "A"), MATCH + "\n", MATCH[:-1], MATCH.replace("-", "")]
)
def test_other_spellings_are_not(text: str) -> None:
    assert not is_uuid(text)


def test_a_fresh_id_begins_with_its_time_and_ends_in_chance() -> None:
    one, other = fresh_id(0x0123_4567_89AB), fresh_id(0x0123_4567_89AB)

    assert one.startswith("01234567-89ab-7")
    assert is_uuid(one)
    assert one != other
