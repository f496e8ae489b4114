"""The wheel carries what a process needs: our packages, the generated code, and the command."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.support.repository import ROOT

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """Build the wheel by what the lock installed, fetching nothing."""
    folder: Path = tmp_path_factory.mktemp("wheel")
    offline = ["--no-index", "--no-deps", "--no-build-isolation", "--quiet"]
    build = [sys.executable, "-m", "pip", "wheel", *offline, f"--wheel-dir={folder}", str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    return zipfile.ZipFile(next(folder.glob("opolyx-*.whl")))


def test_the_wheel_holds_our_packages_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    top = {name.partition("/")[0] for name in wheel.namelist()}

    assert {name for name in top if not name.endswith(".dist-info")} == {
        "libs",
        "opolyx",
        "services",
    }


def test_the_wheel_carries_every_module_that_was_generated(wheel: zipfile.ZipFile) -> None:
    generated = ROOT / "protos/gen"
    modules = [str(path.relative_to(generated)) for path in generated.rglob("*.py")]

    assert modules
    assert [module for module in modules if module not in wheel.namelist()] == []


def test_the_wheel_carries_every_migration(wheel: zipfile.ZipFile) -> None:
    folders = [ROOT / "libs", ROOT / "services"]
    migrations = [str(path.relative_to(ROOT)) for at in folders for path in at.rglob("*.sql")]

    assert migrations
    assert [migration for migration in migrations if migration not in wheel.namelist()] == []


def test_the_wheel_is_refused_by_every_index(wheel: zipfile.ZipFile) -> None:
    metadata = next(name for name in wheel.namelist() if name.endswith("METADATA"))

    assert b"Classifier: Private :: Do Not Upload" in wheel.read(metadata)
