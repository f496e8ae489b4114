"""The commands that start a system, and those that ask one."""

import asyncio
import json
from pathlib import Path
from typing import Any, cast

import grpc
import pytest
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from libs import verify as verifier
from libs.chassis.status import answer_of
from libs.client.client import Client
from opolyx.match.v1 import match_service_pb2 as pb
from opolyx.progression.v1 import progression_service_pb2 as progression_pb
from tests.support.commands import opolyx
from tests.support.played import Played
from tests.support.system import data_folder

pytestmark = [pytest.mark.slow, pytest.mark.postgres]


def test_a_match_is_exported_and_verifies(played: Played, tmp_path: Path) -> None:
    out, keys = tmp_path / "match.opolyx", tmp_path / "keys.json"

    told = played.opolyx("export", played.match_id, "--out", str(out))
    keys.write_text(played.opolyx("keys").stdout)

    assert (told.returncode, told.stdout) == (0, "")
    assert out.read_bytes() == played.verdict.export
    assert keys.read_bytes() == played.verdict.key_file
    assert verifier.verify(out, keys).code == verifier.OK


def test_a_match_that_there_is_not_is_3(played: Played, tmp_path: Path) -> None:
    nobody = "01900000-0000-7000-8000-000000000000"
    out = tmp_path / "none"

    for arguments in (["export", nobody, "--out", str(out)], ["audit", nobody], ["replay", nobody]):
        told = played.opolyx(*arguments)

        assert (told.returncode, told.stdout) == (3, "")
        assert told.stderr.startswith("MATCH_NOT_FOUND: ")
        assert "Asked as ada: " in told.stderr
    assert not out.exists()


@pytest.mark.parametrize("arguments", [["audit"], ["audit", "x"], ["export", "x", "--out", "y"]])
def test_what_names_no_match_is_2(arguments: list[str]) -> None:
    told = opolyx(*arguments)

    assert (told.returncode, told.stdout) == (2, "")


def test_one_match_and_all_of_them_are_audited(played: Played) -> None:
    one = json.loads(played.opolyx("audit", played.match_id, "-o", "json").stdout)
    everything = json.loads(played.opolyx("audit", "--all", "-o", "json").stdout)

    assert one == everything
    assert one == [
        {
            "match_id": played.match_id,
            "records": played.verdict.records,
            "events": played.verdict.match.sequence,
            "ended": True,
            "fault": "",
            "ok": True,
        }
    ]


def test_a_match_of_the_system_is_replayed_like_its_file(played: Played, tmp_path: Path) -> None:
    file = tmp_path / "match.opolyx"
    file.write_bytes(played.verdict.export)

    asked = played.opolyx("replay", played.match_id, "--at", "200", "-o", "json")

    assert asked.returncode == 0
    assert asked.stdout == opolyx("replay", str(file), "--at", "200", "-o", "json").stdout


@pytest.fixture(scope="module")
def private_match(played: Played) -> str:
    """Return a match that kay plays with a bot, and nobody else may see."""
    kay = ("--player", "kay", "-o", "json")
    room = json.loads(played.opolyx("rooms", "create", "--private", "--seats", "2", *kay).stdout)
    played.opolyx("rooms", "add-bot", room["room_id"], *kay)
    started = played.opolyx("rooms", "start", room["room_id"], *kay)
    return str(json.loads(started.stdout)["match_id"])


@pytest.mark.parametrize(
    "words",
    [
        ["export", "MATCH", "--out", "OUT"],
        ["bundle", "MATCH", "--out", "OUT"],
        ["audit", "MATCH"],
        ["replay", "MATCH"],
        ["diff", "MATCH", "1", "1"],
        ["explain", "MATCH", "1"],
    ],
    ids=lambda words: str(words[0]),
)
def test_a_private_match_is_there_for_who_plays_it_and_for_operators(
    played: Played, private_match: str, words: list[str], tmp_path: Path
) -> None:
    named = {"MATCH": private_match, "OUT": str(tmp_path / "out")}
    command = [named.get(word, word) for word in words]

    stranger = played.opolyx(*command, "--player", "eve")
    player = played.opolyx(*command, "--player", "kay")
    operator = played.opolyx(*command, "--player", "eve", "--operator")

    assert stranger.returncode == 3
    assert stranger.stderr.startswith("MATCH_NOT_FOUND: ")
    assert "Asked as eve: " in stranger.stderr
    assert (player.returncode, operator.returncode) == (0, 0), player.stderr + operator.stderr


def test_an_operator_audits_all_that_there_are(played: Played, private_match: str) -> None:
    assert audited(played) == {played.match_id}
    assert audited(played, "--operator") == {played.match_id, private_match}


def audited(played: Played, *options: str) -> set[str]:
    told = played.opolyx("audit", "--all", "-o", "json", *options)
    assert told.returncode == 0, told.stderr
    return {match["match_id"] for match in json.loads(told.stdout)}


def test_the_token_that_is_printed_is_somebody(played: Played) -> None:
    token = played.opolyx("token", "--player", "ada").stdout.strip()

    async def profile() -> int:
        async with Client.connect(played.system.gateway, lambda: token) as client:
            found = await client.progression.GetProfile(progression_pb.GetProfileRequest())
            return int(found.experience)

    assert asyncio.run(profile()) == played.verdict.experience


def test_a_token_that_is_none_is_told(played: Played, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(played.system.token("ada") + "x")

    told = played.opolyx("audit", "--all", "--token-file", str(file))

    assert told.returncode == 1
    assert told.stderr.startswith("TOKEN_INVALID: ")
    assert "key" not in told.stderr  # it is the signature that does not hold


def test_a_token_by_a_key_of_another_system_says_so(played: Played, tmp_path: Path) -> None:
    file = tmp_path / "token"
    made = opolyx("token", "--player", "ada", OPOLYX_DATA_FOLDER=str(tmp_path / "data"))
    file.write_text(made.stdout)

    told = played.opolyx("audit", "--all", "--token-file", str(file))

    assert made.stderr.startswith(f"a new key for development tokens was made in {tmp_path}/data: ")
    assert told.returncode == 1
    assert told.stderr.startswith("TOKEN_INVALID: ")
    assert f"the key by which the token in {file} was made" in told.stderr


def test_no_key_is_made_where_tokens_are_a_providers(tmp_path: Path) -> None:
    folder, keys = tmp_path / "data", tmp_path / "keys.json"
    told = opolyx(
        *("token", "--player", "ada"),
        OPOLYX_DATA_FOLDER=str(folder),
        OPOLYX_AUTH__MODE="jwks",
        OPOLYX_AUTH__JWKS_FILE=str(keys),
    )

    assert (told.returncode, told.stdout) == (2, "")
    assert not folder.exists()


def test_where_nothing_answers_it_is_said(played: Played) -> None:
    told = played.opolyx("keys", "--address", "127.0.0.1:1")

    assert (told.returncode, told.stdout) == (1, "")
    assert told.stderr.splitlines() == [
        "nothing answers at 127.0.0.1:1; `opolyx serve all` starts the system"
    ]


def test_reflection_names_the_public_services(played: Played) -> None:
    async def ask() -> set[str]:
        async with grpc.aio.insecure_channel(played.system.gateway) as channel:
            stub: Any = reflection_pb2_grpc.ServerReflectionStub(cast("Any", channel))
            request = reflection_pb2.ServerReflectionRequest(list_services="")
            async for response in stub.ServerReflectionInfo(iter([request])):
                return {service.name for service in response.list_services_response.service}
        return set()

    assert asyncio.run(ask()) == {
        "grpc.health.v1.Health",
        "grpc.reflection.v1alpha.ServerReflection",
        "opolyx.admin.v1.AdminService",
        "opolyx.bot.v1.BotService",
        "opolyx.gateway.v1.GatewayService",
        "opolyx.lobby.v1.LobbyService",
        "opolyx.match.v1.MatchService",
        "opolyx.progression.v1.ProgressionService",
    }


def test_a_call_without_a_token_is_refused(played: Played) -> None:
    async def ask() -> str:
        async with Client.connect(played.system.gateway) as client:
            try:
                await client.match.GetMatch(pb.GetMatchRequest(match_id=played.match_id))
            except grpc.aio.AioRpcError as error:
                told = answer_of(error).told
                assert told is not None
                return told.reason
        return ""

    assert asyncio.run(ask()) == "TOKEN_MISSING"


def test_a_second_system_on_the_same_ports_says_why_it_does_not_start(played: Played) -> None:
    told = opolyx("serve", "gateway", OPOLYX_GATEWAY__PORT=played.system.gateway.split(":")[1])

    assert told.returncode == 1
    assert "cannot listen on" in told.stderr


def test_a_service_that_there_is_not_is_3() -> None:
    told = opolyx("serve", "casino")

    assert (told.returncode, told.stdout) == (3, "")
    assert "no service is called casino" in told.stderr


def test_a_setting_that_there_is_not_is_2() -> None:
    for command in (["serve", "all"], ["config", "show"], ["token", "--player", "ada"]):
        told = opolyx(*command, OPOLYX_STORE__COLOUR="red")

        assert told.returncode == 2
        assert "OPOLYX_STORE__COLOUR: there is no such setting" in told.stderr


def test_the_settings_are_shown_without_their_secrets() -> None:
    told = opolyx(
        "config", "show", "-o", "json", OPOLYX_STORE__URL="postgres://ada:secret@127.0.0.1/opolyx"
    )

    shown = {line["variable"]: line for line in json.loads(told.stdout)}
    assert told.returncode == 0
    assert "secret" not in told.stdout
    assert shown["OPOLYX_STORE__URL"]["value"] == "postgres://ada:********@127.0.0.1/opolyx"
    assert shown["OPOLYX_STORE__URL"]["is_default"] is False
    assert shown["OPOLYX_GATEWAY__PORT"] == {
        "variable": "OPOLYX_GATEWAY__PORT",
        "value": "7070",
        "is_default": True,
        "meaning": "",
    }
    assert shown["OPOLYX_GATEWAY__QUEUE_MAX"]["meaning"].startswith("How many messages may wait")


def test_a_store_is_migrated_once_and_all_schemas_with_it() -> None:
    with data_folder() as folder:
        dry = json.loads(migrate(folder, "--dry-run"))
        done = json.loads(migrate(folder))
        again = json.loads(migrate(folder))

    assert [entry["schema"] for entry in done] == [
        "event_log",
        "timer",
        "match_engine",
        "progression",
        "lobby",
        "bot_runner",
    ]
    assert [entry["pending"] for entry in dry] == [entry["applied"] for entry in done]
    assert all(entry["applied"] for entry in done)
    assert not any(entry["applied"] for entry in again)


def migrate(folder: Path, *options: str) -> str:
    told = opolyx("migrate", "-o", "json", *options, OPOLYX_DATA_FOLDER=str(folder))
    assert told.returncode == 0, told.stderr
    return told.stdout
