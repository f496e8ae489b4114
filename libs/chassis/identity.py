"""Who calls: a token is checked, and becomes a caller that servicers can ask for."""

from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Protocol

import jwt

from libs.chassis.keys import KeySet, KeysUnavailableError
from libs.chassis.roles import OPERATOR, PERSON, SPECTATOR, service, service_name
from libs.chassis.status import RefusedError, refused
from libs.kernel.clock import Clock
from libs.kernel.reasons import Reason
from opolyx.engine.v1 import caller_pb2

SIZE_MAX: Final = 8 * 1024
"""How long a token may be, in characters."""

SUBJECT_MAX: Final = 255
"""How long a subject may be, in characters; RFC 7519 leaves it open, OpenID Connect has this."""

NAME_MAX: Final = 64
"""How much of a name is taken from a token, in characters."""

REMEMBERED: Final = 4_096
"""Of how many tokens it is kept that they are good, and for how long, in milliseconds (start). So
long a key that was withdrawn still works."""
REMEMBERED_MS: Final = 60_000

SERVICE_TYPE: Final = "opolyx-service+jwt"
"""The `typ` of a service's token. A person's can never be taken for one."""

_LATEST_S: Final = 100_000_000_000
"""The latest time that a token may name: the year 5138."""

_CHECKS: Final = {
    jwt.InvalidSignatureError: "signature",
    jwt.InvalidAudienceError: "audience",
    jwt.InvalidIssuerError: "issuer",
    jwt.MissingRequiredClaimError: "claims",
}


@dataclass(frozen=True, slots=True)
class Caller:
    """Who makes a call.

    Attributes:
        subject: whom the token is about; empty for nobody. Never logged: it may be an address.
        roles: what it may be taken for; see `libs.chassis.roles`.
        expires_at_ms: when the token ends, leeway included, and with it a person's streams.
        on_behalf: for whom a trusted service calls, as it says; None if it calls as itself.
        name: how the person is called, as the token has it; may be empty. Never logged either.

    """

    subject: str
    roles: frozenset[str]
    expires_at_ms: int | None = None
    on_behalf: caller_pb2.Caller | None = None
    name: str = ""

    @property
    def service(self) -> str | None:
        """The name of the service that it is; None if it is none."""
        return next(filter(None, map(service_name, self.roles)), None)

    @property
    def player_id(self) -> str:
        """The player id of the person for whom it calls, operators too; empty if for none."""
        behalf = self.on_behalf
        return "" if behalf is None else behalf.player_id or behalf.operator_id

    @property
    def kind(self) -> str:
        """What it is, for a log: a role, or the role of a service."""
        return "+".join(sorted(self.roles)) or "nobody"


NOBODY: Final = Caller("", frozenset())
"""Who calls without a token, where that is allowed."""

_caller: ContextVar[Caller] = ContextVar("caller", default=NOBODY)


def caller() -> Caller:
    """Return who made the call that is being handled."""
    return _caller.get()


def set_caller(made_by: Caller) -> None:
    """Let `caller` return *made_by*, in this task and in what it starts. For the edge."""
    _caller.set(made_by)


class Verifier(Protocol):
    """Checks tokens of one kind."""

    async def verify(self, token: str) -> Caller:
        """Return whose token it is.

        Raises:
            RefusedError: TOKEN_INVALID or TOKEN_EXPIRED, or STORE_UNAVAILABLE if there is no
                telling.

        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRules:
    """What a token must have: one issuer, one audience, one type, one algorithm."""

    issuer: str
    audience: str
    token_type: str
    algorithm: str = "EdDSA"
    leeway_ms: int = 5_000


class TokenVerifier:
    """A `Verifier` of JSON Web Tokens (RFC 7519, RFC 9068).

    A token of the type `SERVICE_TYPE` makes its subject a service; any other's roles are those of
    its `roles` claim that are known, and `person` for who does not only watch.
    """

    def __init__(self, rules: TokenRules, keys: KeySet, clock: Clock) -> None:
        self._rules = rules
        self._keys = keys
        self._clock = clock
        self._remembered: dict[str, tuple[Caller, int]] = {}

    async def verify(self, token: str) -> Caller:
        """See `Verifier.verify`."""
        now_ms = self._clock.now_ms()
        known = self._remembered.get(token)
        if known is not None:
            found, until_ms = known
            self._check_expiry(found, now_ms)
            if now_ms < until_ms:
                return found
        made = self._caller(await self._claims(token), now_ms)
        self._check_expiry(made, now_ms)
        if len(self._remembered) >= REMEMBERED:
            self._remembered.clear()  # all of them are checked again, which is cheap enough
        self._remembered[token] = (made, now_ms + REMEMBERED_MS)
        return made

    async def _claims(self, token: str) -> dict[str, Any]:
        """Return the claims of a token that is genuine and meant for us, whenever that was."""
        rules = self._rules
        key_id = self._key_id(token)
        try:
            key = await self._keys.find(key_id)
        except KeysUnavailableError:
            raise refused(Reason.STORE_UNAVAILABLE) from None
        if key is None:
            raise _invalid("key")
        try:
            claims: dict[str, Any] = jwt.decode(
                token,
                key,
                algorithms=[rules.algorithm],
                issuer=rules.issuer,
                audience=rules.audience,
                options={
                    "require": ["exp", "iat", "iss", "aud", "sub"],
                    # By our clock, below, and not by one that it looks at by itself.
                    "verify_exp": False,
                    "verify_iat": False,
                    "verify_nbf": False,
                },
            )
        except jwt.InvalidTokenError as error:
            raise _invalid(_CHECKS.get(type(error), "token")) from None
        return claims

    def _key_id(self, token: str) -> str:
        if len(token) > SIZE_MAX:
            raise _invalid("size")
        try:
            header = jwt.get_unverified_header(token)
        except jwt.InvalidTokenError:
            raise _invalid("token") from None
        if header.get("alg") != self._rules.algorithm:
            raise _invalid("algorithm")
        if _type_of(header) != self._rules.token_type.lower():
            raise _invalid("type")
        key_id = header.get("kid")
        if not isinstance(key_id, str):
            raise _invalid("key")
        return key_id

    def _caller(self, claims: dict[str, Any], now_ms: int) -> Caller:
        subject, leeway_ms = claims["sub"], self._rules.leeway_ms
        if not _is_subject(subject):
            raise _invalid("subject")
        if _ms(claims["iat"]) > now_ms + leeway_ms:
            raise _invalid("issued_at")
        if _ms(claims.get("nbf", 0)) > now_ms + leeway_ms:
            raise _invalid("not_before")
        expires_at_ms = _ms(claims["exp"]) + leeway_ms
        if self._rules.token_type == SERVICE_TYPE:
            return Caller(subject, frozenset({service(subject)}), expires_at_ms)
        roles = _roles(claims.get("roles"))
        return Caller(subject, roles, expires_at_ms, name=_name(claims.get("name")))

    def _check_expiry(self, found: Caller, now_ms: int) -> None:
        assert found.expires_at_ms is not None
        if found.expires_at_ms <= now_ms:
            raise refused(Reason.TOKEN_EXPIRED)


@lru_cache(maxsize=1024)
def token_type(token: str) -> str:
    """Return the `typ` that a token claims to be of, to know who may check it; empty if none."""
    # Remembered, since to look takes longer than all else that a known token costs.
    if len(token) > SIZE_MAX:
        return ""
    try:
        return _type_of(jwt.get_unverified_header(token))
    except jwt.InvalidTokenError:
        return ""


def _type_of(header: dict[str, Any]) -> str:
    # RFC 7515 lets the prefix be left out, and it mostly is.
    return str(header.get("typ", "")).lower().removeprefix("application/")


def _is_subject(claimed: object) -> bool:
    if not isinstance(claimed, str) or not 0 < len(claimed) <= SUBJECT_MAX:
        return False
    # No database takes the character zero, and nothing half a character, which JSON can hold.
    return "\0" not in claimed and _whole(claimed) == claimed


def _roles(claimed: object) -> frozenset[str]:
    given = claimed if isinstance(claimed, list) else []
    if SPECTATOR in given:
        return frozenset({SPECTATOR})
    return frozenset({PERSON, OPERATOR}) if OPERATOR in given else frozenset({PERSON})


def _name(claimed: object) -> str:
    return _whole(claimed)[:NAME_MAX] if isinstance(claimed, str) else ""


def _whole(text: str) -> str:
    """Return a text without surrogates that stand alone, which no wire takes."""
    return text.encode(errors="ignore").decode()


def _ms(seconds: object) -> int:
    """Read a NumericDate."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise _invalid("times")
    if not 0 <= seconds < _LATEST_S:  # and no NaN, which is never less
        raise _invalid("times")
    return int(seconds * 1000)


def _invalid(check: str) -> RefusedError:
    return refused(Reason.TOKEN_INVALID, check=check)
