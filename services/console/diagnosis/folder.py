"""The data folder: its place, its rights, its space, and who else is in it."""

import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from services.console.diagnosis.finding import Finding, failed, ok, skipped, warning

CHECK: Final = "data folder"

SPACE_LEAST: Final = 100 * 1024 * 1024
SPACE_LITTLE: Final = 1024 * 1024 * 1024
"""Bytes: below the one PostgreSQL may stop within minutes, below the other somebody should look."""

_OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH


def check_folder(folder: Path) -> list[Finding]:
    """Look at the data folder, or at where it will be."""
    folder = folder.absolute()
    if not folder.exists():
        return [_check_place(folder)]
    if not folder.is_dir():
        return [failed(CHECK, f"{folder} is no folder", "set OPOLYX_DATA_FOLDER to another")]
    return list(_troubles(folder)) or [ok(CHECK, f"{folder}, {_spell_free(folder)} free")]


def _check_place(folder: Path) -> Finding:
    above = next(parent for parent in folder.parents if parent.exists())
    if not os.access(above, os.W_OK | os.X_OK):
        return failed(
            CHECK,
            f"{folder} is not there, and cannot be made in {above}",
            "set OPOLYX_DATA_FOLDER to a folder of yours",
        )
    return skipped(CHECK, f"{folder} is not there yet", "the first start makes it")


def _troubles(folder: Path) -> Iterator[Finding]:
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        yield failed(
            CHECK,
            f"{folder} cannot be read and written by who runs this",
            "run as its owner, or set OPOLYX_DATA_FOLDER to a folder of yours",
        )
    elif folder.stat().st_mode & _OTHERS_WRITE:
        yield warning(
            CHECK,
            f"{folder} can be written by others, who could put keys of theirs there",
            f"chmod go-w {folder}",
        )
    free = shutil.disk_usage(folder).free
    if free < SPACE_LITTLE:
        told = f"{_spell_free(folder)} free at {folder}: a full disk stops the store"
        tell = failed if free < SPACE_LEAST else warning
        yield tell(CHECK, told, "make room on that disk")


def _spell_free(folder: Path) -> str:
    return f"{shutil.disk_usage(folder).free / SPACE_LITTLE:.1f} GiB"
