import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from libs.chassis.issuing import (
    KEY_FILE,
    SERVICE_TOKEN_MS,
    DevelopmentIssuer,
    ServiceToken,
    people_of,
    refuse_beyond_loopback,
)
from libs.chassis.roles import OPERATOR, PERSON
from libs.chassis.sections import AuthSettings
from libs.chassis.settings import SettingsError
from libs.chassis.status import RefusedError
from libs.kernel.clock import ManualClock
from libs.kernel.reasons import Reason

SETTINGS = AuthSettings(leeway_s=0)


def test_the_key_is_made_once_and_is_for_its_owner_alone(
    tmp_path: Path, clock: ManualClock
) -> None:
    folder = tmp_path / "new" / "data"
    with ThreadPoolExecutor(4) as threads:
        made = list(threads.map(lambda _: DevelopmentIssuer.open(folder, SETTINGS, clock), "abcd"))

    assert (folder / KEY_FILE).stat().st_mode & 0o077 == 0
    assert [path.name for path in folder.iterdir()] == [KEY_FILE]
    token = made[0].issue("ann")
    for issuer in made:
        assert asyncio.run(issuer.people().verify(token)).subject == "ann"


def test_a_file_that_is_no_key_is_not_written_over(tmp_path: Path, clock: ManualClock) -> None:
    (tmp_path / KEY_FILE).write_text("mine", encoding="utf-8")

    with pytest.raises(SettingsError):
        DevelopmentIssuer.open(tmp_path, SETTINGS, clock)
    assert (tmp_path / KEY_FILE).read_text(encoding="utf-8") == "mine"


async def test_a_token_is_good_until_it_ends(issuer: DevelopmentIssuer, clock: ManualClock) -> None:
    token = issuer.issue("ann", roles=[OPERATOR], ttl_ms=60_000)
    found = await issuer.people().verify(token)
    clock.advance(60_000)

    assert found.roles == {PERSON, OPERATOR}
    with pytest.raises(RefusedError) as caught:
        await issuer.people().verify(token)
    assert caught.value.told.reason == Reason.TOKEN_EXPIRED


async def test_the_tokens_of_people_and_of_services_are_not_taken_for_each_other(
    issuer: DevelopmentIssuer,
) -> None:
    assert (await issuer.services().verify(issuer.issue_for_service("timer"))).service == "timer"
    with pytest.raises(RefusedError, match="TOKEN_INVALID"):
        await issuer.people().verify(issuer.issue_for_service("timer"))
    with pytest.raises(RefusedError, match="TOKEN_INVALID"):
        await issuer.services().verify(issuer.issue("timer"))


async def test_another_deployments_tokens_are_no_good(
    issuer: DevelopmentIssuer, tmp_path: Path, clock: ManualClock
) -> None:
    other = DevelopmentIssuer.open(tmp_path / "other", SETTINGS, clock)

    with pytest.raises(RefusedError, match="TOKEN_INVALID"):
        await issuer.people().verify(other.issue("ann"))


async def test_with_a_provider_its_keys_decide_and_ours_are_no_good(
    issuer: DevelopmentIssuer, tmp_path: Path, clock: ManualClock
) -> None:
    key = Ed25519PrivateKey.generate()
    numbers = jwt.algorithms.OKPAlgorithm.to_jwk(key.public_key(), as_dict=True)
    path = tmp_path / "keys.json"
    path.write_text(json.dumps({"keys": [{**numbers, "kid": "k"}]}), encoding="utf-8")
    settings = AuthSettings(mode="jwks", jwks_file=path, issuer="provider")
    now_s = clock.now_ms() // 1000
    claims = {"iss": "provider", "aud": "opolyx", "sub": "ann", "iat": now_s, "exp": now_s + 60}
    token = jwt.encode(claims, key, algorithm="EdDSA", headers={"kid": "k", "typ": "at+jwt"})
    people = people_of(settings, issuer, clock)

    assert (await people.verify(token)).subject == "ann"
    with pytest.raises(RefusedError, match="TOKEN_INVALID"):
        await people.verify(issuer.issue("ann"))
    assert (await people_of(AuthSettings(), issuer, clock).verify(issuer.issue("ann"))).subject


def test_a_key_set_that_is_not_there_is_told_at_the_start(
    tmp_path: Path, issuer: DevelopmentIssuer, clock: ManualClock
) -> None:
    settings = AuthSettings(mode="jwks", jwks_file=tmp_path / "none.json")

    with pytest.raises(SettingsError, match="JWKS_FILE: there is no such file"):
        people_of(settings, issuer, clock)


def test_a_providers_keys_must_come_safely(issuer: DevelopmentIssuer, clock: ManualClock) -> None:
    settings = AuthSettings(mode="jwks", jwks_url="http://" + "provider.example/keys")

    with pytest.raises(SettingsError, match="OPOLYX_AUTH__JWKS_URL"):
        people_of(settings, issuer, clock)


def test_a_service_makes_a_new_token_before_its_own_ends(
    issuer: DevelopmentIssuer, clock: ManualClock
) -> None:
    token = ServiceToken("gateway", issuer.issue_for_service, clock)
    first = token()
    clock.advance(SERVICE_TOKEN_MS // 2 - 1)
    same = token()
    clock.advance(1)

    assert same == first
    assert token() != first


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "::1", "localhost"])
def test_development_tokens_are_good_on_loopback(host: str) -> None:
    refuse_beyond_loopback(AuthSettings(), [host])


EVERYWHERE = "0.0.0.0"  # noqa: S104 - nobody listens there


@pytest.mark.parametrize("host", [EVERYWHERE, "::", "10.0.0.1", "example.org", ""])
def test_development_tokens_are_refused_where_others_can_reach_us(host: str) -> None:
    with pytest.raises(SettingsError, match="OPOLYX_AUTH__BEYOND_LOOPBACK"):
        refuse_beyond_loopback(AuthSettings(), ["127.0.0.1", host])
    refuse_beyond_loopback(AuthSettings(beyond_loopback=True), [host])
    refuse_beyond_loopback(AuthSettings(mode="jwks", jwks_file=Path("keys.json")), [host])
