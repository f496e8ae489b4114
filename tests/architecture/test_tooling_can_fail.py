"""A check that cannot fail checks nothing: plant what each one must find, and see it found."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.support.repository import ROOT

pytestmark = pytest.mark.slow

BIN: Final = Path(sys.executable).parent

PURE: Final = "The rules are pure: no I/O, no wire format, no framework BROKEN"
INWARDS: Final = "Dependencies point inwards: services -> libs, and inside libs downwards BROKEN"
SERVERLESS: Final = "Whole matches are played without a server BROKEN"
ALONE: Final = "The verifier shares no code with what it verifies BROKEN"
KITLESS: Final = "Nothing that serves people knows the test kit BROKEN"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Return a copy of the code and of the tools' settings, to be spoilt."""
    skipped = shutil.ignore_patterns("__pycache__")
    for folder in ("libs", "services", "protos"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=skipped)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_import_linter_passes_what_nobody_spoilt(copy: Path) -> None:
    assert _lint_imports(copy).returncode == 0


@pytest.mark.parametrize(
    ("module", "planted", "contract"),
    [
        ("libs/rules/board.py", "import asyncpg", PURE),
        ("libs/rules/board.py", "import opolyx.record.v1", PURE),
        ("libs/bots/__init__.py", "import asyncio", PURE),
        ("libs/kernel/ids.py", "import libs.rules.board", INWARDS),
        ("libs/rules/board.py", "import services.console", INWARDS),
        ("libs/store/ports.py", "import libs.chassis.server", INWARDS),
        ("libs/simulation/playing.py", "import libs.store.memory", SERVERLESS),
        ("libs/verify.py", "import libs.kernel.chance", ALONE),
        ("services/match_engine/deciding.py", "import services.testkit.dice", KITLESS),
        ("services/console/serve.py", "import services.testkit.dice", KITLESS),
    ],
    ids=[
        "a database",
        "the wire",
        "a loop",
        "upwards",
        "a service",
        "the chassis",
        "a store",
        "our chance",
        "the test kit",
        "the test kit, by a command",
    ],
)
def test_import_linter_finds_an_import_that_points_the_wrong_way(
    copy: Path, module: str, planted: str, contract: str
) -> None:
    _plant(copy / module, planted)

    verdict = _lint_imports(copy)

    assert verdict.returncode != 0
    assert contract in verdict.stdout


@pytest.mark.parametrize(
    ("planted", "code"),
    [
        ("import datetime\n\nNOW = datetime.datetime.now(tz=datetime.UTC)", "TID251"),
        ("import random", "TID251"),
        ("import uuid\n\nID = uuid.uuid4()", "TID251"),
        ("from . import cards", "TID252"),
        ("def untold() -> None:\n    pass", "D103"),
        ("def untyped(square):\n    '''Do.'''", "ANN001"),
    ],
    ids=["the clock", "a die", "a random id", "a relative import", "no docstring", "no types"],
)
def test_ruff_finds_what_the_rules_may_not_do(copy: Path, planted: str, code: str) -> None:
    _plant(copy / "libs/rules/board.py", planted)

    verdict = _run(copy, "ruff", "check", "--no-cache", "--output-format=concise", "libs/rules")

    assert verdict.returncode != 0
    assert f" {code} " in verdict.stdout


def test_mypy_finds_the_case_that_a_match_forgot(copy: Path) -> None:
    planted = copy / "libs/planted.py"
    planted.write_text(
        "from typing import Literal\n\n\n"
        "def word(face: Literal[1, 2]) -> str:\n"
        "    match face:\n        case 1:\n            return 'one'\n    return 'more'\n"
    )

    verdict = _run(copy, "mypy", "--cache-dir", os.devnull, str(planted))

    assert verdict.returncode != 0
    assert "[exhaustive-match]" in verdict.stdout


def test_buf_finds_a_field_that_was_renumbered(copy: Path) -> None:
    proto = min((copy / "protos/opolyx").rglob("*.proto"))
    text = proto.read_text(encoding="utf-8")
    proto.write_text(re.sub(r"= 1;", "= 1001;", text, count=1), encoding="utf-8")

    verdict = _run(copy / "protos", "buf", "breaking", "--against", str(ROOT / "protos"))

    assert verdict.returncode != 0
    assert proto.name in verdict.stdout


def test_buf_finds_a_message_without_a_comment(copy: Path) -> None:
    proto = min((copy / "protos/opolyx").rglob("*.proto"))
    _plant(proto, "message Untold {}")

    verdict = _run(copy / "protos", "buf", "lint")

    assert verdict.returncode != 0
    assert "Untold" in verdict.stdout


def _plant(module: Path, text: str) -> None:
    module.parent.mkdir(parents=True, exist_ok=True)
    with module.open("a", encoding="utf-8") as file:
        file.write(f"\n{text}\n")


def _lint_imports(copy: Path) -> subprocess.CompletedProcess[str]:
    return _run(copy, "lint-imports", "--no-cache")


def _run(folder: Path, tool: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run one of our tools in *folder*, whose packages hide those of the repository."""
    path = os.pathsep.join([str(folder), str(folder / "protos/gen")])
    environment = {**os.environ, "PYTHONPATH": path}
    return subprocess.run(
        [BIN / tool, *arguments],
        cwd=folder,
        env=environment,
        check=False,
        capture_output=True,
        text=True,
    )
