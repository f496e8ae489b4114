from pathlib import Path

import pytest
from pydantic import Field, SecretStr

from libs.chassis.sections import (
    AuthSettings,
    RateSettings,
    ServerSettings,
    StoreSettings,
    TelemetrySettings,
)
from libs.chassis.settings import (
    HIDDEN,
    SecretUrl,
    ServiceSettings,
    SettingsError,
    load,
    shown,
    variables,
)

SECRET = "s3cret"  # noqa: S105 - nobody's
POSTGRES = "postgres://"
URL = POSTGRES + "ann:s3cret@db/opolyx"


class Gateway(ServerSettings):
    rate: RateSettings = RateSettings()


class Settings(ServiceSettings):
    store: StoreSettings = StoreSettings()
    auth: AuthSettings = AuthSettings()
    telemetry: TelemetrySettings = TelemetrySettings()
    gateway: Gateway = Gateway()


class Demanding(ServiceSettings):
    api_key: SecretStr
    players: list[str] = Field(default_factory=list)


def test_everything_has_a_default() -> None:
    settings = load(Settings, {})

    assert settings.data_folder == Path(".opolyx")
    assert settings.gateway.host == "127.0.0.1"
    assert settings.telemetry.metrics_port == 9464


def test_a_variable_names_its_sections_and_its_field() -> None:
    settings = load(
        Settings,
        {
            "OPOLYX_DATA_FOLDER": "elsewhere",
            "OPOLYX_GATEWAY__PORT": "50051",
            "OPOLYX_GATEWAY__RATE__PER_S": "2.5",
            "OPOLYX_AUTH__MODE": "jwks",
            "OPOLYX_AUTH__JWKS_FILE": "keys.json",
            "opolyx_store__url": URL,
            "PATH": "not ours",
        },
    )

    assert settings.data_folder == Path("elsewhere")
    assert settings.gateway.port == 50051
    assert settings.gateway.rate == RateSettings(per_s=2.5)
    assert settings.auth.jwks_file == Path("keys.json")
    assert settings.store.url.get_secret_value() == URL


def test_settings_do_not_change() -> None:
    settings = load(Settings, {})

    with pytest.raises(ValueError, match="frozen"):
        settings.data_folder = Path("elsewhere")
    with pytest.raises(ValueError, match="frozen"):
        settings.gateway.port = 1


@pytest.mark.parametrize(
    "name",
    [
        "OPOLYX_DATA_FODLER",
        "OPOLYX_GATEWAY__PROT",
        "OPOLYX_GATEWAY",
        "OPOLYX_GATEWAY__RATE",
        "OPOLYX_STORE__URL__PASSWORD",
        "OPOLYX_",
        "OPOLYX_GATEWAY__PORT_FILES",
    ],
)
def test_a_variable_that_is_not_known_is_named(name: str) -> None:
    with pytest.raises(SettingsError, match=f"{name}: ") as caught:
        load(Settings, {name: SECRET})

    assert SECRET not in str(caught.value)


def test_the_variables_of_other_services_are_left_to_them() -> None:
    load(Settings, {"OPOLYX_LOBBY__PORT": "1", "OPOLYX_TEST_POSTGRES": "x"})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OPOLYX_GATEWAY__PORT", "s3cret"),
        ("OPOLYX_GATEWAY__PORT", "70000"),
        ("OPOLYX_GATEWAY__RATE__PER_S", "-1"),
        ("OPOLYX_AUTH__ALGORITHM", "s3cret"),
        ("OPOLYX_AUTH__BEYOND_LOOPBACK", "s3cret"),
        ("OPOLYX_TELEMETRY__LOG_LEVEL", "s3cret"),
        ("OPOLYX_SHUTDOWN_GRACE_S", "s3cret"),
    ],
)
def test_an_unusable_value_is_named_and_never_shown(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=name) as caught:
        load(Settings, {name: value})

    assert value not in str(caught.value)
    assert caught.value.__cause__ is None


def test_all_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(SettingsError) as caught:
        load(Settings, {"OPOLYX_GATEWAY__PORT": "x", "OPOLYX_AUTH__LEEWAY_S": "y"})

    assert [line.partition(":")[0] for line in str(caught.value).splitlines()] == [
        "OPOLYX_AUTH__LEEWAY_S",
        "OPOLYX_GATEWAY__PORT",
    ]


def test_what_must_be_set_is_missed() -> None:
    with pytest.raises(SettingsError, match="OPOLYX_API_KEY: "):
        load(Demanding, {})


def test_a_list_is_json_and_its_value_is_not_shown_either() -> None:
    key = {"OPOLYX_API_KEY": "k"}

    assert load(Demanding, {**key, "OPOLYX_PLAYERS": '["ann"]'}).players == ["ann"]
    with pytest.raises(SettingsError) as caught:
        load(Demanding, {**key, "OPOLYX_PLAYERS": SECRET})
    assert SECRET not in str(caught.value)


def test_a_secret_comes_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "url"
    path.write_text(URL + "\n", encoding="utf-8")

    settings = load(Settings, {"OPOLYX_STORE__URL_FILE": str(path)})

    assert settings.store.url.get_secret_value() == URL


def test_a_file_that_is_not_there_is_named_by_its_variable(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="OPOLYX_STORE__URL_FILE") as caught:
        load(Settings, {"OPOLYX_STORE__URL_FILE": str(tmp_path / SECRET)})

    assert SECRET not in str(caught.value)


def test_a_value_and_its_file_contradict_each_other(tmp_path: Path) -> None:
    given = {"OPOLYX_STORE__URL": URL, "OPOLYX_STORE__URL_FILE": str(tmp_path)}

    with pytest.raises(SettingsError, match="OPOLYX_STORE__URL: "):
        load(Settings, given)


def test_the_key_set_of_a_provider_comes_from_one_place() -> None:
    with pytest.raises(SettingsError, match=r"^OPOLYX_AUTH: with MODE .*JWKS_FILE and JWKS_URL"):
        load(Settings, {"OPOLYX_AUTH__MODE": "jwks"})


def test_a_collector_may_be_named_as_everybody_names_it() -> None:
    standard = {"OTEL_EXPORTER_OTLP_ENDPOINT": "collector:4317"}
    own = {"OPOLYX_TELEMETRY__OTLP_ENDPOINT": "ours:4317"}

    assert load(Settings, standard).telemetry.otlp_endpoint == "collector:4317"
    assert load(Settings, standard | own).telemetry.otlp_endpoint == "ours:4317"
    assert load(Settings, {}).telemetry.otlp_endpoint is None


def test_the_environment_is_where_settings_come_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPOLYX_GATEWAY__PORT", "7")

    assert Settings.from_environment().gateway.port == 7


def test_what_is_in_force_is_shown_without_secrets() -> None:
    settings = load(Settings, {"OPOLYX_STORE__URL": URL, "OPOLYX_GATEWAY__PORT": "7"})

    lines = {line.variable: line for line in shown(settings)}

    assert list(lines) == list(variables(Settings))
    assert lines["OPOLYX_STORE__URL"].value == f"{POSTGRES}ann:{HIDDEN}@db/opolyx"
    assert lines["OPOLYX_GATEWAY__PORT"].value == "7"
    assert not lines["OPOLYX_GATEWAY__PORT"].is_default
    assert lines["OPOLYX_STORE__URL"].meaning.startswith("`embedded://` for the one in the data")
    assert lines["OPOLYX_GATEWAY__HOST"].is_default
    assert lines["OPOLYX_TELEMETRY__OTLP_ENDPOINT"].value == ""
    assert SECRET not in str(lines)
    assert SECRET not in repr(settings)


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("embedded://", "embedded://"),
        ("kafka://" + "one:9092,two:9092", "kafka://" + "one:9092,two:9092"),
        (POSTGRES + "ann@db/opolyx", POSTGRES + "ann@db/opolyx"),
        (POSTGRES + "db/opolyx?password=s3cret", f"{POSTGRES}db/opolyx?{HIDDEN}"),
        (POSTGRES + "ann:s3c@ret@db/x", f"{POSTGRES}ann:{HIDDEN}@db/x"),
        ("s3cret", HIDDEN),
        ("", HIDDEN),
    ],
)
def test_a_url_is_shown_without_what_may_be_a_password(url: str, told: str) -> None:
    assert SecretUrl(url).shown() == told


def test_a_plain_secret_is_not_shown_at_all() -> None:
    [*_, key, _] = shown(load(Demanding, {"OPOLYX_API_KEY": SECRET}))

    assert key.value == HIDDEN
