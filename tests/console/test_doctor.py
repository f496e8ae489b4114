"""``opolyx doctor`` on machines with one thing wrong at a time."""

import fcntl
import json
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from libs.chassis.issuing import DevelopmentIssuer
from libs.chassis.sections import AuthSettings
from libs.kernel.clock import SystemClock
from libs.store.embedded import LOG
from libs.store.keeper import DATA, USED, VERSION
from opolyx.gateway.v1 import gateway_service_pb2 as pb
from opolyx.gateway.v1.gateway_service_pb2_grpc import (
    GatewayServiceServicer,
    add_GatewayServiceServicer_to_server,
)
from services.console.diagnosis.clocks import NOTICEABLE_MS, _judge, check_gateway_clock
from services.console.diagnosis.finding import Result
from services.console.diagnosis.folder import check_folder
from services.console.diagnosis.ports import METRICS, SERVED, check_ports
from services.console.diagnosis.versions import fingerprint
from services.console.doctor import examine
from services.console.fleet import SERVICES, load_settings
from services.console.staging import environment, free_ports
from services.match_engine.seeds import Seeds
from services.match_engine.signing import SigningKeys
from tests.support.commands import opolyx

CHECKS = [
    "versions",
    "settings",
    "data folder",
    "development key",
    "keys of heads",
    "keys of seeds",
    "keys of cards",
    *(f"port of {name}" for name in (*SERVICES, "metrics")),
    "store",
    "log",
    "clock of the database",
    "migrations",
    "sealed secrets",
    "clock of the gateway",
]


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    """Return the settings of a machine on which nothing was ever started."""
    return {**environment(tmp_path / "data", free_ports(len(SERVICES)), 0)}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return the data folder of that machine, with its first keys in it."""
    folder = tmp_path / "data"
    DevelopmentIssuer.open(folder, AuthSettings(), SystemClock())
    SigningKeys.open(folder)
    Seeds.open(folder)
    return folder


def results(variables: dict[str, str]) -> dict[str, Any]:
    """Return what each check came to, the last where one says several things."""
    return {finding.check: finding for finding in examine(variables)}


def test_a_machine_without_anything_has_nothing_wrong_and_stays_empty(
    variables: dict[str, str], tmp_path: Path
) -> None:
    told = opolyx("doctor", "-o", "json", **variables)

    found = json.loads(told.stdout)
    assert (told.returncode, told.stderr) == (0, "")
    assert [finding["check"] for finding in found] == CHECKS
    assert {finding["result"] for finding in found} == {"ok", "skipped"}
    assert list(tmp_path.iterdir()) == []


def test_what_failed_is_told_to_people_with_what_to_do(variables: dict[str, str]) -> None:
    told = opolyx("doctor", **{**variables, "OPOLYX_STORE__COLOUR": "red"})

    lines = told.stdout.splitlines()
    place = next(place for place, line in enumerate(lines) if line.startswith("failed "))
    assert (told.returncode, told.stderr) == (1, "")
    assert "OPOLYX_STORE__COLOUR: there is no such setting" in lines[place]
    assert lines[place + 1].strip().startswith("> correct or unset")
    assert lines[-1].startswith("1 ok, 0 warning, 1 failed, ")


@pytest.mark.parametrize(
    ("variable", "value", "result"),
    [
        ("OPOLYX_GATEWAY__PORT", "many", "failed"),
        ("OPOLYX_GATEWAY__HOST", "0.0.0.0", "failed"),  # noqa: S104 - is what is wrong
        ("OPOLYX_LOG__URL", "kafka://ada:hunter2@127.0.0.1", "failed"),
        ("OPOLYX_STORE__UNSAFE", "true", "warning"),
        ("OPOLYX_AUTH__BEYOND_LOOPBACK", "true", "warning"),
        ("OPOLYX_TELEMETRY__METRICS_HOST", "0.0.0.0", "warning"),  # noqa: S104 - is what is wrong
    ],
)
def test_a_setting_that_is_wrong_or_unwise_is_named(
    variables: dict[str, str], variable: str, value: str, result: str
) -> None:
    finding = results({**variables, variable: value})["settings"]

    assert finding.result == result
    assert variable in finding.meaning
    assert "hunter2" not in finding.meaning + finding.advice


def test_a_key_set_that_is_not_there_is_named(variables: dict[str, str]) -> None:
    jwks = {"OPOLYX_AUTH__MODE": "jwks", "OPOLYX_AUTH__JWKS_FILE": "/none/jwks.json"}

    finding = results({**variables, **jwks})["settings"]

    assert finding.result == Result.FAILED
    assert "OPOLYX_AUTH__JWKS_FILE" in finding.meaning


def test_keys_that_are_as_they_should_be_are_ok(variables: dict[str, str], data: Path) -> None:
    found = results(variables)

    for check in ("development key", "keys of heads", "keys of seeds"):
        assert found[check].result == Result.OK
    assert found["keys of cards"].result == Result.SKIPPED
    secret = (data / "seed-keys" / "seal-0001.key").read_text().strip()
    assert not any(secret in finding.meaning for finding in found.values())


@pytest.mark.parametrize(
    ("check", "file"),
    [
        ("development key", "development-key.pem"),
        ("keys of heads", "head-keys/head-0001.key"),
        ("keys of seeds", "seed-keys/seal-0001.key"),
    ],
)
def test_a_key_that_others_can_read_or_that_is_none_fails(
    variables: dict[str, str], data: Path, check: str, file: str
) -> None:
    (data / file).chmod(0o640)
    is_open = results(variables)[check]
    (data / file).chmod(0o600)
    (data / file).write_text("no key\n")
    is_none = results(variables)[check]

    assert (is_open.result, is_none.result) == (Result.FAILED, Result.FAILED)
    assert "chmod 600" in is_open.advice
    assert "no key" in is_none.meaning


def test_a_key_of_years_ago_is_to_be_followed_by_another(
    variables: dict[str, str], data: Path
) -> None:
    old = time.time() - 800 * 24 * 60 * 60  # noqa: TID251 - of a file
    os.utime(data / "head-keys" / "head-0001.key", (old, old))

    finding = results(variables)["keys of heads"]

    assert finding.result == Result.WARNING
    assert "800 days" in finding.meaning


def test_a_folder_that_others_can_write_to_is_a_warning(data: Path) -> None:
    data.chmod(0o777)

    (finding,) = check_folder(data)

    assert finding.result == Result.WARNING
    assert "chmod go-w" in finding.advice


def test_a_file_is_no_data_folder(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")

    (finding,) = check_folder(tmp_path / "data")

    assert finding.result == Result.FAILED


@pytest.fixture
def stranger() -> Iterator[int]:
    """Return the port of a program that takes connections and never says a word."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield listening.getsockname()[1]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["lobby", METRICS])
def test_a_port_that_somebody_else_has_is_told_with_its_variable(
    variables: dict[str, str], stranger: int, name: str
) -> None:
    section = "TELEMETRY__METRICS" if name == METRICS else name.upper()
    variable = f"OPOLYX_{section}_PORT" if name == METRICS else f"OPOLYX_{section}__PORT"

    finding = results({**variables, variable: str(stranger)})[f"port of {name}"]

    assert finding.result == Result.FAILED
    assert f"127.0.0.1:{stranger} is taken by " in finding.meaning
    assert variable in finding.advice


def test_every_service_has_a_name_that_its_port_is_known_by() -> None:
    assert set(SERVED) == set(SERVICES)


def test_a_store_that_does_not_answer_fails_without_its_password(
    variables: dict[str, str],
) -> None:
    url = "postgres://ada:hunter2@127.0.0.1:1/opolyx"

    told = opolyx("doctor", "-o", "ndjson", **{**variables, "OPOLYX_STORE__URL": url})

    found = {line["check"]: line for line in map(json.loads, told.stdout.splitlines())}
    assert told.returncode == 1
    assert found["store"]["result"] == "failed"
    assert "postgres://ada:********@127.0.0.1:1/opolyx" in found["store"]["meaning"]
    assert found["migrations"]["result"] == "skipped"
    assert "hunter2" not in told.stdout + told.stderr


def test_a_store_url_that_makes_no_sense_is_not_repeated(variables: dict[str, str]) -> None:
    url = "postgres://ada:hunter2@127.0.0.1:many/opolyx"

    finding = results({**variables, "OPOLYX_STORE__URL": url})["store"]

    assert finding.result == Result.FAILED
    assert "hunter2" not in finding.meaning


def test_an_embedded_store_of_another_release_is_seen_on_the_disk(
    variables: dict[str, str], data: Path
) -> None:
    cluster = data / "postgres" / "postgres"
    cluster.mkdir(parents=True)
    (cluster / "PG_VERSION").write_text("9\n")

    finding = results(variables)["store"]

    assert finding.result == Result.FAILED
    assert "PostgreSQL 9" in finding.meaning


def test_an_embedded_store_that_nothing_runs_is_told_from_one_that_was_never_there(
    variables: dict[str, str], data: Path
) -> None:
    store(data)

    finding = results(variables)["store"]

    assert finding.result == Result.WARNING
    assert "has data, and nothing runs it" in finding.meaning
    assert "start the services" in finding.advice


def test_an_embedded_store_that_is_down_under_its_services_is_a_failure(
    variables: dict[str, str], data: Path
) -> None:
    folder = store(data)
    with (folder / USED).open("ab") as used:
        fcntl.flock(used, fcntl.LOCK_SH)
        finding = results(variables)["store"]

    assert finding.result == Result.FAILED
    assert "though services use it" in finding.meaning
    assert str(folder / LOG) in finding.advice


def store(data: Path) -> Path:
    """Leave what an embedded store of this release leaves; returns its folder."""
    cluster = data / "postgres" / DATA
    cluster.mkdir(parents=True)
    (cluster / "PG_VERSION").write_text(f"{VERSION}\n")
    return cluster.parent


@pytest.mark.parametrize(
    ("ahead_ms", "unsure_ms", "result"),
    [
        (0, 3, Result.OK),
        (-NOTICEABLE_MS, 0, Result.OK),
        (NOTICEABLE_MS + 50, 60, Result.OK),  # it may be the way there and back alone
        (NOTICEABLE_MS + 1, 0, Result.WARNING),
        (-5_000, 0, Result.WARNING),
        (-5_001, 0, Result.FAILED),
    ],
)
def test_clocks_may_differ_by_as_much_as_nobody_notices(
    ahead_ms: int, unsure_ms: int, result: Result
) -> None:
    assert _judge("clock", ahead_ms, unsure_ms, 5_000).result == result


async def test_a_port_of_zero_is_any(variables: dict[str, str]) -> None:
    settings = load_settings(SERVICES, {**variables, "OPOLYX_LOBBY__PORT": "0"})

    found = {finding.check: finding for finding in await check_ports(settings)}

    assert found["port of lobby"].result == Result.OK
    assert "any" in found["port of lobby"].meaning


def test_the_protos_have_one_fingerprint() -> None:
    assert len(fingerprint()) == 12
    assert fingerprint() == fingerprint()


def test_what_cannot_be_looked_at_is_told_and_the_rest_goes_on(
    variables: dict[str, str], tmp_path: Path
) -> None:
    folder = tmp_path / ("x" * 300)  # longer than any name may be

    found = results({**variables, "OPOLYX_DATA_FOLDER": str(folder)})

    assert {found[check].result for check in ("data folder", "keys", "store")} == {"failed"}
    assert found["settings"].result == Result.OK
    assert str(folder) in found["data folder"].meaning


@pytest.mark.parametrize(("ahead_ms", "result"), [(0, Result.OK), (-60_000, Result.FAILED)])
async def test_the_clock_of_the_gateway_is_held_against_ours(ahead_ms: int, result: Result) -> None:
    clock = SystemClock()

    class Gateway(GatewayServiceServicer):
        async def GetServerInfo(self, *_: object) -> pb.ServerInfo:  # noqa: N802 - the RPC's name
            return pb.ServerInfo(server_time_ms=clock.now_ms() + ahead_ms)

    server = grpc.aio.server()
    add_GatewayServiceServicer_to_server(Gateway(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        finding = await check_gateway_clock(f"127.0.0.1:{port}", clock, 30_000)
    finally:
        await server.stop(None)

    assert (finding.check, finding.result) == ("clock of the gateway", result)
