"""A recorded match, as a file and on a system that runs, for the commands that read one."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from libs.rules import phases
from libs.wire.export import write_export
from libs.wire.heads import SigningKey, key_file
from tests.support.matches import Table, play_match
from tests.support.played import Played, played_match
from tests.support.postgres import database, postgres_server

__all__ = ["database", "postgres_server"]

KEY = SigningKey(b"k" * 32, "test-1")


@pytest.fixture
def cli() -> CliRunner:
    """Return what runs a command and keeps its output."""
    return CliRunner()


@pytest.fixture(scope="session")
def table() -> Table:
    """Return a match that was played to its end."""
    played = play_match("opolyx.speed@2", 3, seed=4)
    assert played.match.phase == phases.ENDED
    return played


@pytest.fixture(scope="session")
def export(table: Table, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the export of that match."""
    chain = table.chain
    head = KEY.sign(chain.match_id, chain.last_seq, chain.last_hash, ended=True)
    path = tmp_path_factory.mktemp("exports") / "match.opolyx"
    path.write_bytes(write_export(chain.match_id, table.records, head))
    return path


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the public keys that the export was signed with."""
    path = tmp_path_factory.mktemp("keys") / "keys.json"
    path.write_text(key_file([KEY]))
    return path


@pytest.fixture(scope="module")
def played() -> Iterator[Played]:
    """Return a system on which a match was played to its end."""
    with played_match() as found:
        yield found
