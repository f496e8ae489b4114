"""What the match engine can be told."""

from pathlib import Path
from socket import gethostname

import pytest

from libs.chassis.settings import SettingsError, load
from services.match_engine.settings import EngineSettings, MatchEngineSettings


def test_an_engine_on_the_embedded_store_is_named_by_its_port(tmp_path: Path) -> None:
    settings = load(MatchEngineSettings, {"OPOLYX_DATA_FOLDER": str(tmp_path)})

    assert settings.instance == "engine-7072"


def test_an_engine_elsewhere_is_named_by_its_host_too() -> None:
    settings = load(MatchEngineSettings, {"OPOLYX_STORE__URL": "postgres://localhost/opolyx"})

    assert settings.instance == f"{gethostname()}-7072"


def test_a_name_that_is_given_is_kept() -> None:
    settings = load(MatchEngineSettings, {"OPOLYX_MATCH_ENGINE__INSTANCE": "match-engine-0"})

    assert settings.instance == "match-engine-0"


@pytest.mark.parametrize(
    ("listening", "advertised", "address"),
    [
        ("127.0.0.1:7072", "", "127.0.0.1:7072"),
        ("0.0.0.0:7072", "", f"{gethostname()}:7072"),
        ("[::]:7072", "", f"{gethostname()}:7072"),
        ("0.0.0.0:7072", "engine-0.engines:443", "engine-0.engines:443"),
    ],
)
def test_others_call_it_where_they_can(listening: str, advertised: str, address: str) -> None:
    assert EngineSettings(advertised_address=advertised).address(listening) == address


def test_an_engine_that_would_not_cease_before_others_begin_does_not_start() -> None:
    with pytest.raises(SettingsError, match="lease_trust_s"):
        load(MatchEngineSettings, {"OPOLYX_MATCH_ENGINE__LEASE_TTL_S": "2"})
