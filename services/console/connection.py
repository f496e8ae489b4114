"""What the commands that talk to a running system share: where it is, who asks, what went wrong."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, NoReturn, TypeVar

import grpc

from libs.chassis.foundation import NodeSettings
from libs.chassis.roles import OPERATOR
from libs.chassis.settings import SettingsError, load
from libs.chassis.status import RefusedError, answer_of
from libs.client.calls import ConnectionLostError
from libs.client.client import Client
from libs.client.stream import StreamBrokenError
from libs.client.tokens import Token
from libs.kernel.ids import MatchId
from libs.kernel.reasons import Reason
from libs.rules import events as e
from libs.telemetry import logs
from libs.wire.chain import BrokenChainError
from libs.wire.events import NewerSchemaError, UnreadableError
from libs.wire.heads import SignedHead, unsigned
from libs.wire.record import HASH_SIZE, StoredRecord, decode
from libs.wire.refusals import Told
from opolyx.admin.v1 import admin_service_pb2 as admin_pb
from opolyx.match.v1 import match_service_pb2 as pb
from services.console.asking import Asker
from services.console.development import development_issuer
from services.console.exits import FAILED, NOT_FOUND, USAGE, stop
from services.console.fleet import with_peers
from services.console.paging import PAGE, listed
from services.console.progress import Advance

PAUSE_MS: Final = 100

T = TypeVar("T")


def ask(asker: Asker, work: Callable[[Client], Awaitable[T]]) -> T:
    """Do *work* as a client of the gateway, or end the command with what was answered."""
    logs.configure(level="warning")
    try:
        settings = load(NodeSettings, with_peers(os.environ))
        token = _token(settings, asker)
    except SettingsError as error:
        stop(str(error), USAGE)
    where = asker.address or settings.peers.gateway
    try:
        return asyncio.run(_with_client(where, token, work))
    except grpc.aio.AioRpcError as error:
        told = answer_of(error).told
        if told is not None:
            _refuse(told, error.code(), asker, settings)
        if error.code() is grpc.StatusCode.UNAVAILABLE:
            stop(f"nothing answers at {where}; `opolyx serve all` starts the system", FAILED)
        stop(str(error.details()), _code(error.code()))
    except RefusedError as error:
        _refuse(error.told, error.code, asker, settings)
    except (ConnectionLostError, StreamBrokenError, BrokenChainError) as error:
        stop(f"{where}: {error}", FAILED)


def send(asker: Asker, service: str, request: Any) -> Any:
    """Send a request to a service of a client, such as `lobby`, and return the reply.

    Once and not again and again: where nothing answers, somebody waits to hear it. Otherwise as
    `ask`.
    """

    async def work(client: Client) -> Any:
        return await method_of(getattr(client, service), request)(request)

    return ask(asker, work)


def method_of(stub: Any, request: Any) -> Callable[[Any], Awaitable[Any]]:
    """Return the method of *stub* that takes *request*: its name says which."""
    method: Callable[[Any], Awaitable[Any]] = getattr(
        stub, request.DESCRIPTOR.name.removesuffix("Request")
    )
    return method


def _refuse(told: Told, code: grpc.StatusCode, asker: Asker, settings: NodeSettings) -> NoReturn:
    """End the command with a refusal, and what of it only this side knows."""
    lines = [f"{told.reason}: {told.text}"]
    if code is grpc.StatusCode.NOT_FOUND:
        lines.append(f"Asked {asker}: what is private is not there for others.")
    if told.reason == Reason.TOKEN_INVALID and told.metadata.get("check") == "key":
        lines.append(_whose_key(asker, settings))
    stop(" ".join(lines), _code(code))


def _code(code: grpc.StatusCode) -> int:
    return NOT_FOUND if code is grpc.StatusCode.NOT_FOUND else FAILED


def _whose_key(asker: Asker, settings: NodeSettings) -> str:
    if asker.token_file is not None:
        return (
            f"The system does not know the key by which the token in {asker.token_file} was made."
        )
    return (
        f"The token was made by the key in {settings.data_folder.resolve()} which the system does "
        "not know: set OPOLYX_DATA_FOLDER to the data folder of the system (it says which when it "
        "has started), or give --token-file where tokens are an identity provider's."
    )


async def read_match(
    client: Client, match_id: MatchId, advance: Advance | None = None
) -> tuple[list[StoredRecord], SignedHead]:
    """Return all records of a match, and its head at the last of them, signed.

    A match in quarantine, whose records operators may read, is given a head that nobody signed.
    *advance* is told how many events have come, and how many there are.
    """
    records: list[StoredRecord] = []
    token = ""
    while True:
        request = pb.ReadEventsRequest(match_id=match_id, page_size=PAGE, page_token=token)
        page = await _patient(client.match.ReadEvents)(request)
        records += (StoredRecord(r.first_seq, r.last_seq, r.hash, r.data) for r in page.records)
        if advance is not None and records:
            advance(records[-1].last_seq, page.head_sequence)
        token = page.next_page_token
        if not token:
            break
    # Signed for where we stopped: a match that goes on has moved since.
    last_seq = records[-1].last_seq if records else None
    wanted = pb.GetHeadRequest(match_id=match_id, sequence=last_seq)
    try:
        head = await _patient(client.match.GetHead)(wanted)
    except grpc.aio.AioRpcError as error:
        if reason_of(error) != Reason.MATCH_QUARANTINED:
            raise
        return records, _unsigned(records)
    signed = SignedHead(head.sequence, head.chain_hash, head.ended, head.key_id, head.signature)
    return records, signed


def _unsigned(records: Sequence[StoredRecord]) -> SignedHead:
    """Return where records stop; that the match is over, only their last one can tell."""
    if not records:
        return unsigned(0, bytes(HASH_SIZE), ended=False)
    last = records[-1]
    try:
        events = decode(last.data).events
    except (UnreadableError, NewerSchemaError):
        events = []
    is_over = any(isinstance(event, e.MatchEnded | e.MatchAborted) for event in events)
    return unsigned(last.last_seq, last.hash, ended=is_over)


def reason_of(error: grpc.aio.AioRpcError) -> str:
    """Return the reason of a refusal, empty where none was given."""
    told = answer_of(error).told
    return told.reason if told is not None else ""


async def quarantined(client: Client) -> dict[MatchId, str]:
    """Return the matches in quarantine, each with what is wrong with it. For operators alone."""
    method = _patient(client.admin.ListQuarantinedMatches)
    found = await listed(method, admin_pb.ListQuarantinedMatchesRequest(), "matches")
    return {MatchId(each.match_id): each.cause for each in found}


async def match_ids(client: Client) -> list[MatchId]:
    """Return the ids of all matches that the caller may see, newest first."""
    found = await listed(_patient(client.match.ListMatches), pb.ListMatchesRequest(), "matches")
    return [MatchId(match.match_id) for match in found]


async def public_keys(client: Client) -> dict[str, bytes]:
    """Return the public keys by which heads are checked, by id, the newest first."""
    found = await listed(client.match.ListKeys, pb.ListKeysRequest(), "keys")
    return {key.key_id: key.public_key for key in found}


def _patient(method: Callable[[Any], Awaitable[T]]) -> Callable[[Any], Awaitable[T]]:
    """Return *method*, called again for as long as the only objection is that we call too often."""

    async def call(request: Any) -> T:
        while True:
            try:
                return await method(request)
            except grpc.aio.AioRpcError as error:
                answer = answer_of(error)
                if answer.told is None or answer.told.reason != Reason.RATE_LIMITED:
                    raise
                await asyncio.sleep((answer.retry_after_ms or PAUSE_MS) / 1000)

    return call


async def _with_client(address: str, token: Token, work: Callable[[Client], Awaitable[T]]) -> T:
    async with Client.connect(address, token) as client:
        return await work(client)


def _token(settings: NodeSettings, asker: Asker) -> Token:
    file = asker.token_file
    if file is not None:
        try:
            file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            stop(f"{file}: there is no token that can be read", NOT_FOUND)
        return file
    if settings.auth.mode != "dev":
        stop("give --token-file: tokens are issued by the identity provider", USAGE)
    issuer = development_issuer(settings)
    roles = (OPERATOR,) if asker.is_operator else ()
    # For each call: a match may take longer than a token is good.
    return lambda: issuer.issue(asker.player, roles=roles)
