"""Looking into a running system: an event, two moments, its health, and all of it in one file."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import asyncpg
import pytest

from libs import verify as verifier
from libs.chassis.issuing import KEY_FILE
from services.console.bundling import LAST_EVENTS
from services.console.diagnosis.database import connected
from services.console.diagnosis.finding import Finding
from services.console.doctor import examine
from services.console.fleet import SERVICES
from services.console.staging import environment, free_ports
from services.match_engine.seeds import Seeds
from tests.support.commands import opolyx
from tests.support.played import Played

pytestmark = [pytest.mark.slow, pytest.mark.postgres]


@pytest.fixture(scope="module")
def file(played: Played, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the export of the match that was played."""
    path = tmp_path_factory.mktemp("exports") / "match.opolyx"
    path.write_bytes(played.verdict.export)
    return path


@pytest.mark.parametrize(
    ("command", "rest"),
    [
        ("explain", ["200"]),
        ("diff", ["100", "300"]),
        ("replay", ["--at", "150"]),
        ("scenario --from", ["--at", "200"]),
    ],
    ids=["explain", "diff", "replay", "scenario"],
)
@pytest.mark.parametrize("form", ["json", "ndjson"])
def test_a_match_of_the_system_is_told_like_its_file(
    played: Played, file: Path, command: str, rest: list[str], form: str
) -> None:
    asked = played.opolyx(*command.split(), played.match_id, *rest, "-o", form)

    assert asked.returncode == 0, asked.stderr
    assert asked.stdout == opolyx(*command.split(), str(file), *rest, "-o", form).stdout


@pytest.mark.parametrize("command", [["explain"], ["diff", "1"], ["replay", "--at"]])
def test_a_sequence_that_the_match_has_not_got_to_is_2(played: Played, command: list[str]) -> None:
    name, *rest = command

    told = played.opolyx(name, played.match_id, *rest, "99999999")

    assert (told.returncode, told.stdout) == (2, "")
    assert len(told.stderr.splitlines()) == 1


def test_a_system_that_works_has_nothing_wrong(played: Played) -> None:
    told = opolyx("doctor", "-o", "json", **played.system.variables)

    found = {finding["check"]: finding for finding in json.loads(told.stdout)}
    results = {check: finding["result"] for check, finding in found.items()}
    assert (told.returncode, told.stderr) == (0, "")
    assert results.pop("port of metrics") == "ok"
    assert results.pop("clock of the gateway") in ("ok", "warning")
    assert results.pop("clock of the database") in ("ok", "warning")
    assert set(results.values()) == {"ok"}, results
    for name in SERVICES:
        assert found[f"port of {name}"]["meaning"].endswith(" is ours and serves")


def test_keys_that_do_not_open_what_the_store_has_are_missed(
    played: Played, tmp_path: Path
) -> None:
    elsewhere = {
        **played.system.variables,
        "OPOLYX_STORE__URL": played.system.settings.store_url,
        "OPOLYX_DATA_FOLDER": str(tmp_path),
    }

    none = secrets_found(elsewhere)
    for key in ("seed-keys/seal-0001", "keys/progression/seal-0001", "head-keys/head-0001"):
        (tmp_path / key).parent.mkdir(parents=True)
        (tmp_path / f"{key}.lost").touch()
    given_up = secrets_found(elsewhere)
    Seeds.open(tmp_path / "another")
    (tmp_path / "another" / "seed-keys" / "seal-0001.key").rename(
        tmp_path / "seed-keys" / "seal-0001.key"
    )
    another = secrets_found(elsewhere)

    assert [finding.result for finding in none] == ["failed"] * 3
    assert "keys of seeds" in none[0].meaning
    assert "services do not start" in none[0].meaning
    assert "heads are signed by head-0001" in none[2].meaning
    assert all("backup" in finding.advice for finding in none)
    assert [finding.result for finding in given_up] == ["warning"] * 2
    assert "given up" in given_up[0].meaning
    assert another[0].result == "failed"
    assert "do not open what is sealed" in another[0].meaning


def secrets_found(variables: dict[str, str]) -> list[Finding]:
    """Return what the doctor says of what is sealed and signed."""
    return [finding for finding in examine(variables) if finding.check == "sealed secrets"]


def test_a_bundle_has_all_that_is_needed_and_nothing_that_is_secret(
    played: Played, tmp_path: Path
) -> None:
    out = tmp_path / "report.zip"

    told = played.opolyx("bundle", played.match_id, "--out", str(out))

    with ZipFile(out) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    archived = b"\n".join(files.values())
    assert (told.returncode, told.stdout) == (0, "")
    assert list(files) == sorted(files)
    assert files["match.opolyx"] == played.verdict.export
    assert len(files["last-events.txt"].splitlines()) == LAST_EVENTS
    assert b" MatchEnded END-" in files["last-events.txt"]
    assert json.loads(files["state.json"])["phase"] == "ended"
    assert all(name.encode() in files["README.md"] for name in files if name != "README.md")
    for secret in secrets(played.system.folder):
        assert secret not in archived
    assert re.search(rb"\bada\b", archived) is None


def secrets(folder: Path) -> list[bytes]:
    """Return what the files of the system's keys hold."""
    keys = [folder / KEY_FILE, *folder.rglob("*.key")]
    assert len(keys) > 2
    lines = [line for key in keys for line in key.read_bytes().splitlines()]
    return [line for line in lines if not line.startswith(b"-----")]


def test_a_bundle_verifies_by_what_is_in_it_and_is_packed_alike(
    played: Played, tmp_path: Path
) -> None:
    outs = [tmp_path / "one.zip", tmp_path / "two.zip"]

    for out in outs:
        assert played.opolyx("bundle", played.match_id, "--out", str(out)).returncode == 0

    one, two = (ZipFile(out) for out in outs)
    with one, two:
        one.extractall(tmp_path)
        alike = [info.filename for info in one.infolist() if info.filename != "doctor.json"]
        assert [one.read(name) for name in alike] == [two.read(name) for name in alike]
        assert [(i.filename, i.date_time) for i in one.infolist()] == [
            (i.filename, i.date_time) for i in two.infolist()
        ]
    report = verifier.verify(tmp_path / "match.opolyx", tmp_path / "public-keys.json")
    assert report.code == verifier.OK


def test_a_bundle_that_cannot_be_written_is_1(played: Played, tmp_path: Path) -> None:
    told = played.opolyx("bundle", played.match_id, "--out", str(tmp_path / "none" / "x.zip"))

    assert told.returncode == 1
    assert len(told.stderr.splitlines()) == 1


def looked_at(url: str, folder: Path) -> dict[str, list[Any]]:
    """Return what the doctor finds with a store of one's own, by check."""
    variables = environment(folder, free_ports(len(SERVICES)), 0)
    found: dict[str, list[Any]] = {}
    for finding in examine({**variables, "OPOLYX_STORE__URL": url}):
        found.setdefault(finding.check, []).append(finding)
    return found


def execute(url: str, statement: str) -> None:
    async def run() -> None:
        connection = await asyncpg.connect(url)
        try:
            await connection.execute(statement)
        finally:
            await connection.close()

    asyncio.run(run())


@pytest.fixture
def store_url(database: str) -> str:
    """Return the URL of a store of the test's own, as `opolyx migrate` leaves one."""
    assert opolyx("migrate", OPOLYX_STORE__URL=database).returncode == 0
    return database


def test_a_store_of_this_release_is_well(store_url: str, tmp_path: Path) -> None:
    found = looked_at(store_url, tmp_path)

    for check in ("store", "log", "migrations"):
        assert [finding.result for finding in found[check]] == ["ok"]


def test_a_store_of_a_newer_release_is_told(store_url: str, tmp_path: Path) -> None:
    execute(store_url, "INSERT INTO lobby.schema_migration VALUES (99, '0099_of_tomorrow', '')")

    (finding,) = looked_at(store_url, tmp_path)["migrations"]

    assert finding.result == "failed"
    assert "lobby has 0099_of_tomorrow, which this version does not know" in finding.meaning


def test_what_is_to_be_migrated_is_named(store_url: str, tmp_path: Path) -> None:
    execute(store_url, "DROP SCHEMA lobby CASCADE")

    (finding,) = looked_at(store_url, tmp_path)["migrations"]

    assert finding.result == "failed"
    assert "lobby 0001_" in finding.meaning
    assert finding.advice == "opolyx migrate"


def test_a_store_that_may_lose_commits_fails(store_url: str, tmp_path: Path) -> None:
    name = store_url.partition("?")[0].rpartition("/")[2]
    execute(store_url, f"ALTER DATABASE {name} SET synchronous_commit = off")

    (finding,) = looked_at(store_url, tmp_path)["store"]

    assert finding.result == "failed"
    assert "synchronous_commit is off" in finding.meaning


def test_dead_letters_and_readers_that_lag_are_warnings(store_url: str, tmp_path: Path) -> None:
    execute(
        store_url,
        """
        INSERT INTO event_log.partition_end VALUES
            ('opolyx.match-records.v1', 3, 20000), ('opolyx.match-records.v1.dead', 3, 2);
        INSERT INTO event_log.group_position VALUES
            ('progression', 'opolyx.match-records.v1', 3, 5);
        """,
    )

    dead, lag = looked_at(store_url, tmp_path)["log"]

    assert (dead.result, lag.result) == ("warning", "warning")
    assert "2 entries in opolyx.match-records.v1.dead" in dead.meaning
    assert "progression is 19,995 entries behind" in lag.meaning


async def test_who_looks_into_the_store_can_change_nothing(store_url: str) -> None:
    async with connected(store_url) as connection:
        with pytest.raises(asyncpg.ReadOnlySQLTransactionError):
            await connection.execute("DELETE FROM match_engine.match_head")
