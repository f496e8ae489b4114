"""All services are built alike: whoever knows one finds their way in the others."""

import ast
import re
from importlib import import_module
from pathlib import Path
from typing import Final

import pytest

from libs.chassis.foundation import NodeSettings
from libs.chassis.sections import PeerSettings, ServerSettings
from libs.chassis.settings import SECTIONS
from services.console.fleet import SERVICES
from tests.support.repository import ROOT, python_files

FOLDERS: Final = frozenset(
    path.name for path in (ROOT / "services").iterdir() if (path / "__init__.py").is_file()
)
COMMAND_LINE: Final = "console"
TEST_KIT: Final = "testkit"
PARTS: Final = ("README.md", "__init__.py", "__main__.py", "bootstrap.py", "settings.py")

ADAPTERS: Final = re.compile(
    r"^from (libs\.store\.postgres\w*|libs\.eventlog\.postgres|libs\.chassis\.server) import|"
    r"^from libs\.chassis\.foundation import .*\bFoundation\b",
    re.MULTILINE,
)
"""What only a composition root chooses."""


def test_every_folder_is_a_service_that_can_be_started_or_puts_services_together() -> None:
    assert {*SERVICES, COMMAND_LINE, TEST_KIT} == FOLDERS


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_has_its_parts(name: str) -> None:
    folder = ROOT / "services" / name

    assert [part for part in PARTS if not (folder / part).is_file()] == []


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_is_put_together_by_one_function(name: str) -> None:
    bootstrap = import_module(f"services.{name}.bootstrap")
    tree = ast.parse(Path(str(bootstrap.__file__)).read_text(encoding="utf-8"))
    functions = [
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name[0] != "_"
    ]

    assert functions == ["service"]
    assert name == bootstrap.NAME


@pytest.mark.parametrize("name", SERVICES)
def test_nothing_else_of_a_service_chooses_adapters(name: str) -> None:
    chosen = {
        str(path): found
        for path in python_files(f"services/{name}")
        if path.name != "bootstrap.py"
        if (found := ADAPTERS.findall((ROOT / path).read_text(encoding="utf-8")))
    }

    assert not chosen


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_runs_alone_in_the_way_of_all(name: str) -> None:
    text = (ROOT / "services" / name / "__main__.py").read_text(encoding="utf-8")

    assert "return run_alone(NAME, " in text


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_is_told_in_a_section_of_its_name(name: str) -> None:
    kind = _settings_of(name)
    own = kind.model_fields.keys() - NodeSettings.model_fields.keys()

    assert own == {name}
    assert name in SECTIONS
    assert isinstance(getattr(kind(), name), ServerSettings)


@pytest.mark.parametrize("name", SERVICES)
def test_others_look_for_a_service_where_it_listens(name: str) -> None:
    section = getattr(_settings_of(name)(), name)
    peer = "match_engines" if name == "match_engine" else name

    assert getattr(PeerSettings(), peer) == f"{section.host}:{section.port}"


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_keeps_to_a_schema_of_its_name(name: str) -> None:
    others = [each for each in (*SERVICES, "event_log") if each != name]
    foreign = re.compile(rf"\b({'|'.join(others)})\.[a-z_]+\b")
    written = sorted((ROOT / "services" / name / "migrations").glob("*.sql"))

    assert {path.name: found for path in written if (found := foreign.findall(_code(path)))} == {}
    assert all(f"{name}." in _code(path) for path in written)


def _settings_of(name: str) -> type[NodeSettings]:
    words = "".join(word.title() for word in name.split("_"))
    kind: type[NodeSettings] = getattr(
        import_module(f"services.{name}.settings"), f"{words}Settings"
    )
    return kind


def _code(path: Path) -> str:
    """Return what a migration does, without what it says."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return "\n".join(line.partition("--")[0] for line in lines)
