"""How often somebody may call, and how many streams they may have open."""

import math
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from libs.chassis.status import refused
from libs.kernel.reasons import Reason
from libs.wire.limits import LimitName

SUBJECTS_MAX: Final = 100_000
"""How many buckets are kept (start)."""


@dataclass(frozen=True, slots=True)
class Rate:
    """*per_s* calls a second in the long run, *burst* of them at once; *limit* is its name."""

    per_s: float
    burst: int
    limit: LimitName = LimitName.CALLS


class Limiter:
    """Token buckets, made when somebody first calls and forgotten when they are full again.

    A bucket is one number: the time at which it will be full (GCRA). Each call puts that off by
    the time that one token takes, and is refused where it would lie further off than a whole
    burst. So nothing has to be refilled.
    """

    def __init__(
        self,
        rate: Rate,
        own: Mapping[tuple[str, ...], Rate] | None = None,
        *,
        monotonic_s: Callable[[], float] = time.monotonic,
    ) -> None:
        """Limit to *rate*, and methods that are named together in *own* to a rate that they share.

        Those do not count against *rate*.
        """
        self._rate = rate
        self._own = {
            method: (methods[0], rate)
            for methods, rate in (own or {}).items()
            for method in methods
        }
        self._monotonic_s = monotonic_s
        self._full_at_s: dict[tuple[str, str], float] = {}

    def admit(self, subject: str, method: str) -> None:
        """Take a token out of the bucket that *subject* has for *method*.

        Methods without a rate of their own share one bucket.

        Raises:
            RefusedError: RATE_LIMITED; it says which limit, and when there will be a token.

        """
        bucket, rate = self._own.get(method, ("", self._rate))
        key = (subject, bucket)
        now_s = self._monotonic_s()
        full_at_s = max(self._full_at_s.get(key, now_s), now_s) + 1 / rate.per_s
        wait_s = full_at_s - now_s - rate.burst / rate.per_s
        # Sums of times are not exact; a nanosecond is no reason to send anybody away.
        if wait_s > 1e-9:  # noqa: PLR2004
            raise refused(
                Reason.RATE_LIMITED, retry_after_ms=math.ceil(wait_s * 1000), limit=rate.limit
            )
        if len(self._full_at_s) >= SUBJECTS_MAX:
            self._forget(now_s)
        self._full_at_s[key] = full_at_s

    def _forget(self, now_s: float) -> None:
        """Drop full buckets; if that is none, the emptiest go free, which is better than memory."""
        kept = {key: full for key, full in self._full_at_s.items() if full > now_s}
        self._full_at_s = kept if len(kept) < SUBJECTS_MAX else {}


class OpenStreams:
    """How many streams each subject has open: one more than *most* is refused."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._open: Counter[str] = Counter()

    def open(self, subject: str) -> "CountedStream":
        """Count a stream of *subject*, until it is closed.

        Raises:
            RefusedError: OVERLOADED, too many are open.

        """
        if self._open[subject] >= self._most:
            raise refused(Reason.OVERLOADED, limit=LimitName.STREAMS_OF_PERSON)
        self._open[subject] += 1
        return CountedStream(self._open, subject)


class CountedStream(NamedTuple):
    """A stream that is counted while it is open."""

    counter: Counter[str]
    subject: str

    def close(self) -> None:
        """Count it no more. Once."""
        self.counter[self.subject] -= 1
        if not self.counter[self.subject]:
            del self.counter[self.subject]
