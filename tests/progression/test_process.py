"""``python -m services.progression``: a process of its own that ends when it is told."""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.postgres


async def test_it_serves_until_a_signal_says_stop(emptied: str, tmp_path: Path) -> None:
    settings = {
        "OPOLYX_DATA_FOLDER": str(tmp_path),
        "OPOLYX_STORE__URL": emptied,
        "OPOLYX_STORE__UNSAFE": "true",
        "OPOLYX_PROGRESSION__PORT": "0",
        "OPOLYX_PEERS__MATCH_ENGINES": "127.0.0.1:1",
        "OPOLYX_TELEMETRY__METRICS_PORT": "0",
        "OPOLYX_TELEMETRY__LOG_STYLE": "json",
    }
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "services.progression"),
        env=os.environ | settings,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stderr is not None
    said = []
    try:
        async with asyncio.timeout(60):
            async for line in process.stderr:
                event = json.loads(line)["event"]
                said.append(event)
                if event == "service_started" and said.count(event) == 2:
                    process.send_signal(signal.SIGTERM)
            code = await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()

    assert code == 0, said
    assert "server_listening" in said
    assert said[-1] == "service_stopped"
