"""The kit in runs of pytest of their own: strangers' projects, the guide's, and both stores."""

from pathlib import Path
from typing import Final

import pytest

from tests.docs.reading import DOCS, blocks
from tests.support.repository import ROOT
from tests.testkit.projects import AUTO, PLAIN, run, run_in

pytestmark = pytest.mark.slow

GUIDE: Final = DOCS / "testing-with-opolyx.md"
SUITE: Final = "tests/testkit/test_playing.py"

LOOKING: Final = """
import sys

pytest_plugins = ["services.testkit.plugin"]


def pytest_sessionfinish():
    print("imported:", [name for name in ("grpc", "asyncpg", "libs.rules") if name in sys.modules])
"""
A_TEST: Final = """
async def test_it(opolyx_stack):
    assert opolyx_stack.address
"""


def test_the_examples_of_the_guide_run(tmp_path: Path) -> None:
    conftest, *examples = blocks(GUIDE, "python")
    files = {f"test_{number}.py": text for number, text in enumerate(examples)}

    done = run(tmp_path, {**files, "conftest.py": conftest})

    assert len(examples) == 3
    assert "3 passed" in done.said, done.said


@pytest.mark.postgres
@pytest.mark.parametrize("store", ["memory", "postgres"])
def test_the_same_tests_pass_on_either_store(store: str) -> None:
    done = run_in(ROOT, SUITE, "--opolyx-store", store)

    assert done.code == 0, done.said


def test_a_store_is_one_of_two(tmp_path: Path) -> None:
    done = run(tmp_path, {"test_it.py": A_TEST}, "--opolyx-store", "oracle")

    assert done.code == 4
    assert "invalid choice: 'oracle'" in done.said


def test_a_run_that_uses_none_of_it_imports_nothing_of_it(tmp_path: Path) -> None:
    files = {"conftest.py": LOOKING, "test_it.py": "def test_it():\n    pass\n"}

    done = run(tmp_path, files, "-s")

    assert done.code == 0
    assert "imported: []" in done.said


def test_it_goes_with_a_loop_for_each_test_and_with_marks(tmp_path: Path) -> None:
    marked = "import pytest\n\npytestmark = pytest.mark.asyncio\n"
    two = A_TEST.replace("test_it", "test_one") + A_TEST.replace("test_it", "test_two")
    files = {"pytest.ini": PLAIN, "test_it.py": marked + two}

    done = run(tmp_path, files)

    assert "2 passed" in done.said, done.said


def test_a_test_that_cannot_wait_for_an_answer_is_told_so(tmp_path: Path) -> None:
    done = run(tmp_path, {"test_it.py": A_TEST.replace("async ", "")})

    assert done.code == 1
    assert "a test with a running stack must be `async def`" in done.said


def test_a_test_on_another_loop_than_its_stack_is_told_so(tmp_path: Path) -> None:
    ini = AUTO.replace("scope = function", "scope = session")
    text = A_TEST.replace("assert opolyx_stack.address", "opolyx_stack.client('ada')")

    done = run(tmp_path, {"pytest.ini": ini, "test_it.py": text})

    assert done.code == 1
    assert "the stack runs on another event loop than this test" in done.said
