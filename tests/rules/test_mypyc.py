"""The rules stay compilable by mypyc, and play the same matches when they are compiled."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.repository import ROOT

COMPILED = ("libs/rules/**/*.py", "libs/kernel/chance.py", "libs/kernel/reasons.py")
"""What is compiled: all that a decision runs through."""

SET_UP = f"""
from glob import glob
from mypyc.build import mypycify
from setuptools import setup

sources = [path for pattern in {COMPILED!r} for path in sorted(glob(pattern, recursive=True))]
setup(name="compiled", packages=[], ext_modules=mypycify(sources, opt_level="0"))
"""

PLAY = """
import libs.rules.decide
from libs.simulation.playing import run_match, set_up
from libs.rules.snapshot import state_hash

print(libs.rules.decide.__file__)
for rule_set in ("opolyx.speed@1", "opolyx.speed@2", "opolyx.teams@2"):
    for number in range(3):
        print(state_hash(run_match(set_up(rule_set, 4, 1, number)).match).hex())
"""


def play(folder: Path) -> list[str]:
    """Return the file that decides in *folder*, and the hashes of some matches played by it."""
    environment = os.environ | {"PYTHONPATH": str(folder)}
    command = [sys.executable, "-c", PLAY]
    printed = subprocess.check_output(command, cwd=folder, env=environment, text=True)
    return printed.split()


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.skipif(
    not any(shutil.which(compiler) for compiler in ("cc", "gcc", "clang")),
    reason="mypyc needs a C compiler, and there is none here",
)
def test_the_compiled_rules_play_the_same_matches(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "libs", tmp_path / "libs")
    (tmp_path / "setup.py").write_text(SET_UP)
    build = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    built = subprocess.run(build, cwd=tmp_path, check=False, capture_output=True, text=True)
    assert built.returncode == 0, built.stdout + built.stderr

    compiled, *hashes = play(tmp_path)

    interpreted, *expected = play(ROOT)
    assert Path(compiled).suffix != ".py"
    assert Path(interpreted).suffix == ".py"
    assert len(hashes) == 9
    assert hashes == expected
