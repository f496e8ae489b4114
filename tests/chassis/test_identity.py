import base64
import json
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from libs.chassis.identity import REMEMBERED_MS, SERVICE_TYPE, Caller, TokenRules, TokenVerifier
from libs.chassis.keys import GivenKeys, KeysUnavailableError
from libs.chassis.roles import OPERATOR, PERSON, SPECTATOR
from libs.chassis.status import RefusedError
from libs.kernel.clock import ManualClock
from libs.kernel.reasons import Reason

NOW_S = 1_800_000_000
KEY = Ed25519PrivateKey.generate()
TYPE = "at+jwt"
RULES = TokenRules(issuer="provider", audience="opolyx", token_type=TYPE, leeway_ms=5_000)
CLAIMS = {
    "iss": "provider",
    "aud": "opolyx",
    "sub": "ann",
    "iat": NOW_S,
    "exp": NOW_S + 600,
}
HEADERS = {"kid": "one", "typ": "at+jwt"}


def public(key: Ed25519PrivateKey = KEY) -> jwt.PyJWK:
    numbers = jwt.algorithms.OKPAlgorithm.to_jwk(key.public_key(), as_dict=True)
    return jwt.PyJWK(numbers, algorithm="EdDSA")


def token(key: Any = KEY, algorithm: str = "EdDSA", headers: Any = HEADERS, **claims: Any) -> str:
    """Sign claims; one that is None is left out."""
    told = {name: value for name, value in (CLAIMS | claims).items() if value is not None}
    return jwt.encode(told, key, algorithm=algorithm, headers=headers)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOW_S * 1000)


@pytest.fixture
def verifier(clock: ManualClock) -> TokenVerifier:
    return TokenVerifier(RULES, GivenKeys({"one": public()}), clock)


async def refusal(verifier: TokenVerifier, given: str) -> tuple[str, str]:
    """Return the reason for which a token is refused, and the check that it failed."""
    with pytest.raises(RefusedError) as caught:
        await verifier.verify(given)
    return caught.value.told.reason, caught.value.told.metadata.get("check", "")


async def test_a_good_token_is_a_caller(verifier: TokenVerifier) -> None:
    assert await verifier.verify(token()) == Caller(
        "ann", frozenset({PERSON}), (NOW_S + 605) * 1000
    )


@pytest.mark.parametrize(
    ("claimed", "name"),
    [("Ann", "Ann"), (None, ""), (7, ""), ("a" * 65, "a" * 64), ("\ud800Ann", "Ann")],
    ids=["a name", "none", "no text", "a long one", "half a character"],
)
async def test_a_token_may_say_how_its_subject_is_called(
    verifier: TokenVerifier, claimed: Any, name: str
) -> None:
    assert (await verifier.verify(token(name=claimed))).name == name


@pytest.mark.parametrize(
    ("claimed", "roles"),
    [
        (["operator"], {PERSON, OPERATOR}),
        (["spectator"], {SPECTATOR}),
        (["spectator", "operator"], {SPECTATOR}),
        (["service:gateway", "king"], {PERSON}),
        ("operator", {PERSON}),
    ],
    # Not by the sets themselves: their order differs between two workers of one run.
    ids=["operator", "spectator", "spectator first", "unknown", "no list"],
)
async def test_roles_are_those_that_a_person_can_have(
    verifier: TokenVerifier, claimed: object, roles: set[str]
) -> None:
    assert (await verifier.verify(token(roles=claimed))).roles == roles


@pytest.mark.parametrize(
    ("given", "check"),
    [
        ("", "token"),
        ("a.b.c", "token"),
        ("x" * 9_000, "size"),
        (token(Ed25519PrivateKey.generate()), "signature"),
        (token()[:-8] + "AAAAAAAA", "signature"),
        (token(aud="others"), "audience"),
        (token(aud=None), "claims"),
        (token(iss="somebody"), "issuer"),
        (token(exp=None), "claims"),
        (token(sub=None), "claims"),
        (token(sub=""), "subject"),
        (token(sub="a" * 256), "subject"),
        (token(sub="a\0"), "subject"),
        (token(sub="a\ud800"), "subject"),
        (token(sub=7), "token"),
        (token(iat=NOW_S + 6), "issued_at"),
        (token(nbf=NOW_S + 6), "not_before"),
        (token(exp="soon"), "times"),
        (token(exp=10**12), "times"),
        (token(headers={"kid": "two", "typ": "at+jwt"}), "key"),
        (token(headers={"typ": "at+jwt"}), "key"),
        (token(headers={"kid": "one", "typ": "JWT"}), "type"),
        (token(headers={"kid": "one", "typ": SERVICE_TYPE}), "type"),
        (token("0" * 32, "HS256"), "algorithm"),
    ],
    ids=lambda value: value if len(value) < 20 else "",
)
async def test_a_token_that_is_not_for_us_is_invalid(
    verifier: TokenVerifier, given: str, check: str
) -> None:
    assert await refusal(verifier, given) == (Reason.TOKEN_INVALID, check)


async def test_a_token_without_a_signature_is_invalid(verifier: TokenVerifier) -> None:
    header = {"alg": "none", "kid": "one", "typ": "at+jwt"}
    parts = [
        base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode()
        for part in (header, CLAIMS)
    ]

    assert await refusal(verifier, ".".join([*parts, ""])) == (Reason.TOKEN_INVALID, "algorithm")


async def test_the_public_key_is_no_shared_secret(verifier: TokenVerifier) -> None:
    # Who signs by HMAC with the public key gets in where the token may name its algorithm.
    raw = KEY.public_key().public_bytes_raw()

    assert await refusal(verifier, token(raw, "HS256")) == (Reason.TOKEN_INVALID, "algorithm")


async def test_a_token_ends_at_its_time_by_our_clock_and_the_leeway(
    verifier: TokenVerifier, clock: ManualClock
) -> None:
    given = token()
    clock.advance(604_999)
    assert (await verifier.verify(given)).subject == "ann"

    clock.advance(1)

    assert await refusal(verifier, given) == (Reason.TOKEN_EXPIRED, "")
    assert await refusal(verifier, token(roles=["operator"])) == (Reason.TOKEN_EXPIRED, "")


async def test_a_type_may_have_its_full_name(verifier: TokenVerifier) -> None:
    given = token(headers={"kid": "one", "typ": "application/at+JWT"})

    assert (await verifier.verify(given)).subject == "ann"


async def test_a_services_token_is_a_service(clock: ManualClock) -> None:
    rules = TokenRules(issuer="provider", audience="opolyx", token_type=SERVICE_TYPE)
    verifier = TokenVerifier(rules, GivenKeys({"one": public()}), clock)
    headers = {"kid": "one", "typ": SERVICE_TYPE}

    found = await verifier.verify(token(headers=headers, sub="gateway", roles=["operator"]))

    assert found.roles == {"service:gateway"}
    assert found.service == "gateway"


async def test_a_key_that_is_withdrawn_works_for_a_minute_at_most(clock: ManualClock) -> None:
    keys = {"one": public()}

    class Keys:
        async def find(self, key_id: str) -> jwt.PyJWK | None:
            return keys.get(key_id)

    verifier = TokenVerifier(RULES, Keys(), clock)
    given = token()
    await verifier.verify(given)
    keys.clear()

    assert (await verifier.verify(given)).subject == "ann"
    clock.advance(REMEMBERED_MS)
    assert await refusal(verifier, given) == (Reason.TOKEN_INVALID, "key")


async def test_without_keys_nobody_gets_in_and_it_is_not_the_tokens_fault(
    clock: ManualClock,
) -> None:
    class Keys:
        async def find(self, _: str) -> jwt.PyJWK | None:
            raise KeysUnavailableError

    verifier = TokenVerifier(RULES, Keys(), clock)

    assert await refusal(verifier, token()) == (Reason.STORE_UNAVAILABLE, "")
