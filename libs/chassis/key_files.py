"""Files that hold keys: made once, whole, and for their owner alone."""

import os
from pathlib import Path
from tempfile import NamedTemporaryFile


def make_key_file(path: Path, content: bytes) -> bool:
    """Write a key where there is none; returns whether this call did. Makes the folder too.

    The file is there whole or not at all, and of two processes the first one wins, so that whoever
    reads it afterwards has the key that everybody has.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
        try:
            os.link(file.name, path)
        except FileExistsError:
            return False
    return True
