"""A system that runs, with a match on it that is over, for commands that ask one."""

import asyncio
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from libs.kernel.ids import MatchId
from services.console.trial import Trial, Verdict
from tests.support.commands import opolyx
from tests.support.system import System, data_folder


class Played:
    """A system that runs, and a match that was played on it."""

    def __init__(self, system: System, verdict: Verdict) -> None:
        self.system = system
        self.verdict = verdict
        self.match_id = MatchId(verdict.match.match_id)

    def opolyx(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a command as somebody on the machine of the system would."""
        environment = {
            "OPOLYX_DATA_FOLDER": str(self.system.folder),
            "OPOLYX_PEERS__GATEWAY": self.system.gateway,
        }
        return opolyx(*arguments, **{**environment, **variables})


@contextmanager
def played_match() -> Iterator[Played]:
    """Yield a system on which a match was played to its end; see that it ends well."""
    with data_folder() as folder:
        system = System(folder)

        async def play() -> Verdict:
            await system.start()
            async with system.client("ada") as client:
                trial = Trial("opolyx.speed@2", 2, seed=1, pace_s=0)
                return await trial.run(client, lambda *_: None)

        try:
            yield Played(system, asyncio.run(play()))
            code = system.stop()
        finally:
            asyncio.run(system.close())
    assert code == 0
