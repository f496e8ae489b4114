"""How far a long piece of work is, shown on a terminal; anywhere else nothing is."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Advance = Callable[[int, int], None]
"""Is told how much is done, and of how much."""


@contextmanager
def progress(what: str) -> Iterator[Advance]:
    """Show on stderr how many of *what* are done, in a line that is gone afterwards."""
    if not sys.stderr.isatty():
        yield _say_nothing
        return
    # Rich takes longer to import than many a command to run.
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn  # noqa: PLC0415

    columns = (BarColumn(), MofNCompleteColumn(), what, TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(what, total=None)
        yield lambda done, total: shown.update(task, completed=done, total=total)


def _say_nothing(*_: int) -> None:
    """Be the progress that nobody sees."""
