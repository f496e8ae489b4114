"""The seeds of matches are sealed at rest, each for its match alone (FAIR-1)."""

from pathlib import Path

import pytest

from libs.chassis.sealing import UnsealableError
from libs.kernel.chance import fresh_secret
from services.match_engine.seeds import FOLDER, Seeds
from tests.store.records import a_match_id


def test_a_seed_is_sealed_and_unsealed(tmp_path: Path) -> None:
    match_id, seed = a_match_id(), fresh_secret()
    sealed = Seeds.open(tmp_path).seal(match_id, seed)

    assert seed not in sealed.sealed
    assert Seeds.open(tmp_path).unseal(match_id, sealed) == seed


def test_a_seed_is_of_no_use_to_another_match(tmp_path: Path) -> None:
    seeds = Seeds.open(tmp_path)
    sealed = seeds.seal(a_match_id(), fresh_secret())

    with pytest.raises(UnsealableError):
        seeds.unseal(a_match_id(), sealed)


def test_the_key_is_for_its_owner_alone(tmp_path: Path) -> None:
    Seeds.open(tmp_path)
    (key,) = (tmp_path / FOLDER).iterdir()

    assert key.stat().st_mode & 0o777 == 0o600


def test_after_a_rotation_older_seeds_open_still(tmp_path: Path) -> None:
    match_id, seed = a_match_id(), fresh_secret()
    old = Seeds.open(tmp_path).seal(match_id, seed)
    (tmp_path / FOLDER / "seal-0002.key").write_text("07" * 32)
    rotated = Seeds.open(tmp_path)

    assert rotated.unseal(match_id, old) == seed
    assert rotated.seal(match_id, seed).key_id == "seal-0002"
