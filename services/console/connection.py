"""What the commands that talk to a running system share: where it is, who asks, what went wrong."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, TypeVar

import grpc

from libs.chassis.channels import Channel, open_channel
from libs.chassis.foundation import NodeSettings
from libs.chassis.issuing import DevelopmentIssuer
from libs.chassis.settings import SettingsError, load
from libs.chassis.status import answer_of
from libs.kernel.clock import SystemClock
from libs.kernel.ids import MatchId
from libs.telemetry import logs
from libs.wire.heads import SignedHead
from libs.wire.record import StoredRecord
from opolyx.match.v1 import match_service_pb2 as pb
from opolyx.match.v1 import match_service_pb2_grpc as pb_grpc
from services.console.exits import FAILED, NOT_FOUND, USAGE, stop

SUBJECT: Final = "opolyx-console"
"""Who this command line is, where nobody gives it a token."""

PAGE: Final = 200

T = TypeVar("T")


def ask(address: str | None, token_file: Path | None, work: Callable[[Channel], Awaitable[T]]) -> T:
    """Do *work* on a channel to the gateway, or end the command with what was answered."""
    logs.configure(level="warning")
    try:
        settings = load(NodeSettings, os.environ)
        token = _token(settings, token_file)
    except SettingsError as error:
        stop(str(error), USAGE)
    where = address or settings.peers.gateway
    try:
        return asyncio.run(_with_channel(where, token, work))
    except grpc.aio.AioRpcError as error:
        told = answer_of(error).told
        if told is None and error.code() is grpc.StatusCode.UNAVAILABLE:
            stop(f"nothing answers at {where}; `opolyx serve all` starts the system", FAILED)
        is_missing = error.code() is grpc.StatusCode.NOT_FOUND
        why = f"{told.reason}: {told.text}" if told is not None else str(error.details())
        stop(why, NOT_FOUND if is_missing else FAILED)


async def read_match(channel: Channel, match_id: MatchId) -> tuple[list[StoredRecord], SignedHead]:
    """Return all records of a match, and its head at the last of them, signed."""
    stub = pb_grpc.MatchServiceStub(channel)
    records: list[StoredRecord] = []
    token = ""
    while True:
        page = await stub.ReadEvents(
            pb.ReadEventsRequest(match_id=match_id, page_size=PAGE, page_token=token)
        )
        records += (StoredRecord(r.first_seq, r.last_seq, r.hash, r.data) for r in page.records)
        token = page.next_page_token
        if not token:
            break
    # Signed for where we stopped: a match that goes on has moved since.
    last_seq = records[-1].last_seq if records else 0
    head = await stub.GetHead(pb.GetHeadRequest(match_id=match_id, sequence=last_seq))
    signed = SignedHead(head.sequence, head.chain_hash, head.ended, head.key_id, head.signature)
    return records, signed


async def match_ids(channel: Channel) -> AsyncIterator[MatchId]:
    """Go through the ids of all matches that the caller may see, newest first."""
    stub = pb_grpc.MatchServiceStub(channel)
    token = ""
    while True:
        page = await stub.ListMatches(pb.ListMatchesRequest(page_size=PAGE, page_token=token))
        for match in page.matches:
            yield MatchId(match.match_id)
        token = page.next_page_token
        if not token:
            return


async def public_keys(channel: Channel) -> dict[str, bytes]:
    """Return the public keys by which heads are checked, by id, the newest first."""
    stub = pb_grpc.MatchServiceStub(channel)
    found: dict[str, bytes] = {}
    token = ""
    while True:
        page = await stub.ListKeys(pb.ListKeysRequest(page_size=PAGE, page_token=token))
        found |= {key.key_id: key.public_key for key in page.keys}
        token = page.next_page_token
        if not token:
            return found


@asynccontextmanager
async def connected(address: str, token: Callable[[], str]) -> AsyncIterator[Channel]:
    """Yield a channel to the gateway; each call carries the *token* of that moment."""
    async with open_channel(address, token=token) as channel:
        yield channel


async def _with_channel(address: str, token: str, work: Callable[[Channel], Awaitable[T]]) -> T:
    async with connected(address, lambda: token) as channel:
        return await work(channel)


def _token(settings: NodeSettings, file: Path | None) -> str:
    if file is not None:
        try:
            return file.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            stop(f"{file}: there is no token that can be read", NOT_FOUND)
    if settings.auth.mode != "dev":
        stop("give --token-file: tokens are issued by the identity provider", USAGE)
    issuer = DevelopmentIssuer.open(settings.data_folder, settings.auth, SystemClock())
    return issuer.issue(SUBJECT)
