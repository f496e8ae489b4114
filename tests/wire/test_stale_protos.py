"""Compiled protos that are older than the code are told, with what helps against it."""

import subprocess
import sys

import pytest

from tests.support.repository import ROOT

SPOILT = """
import sys
from opolyx.record.v1 import event_pb2, record_pb2
{spoil}
from libs.wire import export
"""


@pytest.mark.parametrize(
    "spoil",
    [
        "sys.modules['opolyx.record.v1.event_pb2'] = None; del sys.modules['opolyx.record.v1']",
        "del event_pb2.JackpotRolled",
        "event_pb2.TokenMoved = event_pb2.SalaryPaid",
        "event_pb2.SalaryPaid = event_pb2.DiceRolled",
        "event_pb2.Event = event_pb2.MatchCreated",
    ],
    ids=["absent", "a message", "an enum", "a field", "the list of events"],
)
def test_the_way_out_is_named(spoil: str) -> None:
    told = subprocess.run(
        [sys.executable, "-c", SPOILT.format(spoil=spoil)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    last = told.stderr.splitlines()[-1]
    assert told.returncode == 1
    assert last.startswith(
        "ImportError: the compiled protos do not fit this code: run `make setup`"
    )
