"""``python -m services.console``, which is `opolyx`."""

import os
import sys
from contextlib import suppress
from io import TextIOWrapper
from typing import NoReturn

from services.console.exits import FAILED, INTERRUPTED


def main() -> None:
    """Run the command that the arguments name, and exit with its code."""
    # What grpc's own library says would stand among our lines. It must be told before its import.
    os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
    if sys.stdout is None:  # it was closed before the start
        _give_up("the output has nowhere to go: stdout is closed")
    if isinstance(sys.stdout, TextIOWrapper):
        # What an encoding has no letter for is escaped, as it is on stderr.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        try:
            _run()
        finally:
            # The last of the output is written here, where a full disk can still be told.
            sys.stdout.flush()
    except BrokenPipeError:
        _end(FAILED)  # whoever was to read it has seen enough
    except KeyboardInterrupt:
        _end(INTERRUPTED)
    except OSError as error:
        where = "the output cannot be written" if error.filename is None else error.filename
        _give_up(f"{where}: {error.strerror or error}")


def _run() -> None:
    # Here, where an interrupt is told in no traceback: these imports take a while.
    from services.console.app import COMPLETE_VARIABLE, PROGRAM, app  # noqa: PLC0415

    if COMPLETE_VARIABLE in os.environ:
        from services.console.completion import know_shells  # noqa: PLC0415 - for shells alone

        know_shells()
    app(prog_name=PROGRAM)


def _give_up(reason: str) -> NoReturn:
    """Say in one line why nothing more can be done, if there is somebody left to tell."""
    with suppress(OSError, AttributeError):
        sys.stderr.write(f"{reason}\n")
        sys.stderr.flush()
    _end(FAILED)


def _end(code: int) -> NoReturn:
    """End at once. Nothing is tried again at the end of the process, and so nothing is said."""
    os._exit(code)


if __name__ == "__main__":
    main()
