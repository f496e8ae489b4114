"""What one check came to."""

from enum import StrEnum
from typing import NamedTuple


class Result(StrEnum):
    """How a check went."""

    OK = "ok"
    WARNING = "warning"
    """It works, and somebody should look."""

    FAILED = "failed"
    """It does not work, or will not for long."""

    SKIPPED = "skipped"
    """There was nothing to look at."""


class Finding(NamedTuple):
    """A check, how it went, what that means, and what to do about it; empty if nothing is."""

    check: str
    result: Result
    meaning: str
    advice: str = ""


def ok(check: str, meaning: str) -> Finding:
    """Return that a check found nothing wrong."""
    return Finding(check, Result.OK, meaning)


def warning(check: str, meaning: str, advice: str) -> Finding:
    """Return that somebody should look."""
    return Finding(check, Result.WARNING, meaning, advice)


def failed(check: str, meaning: str, advice: str) -> Finding:
    """Return that something does not work."""
    return Finding(check, Result.FAILED, meaning, advice)


def skipped(check: str, meaning: str, advice: str = "") -> Finding:
    """Return that there was nothing to look at, and why."""
    return Finding(check, Result.SKIPPED, meaning, advice)
