"""Tokens that we issue ourselves: for development, and for calls between services."""

from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import jwt
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from libs.chassis.identity import SERVICE_TYPE, TokenRules, TokenVerifier
from libs.chassis.key_files import make_key_file
from libs.chassis.keys import FetchedKeys, GivenKeys, from_file, from_url, is_loopback
from libs.chassis.sections import AuthSettings
from libs.chassis.settings import SettingsError
from libs.kernel.clock import Clock
from libs.telemetry import logs

KEY_FILE: Final = "development-key.pem"
ALGORITHM: Final = "EdDSA"

SERVICE_ISSUER: Final = "opolyx-services"
SERVICE_AUDIENCE: Final = "opolyx-internal"
SERVICE_TOKEN_MS: Final = 5 * 60 * 1000
"""How long a service's token is good; a new one is made when half of that is over."""

PERSON_TOKEN_MS: Final = 12 * 60 * 60 * 1000
"""How long a development token is good, unless somebody wants it otherwise."""

_log: Final = logs.get()


class DevelopmentIssuer:
    """Issues tokens by a key that lies in the data folder. Whoever reads it can be anybody.

    Attributes:
        is_new: whether the key was made just now, so that nobody can know it yet.

    """

    def __init__(
        self,
        key: Ed25519PrivateKey,
        settings: AuthSettings,
        clock: Clock,
        *,
        is_new: bool = False,
    ) -> None:
        self.is_new: Final = is_new
        self._key = key
        self._settings = settings
        self._clock = clock
        public = key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        self._key_id = "dev-" + sha256(public).hexdigest()[:16]

    @classmethod
    def open(cls, data_folder: Path, settings: AuthSettings, clock: Clock) -> "DevelopmentIssuer":
        """Use the key in *data_folder*, making both if need be. Safe in several processes.

        Raises:
            SettingsError: the file is there, and is no key.

        """
        path = data_folder / KEY_FILE
        is_new = not path.exists() and _make_key(path)
        try:
            key = load_pem_private_key(path.read_bytes(), password=None)
        except (OSError, ValueError) as error:
            raise SettingsError(f"{path} holds no key that can be read") from error
        if not isinstance(key, Ed25519PrivateKey):
            raise SettingsError(f"{path} holds a key of another kind")
        return cls(key, settings, clock, is_new=is_new)

    def issue(
        self, subject: str, *, roles: Iterable[str] = (), ttl_ms: int = PERSON_TOKEN_MS
    ) -> str:
        """Return a token about *subject*, called so too; *roles* may be operator or spectator."""
        claims = {
            "iss": self._settings.issuer,
            "aud": self._settings.audience,
            "sub": subject,
            "name": subject,
            "roles": sorted(roles),
        }
        return self._sign(claims, self._settings.token_type, ttl_ms)

    def issue_for_service(self, name: str) -> str:
        """Return a token by which the service of that *name* calls the others, for five minutes."""
        claims = {"iss": SERVICE_ISSUER, "aud": SERVICE_AUDIENCE, "sub": name}
        return self._sign(claims, SERVICE_TYPE, SERVICE_TOKEN_MS)

    def people(self) -> TokenVerifier:
        """Return what checks the tokens of people that this issues."""
        return TokenVerifier(_rules(self._settings, ALGORITHM), self._keys(), self._clock)

    def services(self) -> TokenVerifier:
        """Return what checks the tokens of services that this issues."""
        rules = TokenRules(
            issuer=SERVICE_ISSUER, audience=SERVICE_AUDIENCE, token_type=SERVICE_TYPE
        )
        return TokenVerifier(rules, self._keys(), self._clock)

    def _sign(self, claims: dict[str, Any], token_type: str, ttl_ms: int) -> str:
        now_ms = self._clock.now_ms()
        times = {"iat": now_ms // 1000, "exp": (now_ms + ttl_ms) // 1000}
        headers = {"kid": self._key_id, "typ": token_type}
        return jwt.encode({**claims, **times}, self._key, algorithm=ALGORITHM, headers=headers)

    def _keys(self) -> GivenKeys:
        numbers = jwt.algorithms.OKPAlgorithm.to_jwk(self._key.public_key(), as_dict=True)
        return GivenKeys({self._key_id: jwt.PyJWK(numbers, algorithm=ALGORITHM)})


class ServiceToken:
    """The token by which one service calls the others, made anew before it ends."""

    def __init__(self, name: str, issue: Callable[[str], str], clock: Clock) -> None:
        self._name = name
        self._issue = issue
        self._clock = clock
        self._token = ""
        self._renew_at_ms = 0

    def __call__(self) -> str:
        """Return a token that is good for some minutes."""
        now_ms = self._clock.now_ms()
        if now_ms >= self._renew_at_ms:
            self._token = self._issue(self._name)
            self._renew_at_ms = now_ms + SERVICE_TOKEN_MS // 2
        return self._token


def people_of(settings: AuthSettings, issuer: DevelopmentIssuer, clock: Clock) -> TokenVerifier:
    """Return what checks the tokens of people: our own in development, else the provider's.

    Raises:
        SettingsError: the provider's keys are not there, or could not come from there safely.

    """
    if settings.mode == "dev":
        return issuer.people()
    if settings.jwks_file is not None:
        if not settings.jwks_file.is_file():
            raise SettingsError("OPOLYX_AUTH__JWKS_FILE: there is no such file")
        fetch = from_file(settings.jwks_file)
    else:
        try:
            fetch = from_url(settings.jwks_url or "")
        except ValueError as error:
            raise SettingsError(f"OPOLYX_AUTH__JWKS_URL: {error}") from None
    keys = FetchedKeys(fetch, settings.algorithm)
    return TokenVerifier(_rules(settings, settings.algorithm), keys, clock)


def refuse_beyond_loopback(settings: AuthSettings, hosts: Iterable[str]) -> None:
    """See that development tokens are good for this machine alone, unless somebody wants more.

    Raises:
        SettingsError: one of the *hosts* that are listened on can be reached by others.

    """
    if settings.mode != "dev":
        return
    _log.warning("development_tokens_accepted")
    if not settings.beyond_loopback and not all(map(is_loopback, hosts)):
        raise SettingsError(
            "OPOLYX_AUTH__MODE: development tokens are for loopback; set it to jwks, "
            "or OPOLYX_AUTH__BEYOND_LOOPBACK to true if nobody else can get here"
        )


def _rules(settings: AuthSettings, algorithm: str) -> TokenRules:
    return TokenRules(
        issuer=settings.issuer,
        audience=settings.audience,
        token_type=settings.token_type,
        algorithm=algorithm,
        leeway_ms=int(settings.leeway_s * 1000),
    )


def _make_key(path: Path) -> bool:
    """Make the key, and return whether this did, and not another process first."""
    pem = Ed25519PrivateKey.generate().private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
    )
    is_made = make_key_file(path, pem)
    if is_made:
        _log.info("development_key_made", path=str(path))
    return is_made
