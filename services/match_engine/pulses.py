"""Signs of life on a stream: one's own, and the silence of the other side."""

import asyncio
from collections.abc import Callable
from typing import Final

from libs.chassis.status import refused
from libs.kernel.reasons import Reason

SILENT_MAX: Final = 3
"""After how many pulses without a word the other side is lost."""


class Pulses:
    """Beats while it runs, and listens.

    Silence is counted in beats of our own and not by the clock: if it was us who stood still, the
    words of the other side are waiting to be heard.
    """

    def __init__(self, interval_s: float, on_beat: Callable[[], None]) -> None:
        """Call *on_beat* every *interval_s* seconds, when a sign of life is due."""
        self._interval_s = interval_s
        self._on_beat = on_beat
        self._silent = 0
        self._is_due = False

    async def run(self) -> None:
        """Beat until the other side is lost.

        Raises:
            RefusedError: GOING_AWAY, it was.

        """
        while self._silent <= SILENT_MAX:
            await asyncio.sleep(self._interval_s)
            self._silent += 1
            self._is_due = True
            self._on_beat()
        raise refused(Reason.GOING_AWAY)

    def heard(self) -> None:
        """Note that the other side has said something."""
        self._silent = 0

    def take_due(self) -> bool:
        """Tell whether a sign of life is due, once for each."""
        is_due, self._is_due = self._is_due, False
        return is_due
