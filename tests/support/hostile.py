"""Connections as only somebody makes them who means no good, or is broken."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from tests.support.repository import ROOT

SETTINGS_FRAME: Final = b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"
PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + SETTINGS_FRAME
"""How an HTTP/2 connection begins."""

_WATCHER: Final = """
import sys
import grpc
from opolyx.match.v1 import match_service_pb2 as pb
from opolyx.match.v1.match_service_pb2_grpc import MatchServiceStub
address, token, match_id = sys.argv[1:]
with grpc.insecure_channel(address) as channel:
    metadata = (("authorization", f"Bearer {token}"),)
    request = pb.WatchMatchRequest(match_id=match_id)
    for response in MatchServiceStub(channel).WatchMatch(request, metadata=metadata):
        print(response.WhichOneof("response"), flush=True)
"""


class Raw(NamedTuple):
    """A connection without any protocol."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def is_closed_by_other(self) -> bool:
        """Read until the other side has closed it."""
        try:
            while await self.reader.read(65_536):
                pass
        except ConnectionError:
            pass
        return True


@asynccontextmanager
async def raw(address: str, data: bytes = b"", number: int = 1) -> AsyncIterator[list[Raw]]:
    """Open connections, and send the same on each."""
    host, _, port = address.rpartition(":")
    opened: list[Raw] = []
    try:
        for _ in range(number):
            opened.append(Raw(*await asyncio.open_connection(host, int(port))))
            opened[-1].writer.write(data)
        yield opened
    finally:
        for each in opened:
            each.writer.close()


@contextmanager
def watcher(address: str, token: str, match_id: str) -> Iterator[subprocess.Popen[str]]:
    """Run a process that watches a match, and prints what kind of news has come."""
    paths = f"{ROOT}:{ROOT / 'protos' / 'gen'}"
    process = subprocess.Popen(
        [sys.executable, "-c", _WATCHER, address, token, match_id],
        stdout=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": paths},
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def memory_bytes(pid: int) -> int:
    """Return how much memory a process has in use (RSS)."""
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096
