"""Running a server as somebody else: PostgreSQL refuses to run as root."""

import os
import pwd
import shutil
import stat
import subprocess
from pathlib import Path
from typing import Final

SERVER_USER: Final = "pgserver"
"""The system user that is made for the server where we are root, called as the wheel calls it."""


class PrivilegesError(Exception):
    """There is nobody to run the server as."""


def server_owner(data: Path) -> tuple[int, int] | None:
    """Return the user and group ids that the server of a data folder runs as; None: our own.

    As root that is the folder's owner, or a system user, made if need be.

    Raises:
        PrivilegesError: such a user cannot be made.

    """
    if os.geteuid() != 0:
        return None
    if data.exists() and (owner := data.stat()).st_uid != 0:
        return owner.st_uid, owner.st_gid
    try:
        entry = pwd.getpwnam(SERVER_USER)
    except KeyError:
        entry = _make_user()
    return entry.pw_uid, entry.pw_gid


def let_through(path: Path) -> None:
    """Let everybody pass through the folders above a path, which is not to list them."""
    for parent in path.parents:
        _allow(parent, stat.S_IXOTH)


def let_read(folder: Path) -> None:
    """Let everybody read, and run, what is in a folder."""
    for path in (folder, *folder.rglob("*")):
        is_open = path.is_dir() or path.stat().st_mode & stat.S_IXUSR
        _allow(path, stat.S_IROTH | (stat.S_IXOTH if is_open else 0))


def _allow(path: Path, wanted: int) -> None:
    mode = path.stat().st_mode
    if mode & wanted != wanted:
        path.chmod(stat.S_IMODE(mode) | wanted)


def _make_user() -> pwd.struct_passwd:
    useradd = shutil.which("useradd") or "/usr/sbin/useradd"
    command = [useradd, "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", SERVER_USER]
    made = subprocess.run(  # noqa: S603 - no part of it comes from outside
        command, check=False, capture_output=True, text=True
    )
    try:
        # Whatever it said: another process may have been faster.
        return pwd.getpwnam(SERVER_USER)
    except KeyError as error:
        raise PrivilegesError(f"no user {SERVER_USER}: {made.stderr.strip()}") from error
