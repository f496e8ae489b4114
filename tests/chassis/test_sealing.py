"""Secrets at rest: sealed under a key from a file, bound to whose they are, with keys that turn."""

import stat
from pathlib import Path

import pytest

from libs.chassis.sealing import (
    FIRST_KEY,
    KEY_SIZE,
    NONCE_SIZE,
    GivenUpError,
    Sealed,
    Sealer,
    UnsealableError,
)
from libs.chassis.settings import SettingsError

SECRET = bytes(range(32))
WHOSE = b"a match"


def put_key(folder: Path, key_id: str, text: str = "ab" * KEY_SIZE) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{key_id}.key").write_text(text)


def test_what_was_sealed_opens_again_after_a_restart(tmp_path: Path) -> None:
    sealed = Sealer.open(tmp_path / "keys").seal(SECRET, bound_to=WHOSE)

    assert Sealer.open(tmp_path / "keys").unseal(sealed, bound_to=WHOSE) == SECRET


def test_a_secret_is_not_to_be_seen_in_what_was_sealed(tmp_path: Path) -> None:
    sealer = Sealer.open(tmp_path)

    first, second = (sealer.seal(SECRET, bound_to=WHOSE) for _ in range(2))

    assert SECRET not in first.sealed
    assert first.sealed[:NONCE_SIZE] != second.sealed[:NONCE_SIZE]


def test_a_secret_opens_for_nobody_else(tmp_path: Path) -> None:
    sealer = Sealer.open(tmp_path)
    sealed = sealer.seal(SECRET, bound_to=WHOSE)

    with pytest.raises(UnsealableError):
        sealer.unseal(sealed, bound_to=b"another match")


@pytest.mark.parametrize("changed", [0, NONCE_SIZE, -1])
def test_a_changed_byte_is_found(tmp_path: Path, changed: int) -> None:
    sealer = Sealer.open(tmp_path)
    sealed = bytearray(sealer.seal(SECRET, bound_to=WHOSE).sealed)
    sealed[changed] ^= 1

    with pytest.raises(UnsealableError):
        sealer.unseal(Sealed(FIRST_KEY, bytes(sealed)), bound_to=WHOSE)


@pytest.mark.parametrize("size", [0, NONCE_SIZE, NONCE_SIZE + 15])
def test_too_few_bytes_are_no_secret(tmp_path: Path, size: int) -> None:
    sealer = Sealer.open(tmp_path)

    with pytest.raises(UnsealableError):
        sealer.unseal(Sealed(FIRST_KEY, bytes(size)), bound_to=WHOSE)


def test_the_first_start_makes_a_key_for_its_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "keys"

    Sealer.open(folder)

    assert [path.name for path in folder.iterdir()] == [f"{FIRST_KEY}.key"]
    assert stat.S_IMODE((folder / f"{FIRST_KEY}.key").stat().st_mode) == stat.S_IRUSR | stat.S_IWUSR


def test_the_key_with_the_last_name_seals_and_the_others_still_open(tmp_path: Path) -> None:
    before = Sealer.open(tmp_path).seal(SECRET, bound_to=WHOSE)
    put_key(tmp_path, "seal-0002")

    sealer = Sealer.open(tmp_path)

    assert before.key_id == FIRST_KEY
    assert sealer.seal(SECRET, bound_to=WHOSE).key_id == "seal-0002"
    assert sealer.unseal(before, bound_to=WHOSE) == SECRET


def test_a_key_that_another_process_was_given_since_is_found(tmp_path: Path) -> None:
    sealer = Sealer.open(tmp_path)
    put_key(tmp_path, "seal-0002")
    sealed = Sealer.open(tmp_path).seal(SECRET, bound_to=WHOSE)

    assert sealer.unseal(sealed, bound_to=WHOSE) == SECRET


@pytest.mark.parametrize("key_id", ["gone", "", "../seal-0001", "SEAL"])
def test_a_secret_under_a_key_that_is_not_there_stays_sealed(tmp_path: Path, key_id: str) -> None:
    folder = tmp_path / "keys"
    put_key(tmp_path, FIRST_KEY)
    sealer = Sealer.open(folder)
    sealed = sealer.seal(SECRET, bound_to=WHOSE).sealed

    with pytest.raises(UnsealableError):
        sealer.unseal(Sealed(key_id, sealed), bound_to=WHOSE)


def test_a_secret_under_a_key_that_was_given_up_is_told_from_one_that_may_come_back(
    tmp_path: Path,
) -> None:
    sealed = Sealer.open(tmp_path / "before").seal(SECRET, bound_to=WHOSE)
    put_key(tmp_path, "seal-0002")
    sealer = Sealer.open(tmp_path)
    with pytest.raises(UnsealableError) as missing:
        sealer.unseal(sealed, bound_to=WHOSE)
    (tmp_path / f"{FIRST_KEY}.lost").touch()
    with pytest.raises(GivenUpError, match=f"{FIRST_KEY} was given up"):
        sealer.unseal(sealed, bound_to=WHOSE)

    assert not isinstance(missing.value, GivenUpError)
    (tmp_path / "before" / f"{FIRST_KEY}.key").rename(tmp_path / f"{FIRST_KEY}.key")
    assert sealer.unseal(sealed, bound_to=WHOSE) == SECRET


@pytest.mark.parametrize("text", ["", "xy" * KEY_SIZE, "ab" * (KEY_SIZE - 1), "\N{SNOWMAN}"])
def test_a_file_that_holds_no_key_stops_the_start(tmp_path: Path, text: str) -> None:
    put_key(tmp_path, FIRST_KEY, text)

    with pytest.raises(SettingsError, match=FIRST_KEY):
        Sealer.open(tmp_path)


def test_a_key_with_a_strange_name_stops_the_start(tmp_path: Path) -> None:
    put_key(tmp_path, "Old Key")

    with pytest.raises(SettingsError, match="lower-case"):
        Sealer.open(tmp_path)


def test_a_message_about_a_key_does_not_show_it(tmp_path: Path) -> None:
    put_key(tmp_path, FIRST_KEY, "c0ffee")

    with pytest.raises(SettingsError) as raised:
        Sealer.open(tmp_path)

    assert "c0ffee" not in str(raised.value)
