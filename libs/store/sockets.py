"""Where the embedded server listens: a socket whose path must not be too long."""

import os
import stat
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import Final

from libs.store import keeper, privileges

PATH_MAX: Final = 103
"""Bytes of a socket's path that every system takes."""


def socket_folder(data: Path, owner: tuple[int, int] | None) -> Path:
    """Return the folder for the socket of a data folder's server, the same every time.

    It is the data folder, or a private one if that will not do, made for *owner* if not for us.

    Raises:
        PrivilegesError: somebody else has made it before us.

    """
    path = data / f".s.PGSQL.{keeper.PORT}.lock"
    # A comma would part two folders.
    if len(os.fsencode(path)) <= PATH_MAX and "," not in str(path):
        return data
    name = sha256(os.fsencode(data)).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f"opolyx-{name}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if owner is not None:
        os.chown(folder, *owner, follow_symlinks=False)
        privileges.let_through(folder)
    found = folder.lstat()
    # Anybody may have made it before us, and would then hear all that is said.
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != (owner[0] if owner else os.geteuid()):
        raise privileges.PrivilegesError(f"{folder} is not ours")
    return folder
