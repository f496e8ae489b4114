"""What a service does in a match has one id, wherever it is worked out."""

from uuid import UUID, uuid5

import pytest

from libs.kernel.command_ids import bot_id, extend_id, fire_id, is_derived
from libs.kernel.ids import MatchId, is_uuid

MATCH = MatchId("01920000-0000-7000-8000-000000000000")
OTHER = MatchId("01920000-0000-7000-8000-000000000001")


def test_they_are_the_uuids_of_these_names_in_the_match() -> None:
    """W3: the names that the protocol gives them, in the match's id as namespace."""
    assert fire_id(MATCH, "roll:2:57") == str(uuid5(UUID(MATCH), "fire:roll:2:57"))
    assert extend_id(MATCH, 4) == str(uuid5(UUID(MATCH), "extend:4"))
    assert bot_id(MATCH, 130, 2) == str(uuid5(UUID(MATCH), "bot:130:2"))


def test_they_never_change() -> None:
    """Golden: records hold them. Never edit one."""
    assert fire_id(MATCH, "roll:2:57") == "7fedb17c-2f0c-54e6-9148-ff627166dc4f"
    assert extend_id(MATCH, 4) == "6763a566-4104-5bde-ae93-9618d33b2983"
    assert bot_id(MATCH, 130, 2) == "f0032163-fe33-58fa-ac23-91d2f1d549df"


def test_no_two_of_them_are_alike() -> None:
    ids = [
        fire_id(MATCH, "roll:2:57"),
        fire_id(MATCH, "roll:2:58"),
        fire_id(OTHER, "roll:2:57"),
        extend_id(MATCH, 1),
        bot_id(MATCH, 1, 12),
        bot_id(MATCH, 11, 2),
    ]

    assert len(set(ids)) == len(ids)
    assert all(is_uuid(command_id) and is_derived(command_id) for command_id in ids)


@pytest.mark.parametrize("version", "1234678")
def test_ids_of_other_versions_are_nobody_s_own(version: str) -> None:
    assert not is_derived(f"01920000-0000-{version}000-8000-000000000000")
