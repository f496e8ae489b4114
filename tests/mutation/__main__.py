"""Change the rules in small ways and see whether a test notices: ``python -m tests.mutation``.

Not part of `make test`: it takes hours. Works on a copy, so that the tree can be worked in. Each
mutant is met by the tests of its topic first and by all fast tests of the rules, scenarios
included, if it survives those; every survivor must be killed by a better test, or explained in
``equivalent.txt``.
"""

import argparse
import os
import resource
import shutil
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

# Loaded once and inherited by every forked run; nothing of `libs` may be among it.
import hypothesis  # noqa: F401
import pytest

from tests.mutation.equivalents import explained
from tests.mutation.mutants import Mutant, mutants_of
from tests.support.repository import ROOT

RULES: Final = Path("libs/rules")
COPIED: Final = ("libs", "services", "tests", "protos", "pyproject.toml")
TIME_LIMIT_S: Final = 30
TIME_LIMIT_ALL_S: Final = 150
"""A mutant that takes longer, for the tests of its topic or for all, has been noticed."""
MEMORY_LIMIT: Final = 2 << 30
"""A mutant may loop for ever and remember everything."""

ALL: Final = ("tests/golden", "tests/rules")

QUICK: Final = ("-x", "-q", "-p", "no:randomly", "-p", "no:cacheprovider", "-m", "not slow")
SETTINGS: Final = ("-o", "timeout=0", "--no-header", "--tb=no", "--assert=plain")

FIRST: Final[dict[str, tuple[str, ...]]] = {
    "auctions": ("auctions",),
    "board": ("board", "views"),
    "building": ("building", "mortgages", "refusals", "debts"),
    "buying": ("turns", "clocks"),
    "cards": ("cards", "rents"),
    "clocks": ("clocks", "operating", "missed_turns", "refusals"),
    "debts": ("debts", "bankruptcy"),
    "decide": ("refusals", "operating", "setup", "turns"),
    "drawing": ("cards", "debts"),
    "ending": ("ending",),
    "flow": ("missed_turns", "setup", "operating", "turns"),
    "holdings": ("auctions", "trading", "building", "mortgages"),
    "jackpot": ("jackpot",),
    "jail": ("jail",),
    "landing": ("turns", "rents", "board"),
    "leaving": ("bankruptcy", "surrender", "auctions"),
    "ledger": ("ledger",),
    "legal": ("legal",),
    "match": ("ending", "bankruptcy", "legal", "views"),
    "money": ("debts", "bankruptcy", "jail", "missed_turns"),
    "movement": ("turns", "jail", "third_die"),
    "moving": ("board", "cards", "third_die"),
    "operating": ("operating",),
    "paying": ("debts", "tax"),
    "rents": ("rents", "tax"),
    "rewards": ("rewards",),
    "rolling": ("turns", "third_die", "jail"),
    "ruling": ("clocks", "turns"),
    "seeding": ("setup", "refusals"),
    "tables": ("tables",),
    "third_die": ("third_die",),
    "trading": ("trading", "refusals", "legal"),
    "turns": ("rounds", "mortgages", "missed_turns", "ending"),
    "views": ("views",),
}
"""The tests that look at a module most closely, by its name."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run; 1 if a mutant survived that is not explained, 2 if there is nothing to run."""
    asked = _parse(arguments)
    modules = [path for path in _modules() if not asked.module or path.stem in asked.module]
    reasons = explained()
    survivors = []
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy = Path(folder)
        _copy_into(copy)
        if not _pass(copy, ALL, TIME_LIMIT_ALL_S):
            _report("the tests fail without any mutant")
            return 2
        for path in modules:
            source = (ROOT / path).read_text(encoding="utf-8")
            mutants = mutants_of(source)[:: asked.sample]
            kept = [m for m in mutants if (str(path), m.name) not in reasons]
            lived = [m for m in kept if _survives(copy, path, m)]
            (copy / path).write_text(source, encoding="utf-8")
            survivors += [f"{path}:{m.line}: {m.name}" for m in lived]
            _report(f"{path}: {len(kept) - len(lived)} of {len(kept)} killed")
            for mutant in lived:
                _report(f"  survived {path}:{mutant.line}: {mutant.name}")
    _report(f"{len(survivors)} survivors that nothing explains")
    return 1 if survivors else 0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation")
    parser.add_argument("--module", action="append", help="a module's name, such as auctions")
    parser.add_argument("--sample", type=int, default=1, help="take every so many-th mutant")
    return parser.parse_args(arguments)


def _modules() -> list[Path]:
    return sorted(path.relative_to(ROOT) for path in (ROOT / RULES).rglob("*.py"))


def _copy_into(folder: Path) -> None:
    unwanted = shutil.ignore_patterns("__pycache__", "*.pyc", "*.so")
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=unwanted)
        else:
            shutil.copy(ROOT / name, folder / name)


def _survives(folder: Path, path: Path, mutant: Mutant) -> bool:
    (folder / path).write_text(mutant.text, encoding="utf-8")
    first = [f"tests/rules/test_{name}.py" for name in FIRST.get(path.stem, ())]
    if first and not _pass(folder, first, TIME_LIMIT_S):
        return False
    return _pass(folder, ALL, TIME_LIMIT_ALL_S)


def _pass(folder: Path, tests: Sequence[str], limit_s: int) -> bool:
    """Tell whether these tests pass there, in a process of their own with its limits."""
    child = os.fork()
    if child == 0:
        # Whatever happens here, this process must not go on as if it were its parent.
        try:
            signal.alarm(limit_s)
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
            os._exit(_run(folder, tests))
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) == 0


def _run(folder: Path, tests: Sequence[str]) -> int:
    os.chdir(folder)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    sys.dont_write_bytecode = True
    sys.path[0] = str(folder)
    for name in [name for name in sys.modules if name.split(".")[0] == "tests"]:
        del sys.modules[name]
    return int(pytest.main([*QUICK, *SETTINGS, *tests]))


def _report(line: str) -> None:
    print(line, flush=True)  # noqa: T201 - a script reports


if __name__ == "__main__":
    sys.exit(main())
