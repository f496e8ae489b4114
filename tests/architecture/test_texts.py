"""What no file of the repository may say, and what the lock must."""

import re
import tomllib
from typing import Final

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.support.repository import ROOT, texts

OPEN_WORK: Final = re.compile(r"\b(?:TODO|FIXME|XXX)\b(?!\(#\d+\): \S)")
MACHINE_PATH: Final = re.compile(r"(?<![\w.])/(?:home|mnt|root|work|Users)/")
ADDRESS: Final = re.compile(r"\b(?!embedded:)[a-z][a-z0-9+.]*://(?:[^\s/@]*@)?([\w.-]+)")
"""A URL with a host; what stands after `embedded://` is a folder."""

KNOWN_HOSTS: Final = frozenset({"keepachangelog.com", "semver.org", "localhost", "127.0.0.1"})
"""Hosts that a text may name: formats that we follow, and the machine itself, whichever it is."""

ONLY_EXAMPLES: Final = frozenset({"tests/architecture/test_texts.py"})
"""Files that show what is forbidden."""


def test_open_work_names_its_issue() -> None:
    found = _found(OPEN_WORK)

    assert not found, f"write TODO(#123): what is to be done; {found}"


def test_no_file_names_a_path_of_one_machine() -> None:
    assert not _found(MACHINE_PATH)


def test_no_file_names_a_host_that_is_not_known() -> None:
    unknown = [
        f"{path}: {host}"
        for path, text in texts()
        if str(path) not in ONLY_EXAMPLES
        for host in ADDRESS.findall(text)
        if host not in KNOWN_HOSTS
    ]

    assert not unknown


@pytest.mark.parametrize(
    ("pattern", "line"),
    [
        (OPEN_WORK, "# TODO: one day"),
        (OPEN_WORK, "# TODO(#12) without a colon"),
        (MACHINE_PATH, "see /home/ann/notes"),
        (ADDRESS, "https://packages.example/simple"),
        (ADDRESS, "postgres://ann@db.example/opolyx"),
    ],
    ids=["no issue", "no colon", "a path", "a host", "a host after a user"],
)
def test_the_patterns_find_what_they_look_for(pattern: re.Pattern[str], line: str) -> None:
    assert pattern.search(line)


def test_an_issue_in_brackets_is_enough() -> None:
    assert not OPEN_WORK.search("# TODO(#12): take the other branch")


def test_a_folder_of_the_embedded_server_is_no_host() -> None:
    assert not ADDRESS.search("embedded://.opolyx")


def test_the_lock_has_a_hash_for_everything_and_an_address_for_nothing() -> None:
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    entries = re.split(r"^(?=[a-z0-9])", lock, flags=re.MULTILINE)[1:]

    assert entries
    assert all("--hash=sha256:" in entry for entry in entries)
    assert not re.search(r"://|--index-url|--find-links| @ ", lock)


def test_the_lock_holds_what_the_project_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    locked = dict(re.findall(r"^([a-z0-9-]+)==([^\s;\\]+)", lock, flags=re.MULTILINE))
    asked = [
        Requirement(line)
        for line in project["project"]["dependencies"] + project["dependency-groups"]["dev"]
    ]

    stale = [
        str(requirement)
        for requirement in asked
        if (name := canonicalize_name(requirement.name)) not in locked
        or Version(locked[name]) not in requirement.specifier
    ]

    assert not stale, f"run `make lock`: {stale}"


def _found(pattern: re.Pattern[str]) -> list[str]:
    return [
        f"{path}:{number}: {line.strip()[:80]}"
        for path, text in texts()
        if str(path) not in ONLY_EXAMPLES
        for number, line in enumerate(text.splitlines(), start=1)
        if pattern.search(line)
    ]
