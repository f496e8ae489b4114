"""Heads are signed by the newest key, and the public halves of all are told (W10)."""

from pathlib import Path

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from libs.chassis.settings import SettingsError
from libs.wire.heads import head_message
from services.match_engine.signing import FIRST_KEY, FOLDER, PublicKey, SigningKeys
from tests.store.records import a_match_id

HASH = bytes(range(32))


def test_a_head_is_signed_by_a_key_that_is_told(tmp_path: Path) -> None:
    keys, match_id = SigningKeys.open(tmp_path), a_match_id()
    head = keys.sign(match_id, 7, HASH, ended=True)
    (public,) = keys.public()
    key = Ed25519PublicKey.from_public_bytes(public.public_key)
    key.verify(head.signature, head_message(match_id, 7, HASH, ended=True))

    assert (head.key_id, public.key_id) == (FIRST_KEY, FIRST_KEY)
    with pytest.raises(InvalidSignature):
        key.verify(head.signature, head_message(match_id, 8, HASH, ended=True))


def test_the_key_is_made_once(tmp_path: Path) -> None:
    first, second = SigningKeys.open(tmp_path), SigningKeys.open(tmp_path)

    assert first.public() == second.public()


def test_the_key_is_for_its_owner_alone(tmp_path: Path) -> None:
    SigningKeys.open(tmp_path)
    (key,) = (tmp_path / FOLDER).iterdir()

    assert key.stat().st_mode & 0o777 == 0o600


def test_every_deployment_has_a_key_of_its_own(tmp_path: Path) -> None:
    first, second = SigningKeys.open(tmp_path / "a"), SigningKeys.open(tmp_path / "b")

    assert first.public() != second.public()


def test_after_a_rotation_the_new_key_signs_and_the_old_one_is_told(tmp_path: Path) -> None:
    old = SigningKeys.open(tmp_path).public()[0]
    for number in (2, 3):
        (tmp_path / FOLDER / f"head-000{number}.key").write_text(f"{number:02}" * 32 + "\n")
    rotated = SigningKeys.open(tmp_path)

    assert rotated.sign(a_match_id(), 1, HASH, ended=False).key_id == "head-0003"
    assert [key.key_id for key in rotated.public()] == ["head-0003", "head-0002", FIRST_KEY]
    assert rotated.public()[-1] == old


def test_a_key_whose_private_half_was_thrown_away_is_told_still(tmp_path: Path) -> None:
    (old,) = SigningKeys.open(tmp_path).public()
    folder = tmp_path / FOLDER
    (folder / "head-0002.key").write_text("07" * 32)
    (folder / f"{FIRST_KEY}.pub").write_text(old.public_key.hex())
    (folder / f"{FIRST_KEY}.key").unlink()
    rotated = SigningKeys.open(tmp_path)

    assert [key.key_id for key in rotated.public()] == ["head-0002", FIRST_KEY]
    assert rotated.public()[1] == PublicKey(FIRST_KEY, old.public_key)


@pytest.mark.parametrize(
    ("name", "content"),
    [("head-0002.key", "07" * 31), ("head-0002.key", "no key"), ("Head_2.key", "07" * 32)],
    ids=["short", "nonsense", "badly named"],
)
def test_what_is_no_key_is_told_by_its_file(tmp_path: Path, name: str, content: str) -> None:
    SigningKeys.open(tmp_path)
    (tmp_path / FOLDER / name).write_text(content)

    with pytest.raises(SettingsError, match=name):
        SigningKeys.open(tmp_path)
