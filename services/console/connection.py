"""What the commands that talk to a running system share: where it is, who asks, what went wrong."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

import grpc

from libs.chassis.foundation import NodeSettings
from libs.chassis.issuing import DevelopmentIssuer
from libs.chassis.settings import SettingsError, load
from libs.chassis.status import RefusedError, answer_of
from libs.client.calls import ConnectionLostError
from libs.client.client import Client
from libs.client.stream import StreamBrokenError
from libs.client.tokens import Token
from libs.kernel.clock import SystemClock
from libs.kernel.ids import MatchId
from libs.kernel.reasons import Reason
from libs.telemetry import logs
from libs.wire.chain import BrokenChainError
from libs.wire.heads import SignedHead
from libs.wire.record import StoredRecord
from opolyx.match.v1 import match_service_pb2 as pb
from services.console.exits import FAILED, NOT_FOUND, USAGE, stop
from services.console.fleet import with_peers
from services.console.progress import Advance

SUBJECT: Final = "opolyx-console"
"""Who this command line is, where nobody gives it a token."""

PAGE: Final = 200
PAUSE_MS: Final = 100

T = TypeVar("T")


def ask(
    address: str | None,
    token_file: Path | None,
    work: Callable[[Client], Awaitable[T]],
    *,
    player: str = SUBJECT,
    roles: Collection[str] = (),
) -> T:
    """Do *work* as a client of the gateway, or end the command with what was answered.

    Where no token is given, *player* is who asks, with these *roles*, by development tokens.
    """
    logs.configure(level="warning")
    try:
        settings = load(NodeSettings, with_peers(os.environ))
        token = _token(settings, token_file, player, roles)
    except SettingsError as error:
        stop(str(error), USAGE)
    where = address or settings.peers.gateway
    try:
        return asyncio.run(_with_client(where, token, work))
    except grpc.aio.AioRpcError as error:
        told = answer_of(error).told
        if told is None and error.code() is grpc.StatusCode.UNAVAILABLE:
            stop(f"nothing answers at {where}; `opolyx serve all` starts the system", FAILED)
        is_missing = error.code() is grpc.StatusCode.NOT_FOUND
        why = f"{told.reason}: {told.text}" if told is not None else str(error.details())
        stop(why, NOT_FOUND if is_missing else FAILED)
    except RefusedError as error:
        is_missing = error.code is grpc.StatusCode.NOT_FOUND
        stop(f"{error.told.reason}: {error.told.text}", NOT_FOUND if is_missing else FAILED)
    except (ConnectionLostError, StreamBrokenError, BrokenChainError) as error:
        stop(f"{where}: {error}", FAILED)


async def read_match(
    client: Client, match_id: MatchId, advance: Advance | None = None
) -> tuple[list[StoredRecord], SignedHead]:
    """Return all records of a match, and its head at the last of them, signed.

    *advance* is told how many events have come, and how many there are.
    """
    records: list[StoredRecord] = []
    token = ""
    while True:
        request = pb.ReadEventsRequest(match_id=match_id, page_size=PAGE, page_token=token)
        page = await _patiently(partial(client.match.ReadEvents, request))
        records += (StoredRecord(r.first_seq, r.last_seq, r.hash, r.data) for r in page.records)
        if advance is not None and records:
            advance(records[-1].last_seq, page.head_sequence)
        token = page.next_page_token
        if not token:
            break
    # Signed for where we stopped: a match that goes on has moved since.
    last_seq = records[-1].last_seq if records else 0
    wanted = pb.GetHeadRequest(match_id=match_id, sequence=last_seq)
    head = await _patiently(partial(client.match.GetHead, wanted))
    signed = SignedHead(head.sequence, head.chain_hash, head.ended, head.key_id, head.signature)
    return records, signed


async def match_ids(client: Client) -> AsyncIterator[MatchId]:
    """Go through the ids of all matches that the caller may see, newest first."""
    token = ""
    while True:
        request = pb.ListMatchesRequest(page_size=PAGE, page_token=token)
        page = await _patiently(partial(client.match.ListMatches, request))
        for match in page.matches:
            yield MatchId(match.match_id)
        token = page.next_page_token
        if not token:
            return


async def public_keys(client: Client) -> dict[str, bytes]:
    """Return the public keys by which heads are checked, by id, the newest first."""
    found: dict[str, bytes] = {}
    token = ""
    while True:
        page = await client.match.ListKeys(pb.ListKeysRequest(page_size=PAGE, page_token=token))
        found |= {key.key_id: key.public_key for key in page.keys}
        token = page.next_page_token
        if not token:
            return found


async def _patiently(call: Callable[[], Awaitable[T]]) -> T:
    """Call, and again for as long as the only objection is that we call too often."""
    while True:
        try:
            return await call()
        except grpc.aio.AioRpcError as error:
            answer = answer_of(error)
            if answer.told is None or answer.told.reason != Reason.RATE_LIMITED:
                raise
            await asyncio.sleep((answer.retry_after_ms or PAUSE_MS) / 1000)


async def _with_client(address: str, token: Token, work: Callable[[Client], Awaitable[T]]) -> T:
    async with Client.connect(address, token) as client:
        return await work(client)


def _token(settings: NodeSettings, file: Path | None, player: str, roles: Collection[str]) -> Token:
    if file is not None:
        try:
            file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            stop(f"{file}: there is no token that can be read", NOT_FOUND)
        return file
    if settings.auth.mode != "dev":
        stop("give --token-file: tokens are issued by the identity provider", USAGE)
    issuer = DevelopmentIssuer.open(settings.data_folder, settings.auth, SystemClock())
    # For each call: a match may take longer than a token is good.
    return lambda: issuer.issue(player, roles=roles)
