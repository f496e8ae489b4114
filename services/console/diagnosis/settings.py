"""Whether the settings are usable, and whether they are wise."""

from collections.abc import Iterator, Mapping

from libs.chassis.foundation import NodeSettings
from libs.chassis.keys import is_loopback
from libs.chassis.sections import ServerSettings
from libs.eventlog.opening import LOCAL
from services.console.diagnosis.finding import Finding, failed, ok, warning
from services.console.fleet import SERVICES

CHECK = "settings"


def check_settings(settings: Mapping[str, NodeSettings]) -> list[Finding]:
    """Look at the settings of all services, which could be read."""
    found = [*_unusable(settings), *_unwise(settings[SERVICES[-1]])]
    return found or [ok(CHECK, "every OPOLYX_ variable is known, and none is unsafe")]


def wrong(told: str) -> Finding:
    """Return what it means that settings cannot be read; *told* names variables, never values."""
    return failed(
        CHECK,
        f"no service starts with them: {told.replace(chr(10), '; ')}",
        "correct or unset what is named; `opolyx config show` lists every setting",
    )


def _unusable(settings: Mapping[str, NodeSettings]) -> Iterator[Finding]:
    shared = settings[SERVICES[-1]]
    if shared.log.url.get_secret_value() != LOCAL:
        yield failed(CHECK, f"OPOLYX_LOG__URL: only {LOCAL} is known", "unset it")
    auth = shared.auth
    if auth.jwks_file is not None and auth.mode == "jwks" and not auth.jwks_file.is_file():
        yield failed(
            CHECK,
            "OPOLYX_AUTH__JWKS_FILE: there is no such file, and no token can be checked",
            "put the provider's key set there",
        )
    if auth.mode == "dev" and not auth.beyond_loopback:
        for name in SERVICES:
            server: ServerSettings = getattr(settings[name], name)
            if not is_loopback(server.host):
                yield failed(
                    CHECK,
                    f"OPOLYX_{name.upper()}__HOST: others could get there with a development "
                    "token, so the service does not start",
                    "set OPOLYX_AUTH__MODE to jwks, or listen on 127.0.0.1",
                )


def _unwise(shared: NodeSettings) -> Iterator[Finding]:
    if shared.store.unsafe:
        yield warning(
            CHECK,
            "OPOLYX_STORE__UNSAFE: a database that may lose what it confirmed is accepted",
            "unset it, and let the doctor see whether the store is durable",
        )
    if shared.auth.mode == "dev" and shared.auth.beyond_loopback:
        yield warning(
            CHECK,
            "OPOLYX_AUTH__BEYOND_LOOPBACK: whoever has a development token gets in from outside",
            "set OPOLYX_AUTH__MODE to jwks where anybody else can reach this machine",
        )
    if not is_loopback(shared.telemetry.metrics_host):
        yield warning(
            CHECK,
            "OPOLYX_TELEMETRY__METRICS_HOST: metrics are shown to whoever can reach this machine",
            "let nobody but the collector reach that port",
        )
