import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from libs.chassis.keys import (
    REFRESH_S,
    RETRY_S,
    SIZE_MAX,
    STALE_S,
    UNKNOWN_S,
    FetchedKeys,
    KeysUnavailableError,
    from_file,
    from_url,
    parse_keys,
)


def okp(key_id: str) -> dict[str, str]:
    key = Ed25519PrivateKey.generate().public_key()
    return {**jwt.algorithms.OKPAlgorithm.to_jwk(key, as_dict=True), "kid": key_id}


def document(*key_ids: str) -> bytes:
    return json.dumps({"keys": [okp(key_id) for key_id in key_ids]}).encode()


class Provider:
    """Gives out a key set, when it is there, and counts how often."""

    def __init__(self) -> None:
        self.document = document("one")
        self.is_away = False
        self.fetches = 0
        self.now_s = 0.0
        self.open = asyncio.Event()
        self.open.set()
        self.keys = FetchedKeys(self.fetch, "EdDSA", monotonic_s=lambda: self.now_s)

    async def fetch(self) -> bytes:
        self.fetches += 1
        await self.open.wait()
        if self.is_away:
            raise OSError("away")
        return self.document


@pytest.fixture
def provider() -> Provider:
    return Provider()


async def test_keys_are_fetched_once_and_kept(provider: Provider) -> None:
    assert await provider.keys.find("one")
    assert await provider.keys.find("one")
    assert provider.fetches == 1


async def test_many_that_wait_cause_one_fetch(provider: Provider) -> None:
    provider.open.clear()
    waiting = [asyncio.create_task(provider.keys.find("one")) for _ in range(10)]
    await asyncio.sleep(0)
    waiting[0].cancel()
    provider.open.set()

    assert all(await asyncio.gather(*waiting[1:]))
    assert provider.fetches == 1


async def test_an_unknown_key_is_looked_for_once_a_minute_whoever_asks(
    provider: Provider,
) -> None:
    await provider.keys.find("one")
    for made_up in ("x", "y", "z"):
        assert await provider.keys.find(made_up) is None
    provider.document = document("one", "two")
    provider.now_s = UNKNOWN_S

    assert await provider.keys.find("two")
    assert await provider.keys.find("x") is None
    assert provider.fetches == 2


async def test_keys_are_fetched_anew_while_nobody_waits(provider: Provider) -> None:
    await provider.keys.find("one")
    provider.now_s = REFRESH_S
    provider.document = document("two")
    provider.open.clear()
    old = await provider.keys.find("one")
    provider.open.set()

    assert old
    assert await provider.keys.find("two")
    assert await provider.keys.find("one") is None
    assert provider.fetches == 2


async def test_keys_outlast_a_provider_that_is_away_but_not_for_ever(provider: Provider) -> None:
    await provider.keys.find("one")
    provider.is_away = True
    provider.now_s = STALE_S - 1
    assert await provider.keys.find("one")

    provider.now_s = STALE_S + RETRY_S
    with pytest.raises(KeysUnavailableError):
        await provider.keys.find("one")

    provider.is_away = False
    provider.now_s += RETRY_S
    assert await provider.keys.find("one")


async def test_a_provider_that_is_away_at_first_is_asked_again_soon_but_not_at_once(
    provider: Provider,
) -> None:
    provider.is_away = True
    for _ in range(3):
        with pytest.raises(KeysUnavailableError):
            await provider.keys.find("one")
    provider.is_away = False
    provider.now_s = RETRY_S

    assert await provider.keys.find("one")
    assert provider.fetches == 2


@pytest.mark.parametrize("nonsense", [b"", b"{", b"[]", b'{"keys": 1}', b"{}", b'"keys"'])
async def test_what_is_no_key_set_is_like_none(provider: Provider, nonsense: bytes) -> None:
    provider.document = nonsense

    with pytest.raises(KeysUnavailableError):
        await provider.keys.find("one")


def test_only_keys_that_sign_by_the_one_algorithm_are_taken() -> None:
    curve = ec.generate_private_key(ec.SECP256R1()).public_key()
    entries = [
        okp("good"),
        {**okp("encrypts"), "use": "enc"},
        {**okp("other"), "alg": "ES256"},
        {**jwt.algorithms.ECAlgorithm.to_jwk(curve, as_dict=True), "kid": "curve"},
        {"kty": "oct", "k": "c2VjcmV0", "kid": "shared"},
        {"kid": "empty"},
        {"kty": "OKP"},
        "nonsense",
    ]

    assert list(parse_keys(json.dumps({"keys": entries}).encode(), "EdDSA")) == ["good"]


async def test_keys_come_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    path.write_bytes(document("one"))

    assert await FetchedKeys(from_file(path), "EdDSA").find("one")


class Web:
    """A web server that gives one answer to everybody."""

    def __init__(self, port: int) -> None:
        self.url = f"http://{'localhost'}:{port}/keys"
        self.answer = b""


@pytest.fixture
async def web() -> AsyncIterator[Web]:
    async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(served.answer)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(respond, "localhost", 0)
    served = Web(server.sockets[0].getsockname()[1])
    async with server:
        yield served


async def test_keys_come_from_a_url(web: Web) -> None:
    web.answer = b"HTTP/1.0 200 OK\r\n\r\n" + document("one")

    assert await FetchedKeys(from_url(web.url), "EdDSA").find("one")


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.0 500 Broken\r\n\r\n",
        b"HTTP/1.0 302 Found\r\nLocation: /elsewhere\r\n\r\n",
        b"HTTP/1.0 200 OK\r\n\r\n" + b" " * (SIZE_MAX + 1),
    ],
    ids=["broken", "redirected", "endless"],
)
async def test_what_a_url_gives_instead_of_keys_is_not_taken(web: Web, answer: bytes) -> None:
    web.answer = answer

    with pytest.raises(KeysUnavailableError):
        await FetchedKeys(from_url(web.url), "EdDSA").find("one")


@pytest.mark.parametrize("scheme", ["http", "file", "ftp", ""])
def test_a_url_that_others_could_answer_is_refused(scheme: str) -> None:
    with pytest.raises(ValueError, match="https"):
        from_url(f"{scheme}://{'provider.example'}/keys")
