import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from libs.chassis.alone import USAGE, run_alone
from libs.chassis.foundation import NodeSettings
from tests.support.repository import ROOT
from tests.support.waiting import until


async def test_a_service_runs_in_a_process_of_its_own_until_it_is_told_to_stop(
    tmp_path: Path,
) -> None:
    log = tmp_path / "log.jsonl"
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OPOLYX_")}
    told = {
        "OPOLYX_DATA_FOLDER": str(tmp_path),
        "OPOLYX_GATEWAY__PORT": "0",
        "OPOLYX_TELEMETRY__METRICS_PORT": "0",
        "OPOLYX_TELEMETRY__LOG_STYLE": "json",
    }
    with log.open("wb") as stderr:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "services.gateway"),
            cwd=ROOT,
            env={**kept, **told},
            stderr=stderr,
        )
    try:
        await until(lambda: '"service_started"' in log.read_text(), 60)
        process.send_signal(signal.SIGTERM)
        code = await asyncio.wait_for(process.wait(), 30)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()

    assert code == 0
    assert '"server_listening"' in log.read_text()


def test_a_setting_that_is_wrong_is_said_and_nothing_starts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPOLYX_STORE__UNSAFE", "perhaps")

    code = run_alone("nothing", NodeSettings, lambda *_: pytest.fail("it started"))

    assert code == USAGE
    assert "OPOLYX_STORE__UNSAFE" in capsys.readouterr().err
