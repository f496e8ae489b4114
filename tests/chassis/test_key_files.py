"""Where there is no key, one is made: but none in the place of one that was used."""

from pathlib import Path

import pytest

from libs.chassis.key_files import LostKeysError, make_key

SIZE = 32


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_first_key_has_the_first_id(tmp_path: Path) -> None:
    assert make_key(tmp_path / "keys", "seal-0001", SIZE) == tmp_path / "keys" / "seal-0001.key"


def test_where_there_is_a_key_none_is_made_whatever_was_used(tmp_path: Path) -> None:
    (tmp_path / "seal-0003.key").touch()

    assert make_key(tmp_path, "seal-0001", SIZE, {"seal-0001": 3}) is None
    assert names(tmp_path) == ["seal-0003.key"]


def test_a_key_that_was_used_and_is_gone_stops_the_start_in_one_line(tmp_path: Path) -> None:
    folder = tmp_path / "keys"

    with pytest.raises(LostKeysError) as raised:
        make_key(folder, "seal-0001", SIZE, {"seal-0002": 2, "seal-0001": 1}, "{} are lost")

    told = str(raised.value)
    assert told.startswith(f"{folder} has no key, and the store has used seal-0001, seal-0002: ")
    assert "backup" in told
    assert "3 are lost" in told
    assert told.endswith("seal-0001.lost, seal-0002.lost")
    assert "\n" not in told
    assert not folder.exists()


def test_every_key_that_was_used_has_to_be_given_up(tmp_path: Path) -> None:
    (tmp_path / "seal-0001.lost").touch()

    with pytest.raises(LostKeysError, match=r"1 are lost.*: seal-0002\.lost$"):
        make_key(tmp_path, "seal-0001", SIZE, {"seal-0001": 5, "seal-0002": 1}, "{} are lost")

    assert names(tmp_path) == ["seal-0001.lost"]


@pytest.mark.parametrize(
    ("files", "used", "made"),
    [
        (["seal-0001.lost"], ["seal-0001"], "seal-0002"),
        (["seal-0001.lost", "seal-0002.lost"], ["seal-0002", "seal-0001"], "seal-0003"),
        (["seal-0001.pub"], ["seal-0001"], "seal-0002"),
        (["seal-0004.pub", "seal-0001.lost"], ["seal-0001"], "seal-0005"),
        (["seal-0007.lost"], [], "seal-0008"),
        (["seal-0999.lost"], ["seal-0999"], "seal-1000"),
        (["seal-9999.lost"], ["seal-9999"], "seal-9999-0001"),
        (["winter.lost"], ["winter"], "winter-0001"),
        (["2026.lost"], ["2026"], "2027"),
    ],
)
def test_no_id_is_used_again_and_the_new_one_comes_last(
    tmp_path: Path, files: list[str], used: list[str], made: str
) -> None:
    for name in files:
        (tmp_path / name).touch()

    path = make_key(tmp_path, "seal-0001", SIZE, dict.fromkeys(used, 1))

    assert path == tmp_path / f"{made}.key"
    assert made > max([*used, *(Path(name).stem for name in files)])
