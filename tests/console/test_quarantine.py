"""Matches in quarantine, read from a shell: by operators, who need them then more than ever."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile

import pytest

from libs.client import RefusedError
from libs.kernel.ids import MatchId
from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.store.memory_stream import MemoryStream
from libs.wire.heads import UNSIGNED
from libs.wire.record import StoredRecord
from opolyx.admin.v1 import admin_service_pb2 as pb
from services.testkit.composing import MemoryFoundation
from services.testkit.matches import MatchFactory
from services.testkit.stack import Stack, running_stack
from tests.support.commands import opolyx
from tests.support.damage import leave_only

pytestmark = pytest.mark.slow


@dataclass
class Shell:
    """A system, and a shell beside it.

    Attributes:
        sound, broken: two matches, of which the first is over. The second one was made later, so
            that it is listed first.

    """

    stack: Stack
    sound: MatchId
    broken: MatchId

    async def opolyx(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a command while the system goes on in this process."""
        variables = {
            "OPOLYX_DATA_FOLDER": str(self.stack.parts.foundation.settings.data_folder),
            "OPOLYX_PEERS__GATEWAY": self.stack.address,
        }
        return await asyncio.to_thread(opolyx, *arguments, **variables)

    def stream(self) -> MemoryStream:
        """Return what the store has of the broken match."""
        foundation = self.stack.parts.foundation
        assert isinstance(foundation, MemoryFoundation)
        return foundation.matches._streams[self.broken]

    async def quarantine(self, cause: str) -> None:
        """Put the match into quarantine, out of the memory of its engine too."""
        foundation = self.stack.parts.foundation
        assert isinstance(foundation, MemoryFoundation)
        await foundation.matches.quarantine(self.broken, cause)
        admin = self.stack.client("olga", "operator")
        request = pb.ReleaseMatchRequest(match_id=self.broken, reason="a test")
        with pytest.raises(RefusedError) as raised:
            await admin.call(admin.admin.ReleaseMatch, request)
        assert raised.value.told.reason == Reason.MATCH_QUARANTINED

    async def damage(self) -> None:
        """Change a record, as no engine would."""
        records = self.stream()._records
        data = records[1].data
        records[1] = records[1]._replace(data=data[:-1] + bytes([data[-1] ^ 1]))
        await self.quarantine("the record at 2 does not join on")

    async def lose(self) -> None:
        """Lose every record, but not the head."""
        leave_only(self.stream(), [])
        await self.quarantine("the head is further")


@pytest.fixture
async def shell() -> AsyncIterator[Shell]:
    async with running_stack() as stack:
        make = MatchFactory(stack)
        sound, broken = [await make(seats=["ada", "bob"]), await make(seats=["cem", "dan"])]
        await sound.play(0, c.Surrender(0))
        yield Shell(stack, sound.match_id, broken.match_id)


async def test_a_damaged_match_is_exported_by_operators_alone(shell: Shell, tmp_path: Path) -> None:
    await shell.damage()
    out = tmp_path / "match.opolyx"

    refused = await shell.opolyx("export", shell.broken, "--out", str(out))
    was_written = out.exists()
    told = await shell.opolyx("export", shell.broken, "--out", str(out), "--operator")

    assert (refused.returncode, was_written) == (1, False)
    assert refused.stderr.startswith("MATCH_QUARANTINED: ")
    assert told.returncode == 0, told.stderr
    assert "in quarantine, and its head is not signed" in told.stderr
    assert f'"key_id":"{UNSIGNED}"' in out.read_text()
    verified = opolyx("verify", str(out))
    assert verified.returncode == 6
    assert "line 3" in verified.stdout + verified.stderr


async def test_an_audit_of_all_goes_on_past_a_match_in_quarantine(shell: Shell) -> None:
    await shell.damage()

    anybody = await shell.opolyx("audit", "--all", "-o", "json")
    operator = await shell.opolyx("audit", "--all", "--operator", "-o", "json")
    alone = await shell.opolyx("audit", shell.broken, "--operator", "-o", "json")

    assert [told.returncode for told in (anybody, operator, alone)] == [6, 6, 6]
    faults = [
        {finding["match_id"]: finding["fault"] for finding in json.loads(told.stdout)}
        for told in (anybody, operator)
    ]
    assert [found[shell.sound] for found in faults] == ["", ""]
    assert faults[0][shell.broken].startswith("MATCH_QUARANTINED: ")
    assert faults[1][shell.broken].startswith(
        "in quarantine: the record at 2 does not join on; BrokenChainError: "
    )
    assert json.loads(alone.stdout)[0]["fault"] == faults[1][shell.broken]


async def test_a_match_of_which_no_list_knows_is_audited_too(shell: Shell) -> None:
    records = shell.stream()._records
    records[0] = StoredRecord(1, records[0].last_seq, records[0].hash, b"\xff")
    await shell.quarantine("these bytes are no record")

    told = await shell.opolyx("audit", "--all", "--operator", "-o", "json")

    faults = {finding["match_id"]: finding["fault"] for finding in json.loads(told.stdout)}
    assert list(faults) == [shell.sound, shell.broken]
    assert faults[shell.broken].startswith("in quarantine: these bytes are no record; ")


async def test_a_match_whose_seed_is_lost_is_whole_as_far_as_it_goes(
    shell: Shell, tmp_path: Path
) -> None:
    stream = shell.stream()
    stream.seed = stream.seed._replace(key_id="seal-0099")
    (shell.stack.parts.foundation.settings.data_folder / "seed-keys" / "seal-0099.lost").touch()
    await shell.quarantine("its seed cannot be opened")
    out, packed = tmp_path / "match.opolyx", tmp_path / "report.zip"

    audit = await shell.opolyx("audit", shell.broken, "--operator", "-o", "json")
    await shell.opolyx("export", shell.broken, "--out", str(out), "--operator")
    await shell.opolyx("bundle", shell.broken, "--out", str(packed), "--operator")

    assert audit.returncode == 6
    assert json.loads(audit.stdout)[0]["fault"] == (
        "in quarantine: its seed cannot be opened; its records check out"
    )
    assert opolyx("verify", str(out)).returncode == 0
    with ZipFile(packed) as archive:
        assert archive.read("fault.txt") == b"in quarantine: its seed cannot be opened\n"
        assert "state.json" in archive.namelist()


@pytest.mark.parametrize("is_empty", [False, True], ids=["damaged", "without a record"])
async def test_a_bundle_of_a_damaged_match_says_what_is_wrong(
    shell: Shell, tmp_path: Path, *, is_empty: bool
) -> None:
    await (shell.lose() if is_empty else shell.damage())
    out = tmp_path / "report.zip"

    told = await shell.opolyx("bundle", shell.broken, "--out", str(out), "--operator")

    assert told.returncode == 0, told.stderr
    with ZipFile(out) as archive:
        files = {name: archive.read(name).decode() for name in archive.namelist()}
    assert "state.json" not in files
    assert files["fault.txt"].startswith("in quarantine: the ")
    assert len(files["fault.txt"].splitlines()) == 2
    assert "fault.txt" in files["README.md"]
    assert f'"key_id":"{UNSIGNED}"' in files["match.opolyx"]
