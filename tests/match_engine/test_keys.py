"""The keys of a deployment at its start: made where nothing was made by any, and never again."""

from __future__ import annotations

from pathlib import Path

import pytest

from libs.chassis.key_files import LostKeysError
from libs.chassis.settings import SettingsError
from libs.rules import commands as c
from libs.store.directory import KeysUsed
from services.match_engine import seeds, signing
from services.match_engine.keys import open_keys
from services.match_engine.signing import SigningKeys
from tests.match_engine.rig import Rig, a_table

SEED_KEY, HEAD_KEY = Path(seeds.FOLDER, "seal-0001.key"), Path(signing.FOLDER, "head-0001.key")


class Used:
    """A `Keyring` that has used these keys, and counts how often it is asked."""

    def __init__(self, seals: dict[str, int], signs: dict[str, int]) -> None:
        self.used = KeysUsed(seals, signs)
        self.asked = 0

    async def keys_used(self) -> KeysUsed:
        self.asked += 1
        return self.used


def put_key(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("07" * 32)


async def test_the_first_start_makes_both(tmp_path: Path) -> None:
    keys = await open_keys(tmp_path, Rig().store)

    assert (tmp_path / SEED_KEY).exists()
    assert [key.key_id for key in keys.signing.public()] == ["head-0001"]


async def test_with_keys_in_place_the_store_is_not_asked(tmp_path: Path) -> None:
    put_key(tmp_path / SEED_KEY)
    put_key(tmp_path / HEAD_KEY)
    used = Used({"seal-0001": 1}, {"head-0001": 1})

    await open_keys(tmp_path, used)

    assert used.asked == 0


async def test_a_lost_seed_key_stops_the_start_and_nothing_is_made(tmp_path: Path) -> None:
    put_key(tmp_path / HEAD_KEY)
    table = await a_table()

    with pytest.raises(LostKeysError) as raised:
        await open_keys(tmp_path, table.rig.store)

    assert "seed-keys has no key" in str(raised.value)
    assert "1 matches that go on can never be played again" in str(raised.value)
    assert isinstance(raised.value, SettingsError), "a process says so in one line"
    assert not (tmp_path / SEED_KEY).parent.exists()


async def test_a_lost_head_key_stops_the_start_and_nothing_is_made(tmp_path: Path) -> None:
    put_key(tmp_path / SEED_KEY)
    table = await a_table()
    await table.submit(c.Surrender(0))

    with pytest.raises(LostKeysError) as raised:
        await open_keys(tmp_path, table.rig.store)

    assert "head-keys has no key" in str(raised.value)
    assert "1 heads of matches that are over can never be checked again" in str(raised.value)
    assert not (tmp_path / HEAD_KEY).parent.exists()


async def test_heads_of_matches_that_go_on_were_signed_too(tmp_path: Path) -> None:
    """Whoever asked has one, and the store does not know."""
    put_key(tmp_path / SEED_KEY)
    table = await a_table()

    with pytest.raises(LostKeysError, match=r"the store has used head-0001"):
        await open_keys(tmp_path, table.rig.store)


async def test_the_public_half_of_a_lost_head_key_will_do(tmp_path: Path) -> None:
    put_key(tmp_path / SEED_KEY)
    (old,) = SigningKeys.open(tmp_path / "before").public()
    put_key(tmp_path / HEAD_KEY.with_suffix(".pub"))
    (tmp_path / HEAD_KEY.with_suffix(".pub")).write_text(old.public_key.hex())

    keys = await open_keys(tmp_path, Used({"seal-0001": 1}, {"head-0001": 7}))

    assert [key.key_id for key in keys.signing.public()] == ["head-0002", "head-0001"]
    assert keys.signing.public()[1] == old


async def test_without_keys_that_were_given_up_it_goes_on_by_others(tmp_path: Path) -> None:
    used = Used({"seal-0001": 2, "seal-0002": 0}, {"head-0001": 7})
    for path in (SEED_KEY, SEED_KEY.with_stem("seal-0002"), HEAD_KEY):
        put_key(tmp_path / path.with_suffix(".lost"))

    keys = await open_keys(tmp_path, used)

    assert (tmp_path / SEED_KEY.with_stem("seal-0003")).exists()
    assert [key.key_id for key in keys.signing.public()] == ["head-0002"]
