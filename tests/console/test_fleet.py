"""Where the services of one environment find each other, and what is said of it."""

import shlex
from collections.abc import Mapping
from pathlib import Path

import pytest

from libs.chassis.foundation import NodeSettings
from libs.chassis.settings import SettingsError
from services.console.fleet import load_settings
from services.console.serve import greeting

ID = "01900000-0000-7000-8000-000000000000"


def settings_of(name: str, environment: Mapping[str, str]) -> NodeSettings:
    return load_settings([name], environment)[name]


def test_whoever_moves_a_port_need_not_say_so_twice() -> None:
    moved = {"OPOLYX_GATEWAY__PORT": "1070", "opolyx_match_engine__port": "1072"}

    peers = settings_of("bot_runner", moved).peers

    assert (peers.gateway, peers.match_engines) == ("127.0.0.1:1070", "127.0.0.1:1072")
    assert peers.lobby == "127.0.0.1:7071"


def test_what_is_said_of_a_peer_holds_wherever_it_listens() -> None:
    told = {"OPOLYX_GATEWAY__PORT": "1070", "OPOLYX_PEERS__GATEWAY": "edge:7070"}

    assert settings_of("bot_runner", told).peers.gateway == "edge:7070"


@pytest.mark.parametrize(
    ("host", "called"),
    [
        ("0.0.0.0", "127.0.0.1:7071"),  # noqa: S104 - nothing listens here
        ("::", "[::1]:7071"),
        ("lobby-0", "lobby-0:7071"),
    ],
)
def test_a_peer_is_called_where_it_can_be(host: str, called: str) -> None:
    assert settings_of("gateway", {"OPOLYX_LOBBY__HOST": host}).peers.lobby == called


def test_a_port_that_nobody_knows_yet_is_not_made_up() -> None:
    assert settings_of("gateway", {"OPOLYX_LOBBY__PORT": "0"}).peers.lobby == "127.0.0.1:7071"


def test_a_port_that_is_none_is_refused_by_its_name() -> None:
    with pytest.raises(SettingsError, match=r"^OPOLYX_LOBBY__PORT: "):
        settings_of("gateway", {"OPOLYX_LOBBY__PORT": "high"})


def test_the_greeting_shows_what_works_with_these_settings() -> None:
    ours = greeting(settings_of("gateway", {}), ID)
    provider = {"OPOLYX_AUTH__MODE": "jwks", "OPOLYX_AUTH__JWKS_FILE": "keys.json"}
    theirs = greeting(settings_of("gateway", provider), ID)

    assert f"cd {Path.cwd()}\n" in ours
    assert "opolyx token --player ada)" in ours
    assert "OPOLYX_" not in ours
    assert "opolyx token" not in theirs
    assert "Bearer $TOKEN" in theirs


def test_the_greeting_tells_another_terminal_what_it_cannot_know(tmp_path: Path) -> None:
    given = {
        "OPOLYX_GATEWAY__PORT": "1070",
        "OPOLYX_DATA_FOLDER": str(tmp_path / "ann's data"),
        "OPOLYX_AUTH__ISSUER": "somebody",
        "OPOLYX_STORE__URL": "postgres://ada:secret@127.0.0.1/opolyx",
    }

    shown = greeting(settings_of("gateway", given), ID)

    lines = [line.strip() for line in shown.splitlines()]
    [asks] = [line.split("#")[0] for line in lines if "opolyx token" in line and "-H" not in line]
    *told, _, _, _, _ = shlex.split(asks)
    assert told == [
        f"OPOLYX_DATA_FOLDER={tmp_path}/ann's data",
        "OPOLYX_PEERS__GATEWAY=127.0.0.1:1070",
        "OPOLYX_AUTH__ISSUER=somebody",
    ]
    assert f'"authorization: Bearer $({asks.strip()})"' in shown
    assert "http://127.0.0.1:1070/" in shown


def test_the_folder_of_another_terminal_is_named_in_full() -> None:
    shown = greeting(settings_of("gateway", {"OPOLYX_DATA_FOLDER": "elsewhere"}), ID)

    assert f"OPOLYX_DATA_FOLDER={Path.cwd() / 'elsewhere'} " in shown
