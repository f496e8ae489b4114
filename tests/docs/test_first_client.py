"""The guide to a first client is carried out, block by block, on a real system."""

import json
import re
from pathlib import Path
from typing import Final

import pytest

from libs.chassis.status import CODES
from libs.kernel.reasons import Reason
from tests.docs.desk import Desk
from tests.docs.reading import DOCS, blocks
from tests.support import protos

PAGE: Final = DOCS / "first-client.md"
STREAMS: Final = """
opolyx.match.v1.MatchService.PlayMatch opolyx.match.v1.MatchService.WatchMatch
opolyx.lobby.v1.LobbyService.WatchRoom opolyx.lobby.v1.LobbyService.WatchRooms
opolyx.progression.v1.ProgressionService.WatchProfile
""".split()
ROW: Final = re.compile(r"^\| (`\w+`(?:, `\w+`)*) \| (.+?) \| .+ \|$", re.MULTILINE)
WORD: Final = re.compile(r"`([A-Z]+(?:_[A-Z]+)*)`")


def endings() -> set[tuple[str, str]]:
    """Return the statuses and reasons of the table of how streams end."""
    found = set()
    for statuses, reasons in ROW.findall(PAGE.read_text(encoding="utf-8")):
        for status in WORD.findall(statuses):
            found |= {(status, reason) for reason in WORD.findall(reasons) if reason in CODES}
    return found


def test_the_table_of_endings_has_every_reason_that_a_stream_can_end_by() -> None:
    services = {name.rpartition(".")[0] for name in STREAMS}
    speakers = [*STREAMS, *services, "opolyx.match.v1.GoAway.reason"]
    comments = " ".join(protos.named(name).comment for name in speakers)
    named = {Reason(word) for word in WORD.findall(comments) if word in CODES}
    told = endings()

    assert {reason for _, reason in told} == named
    assert told == {
        ("OK" if reason == Reason.MATCH_ENDED else CODES[reason].name, reason) for reason in named
    }


@pytest.mark.slow
@pytest.mark.postgres
async def test_every_block_does_what_it_says(desk: Desk, tmp_path: Path) -> None:
    saved = tmp_path / "refused.py"
    saved.write_text(blocks(PAGE, "python")[0], encoding="utf-8")
    before = {*desk.folder.iterdir()}
    settling, *others = blocks(PAGE, "sh")

    told = await desk.shell("\n".join([settling, f"cp {saved} .", *others, 'echo "in $PWD"']))

    assert "refused, exit code 72" in told
    assert "\nINVALID_ARGUMENT INVALID_REQUEST\nmatch_id must be a UUID" in told
    [folder] = re.findall("^in (.+)$", told, re.MULTILINE)
    watched = (Path(folder) / "watched.json").read_text(encoding="utf-8")
    assert {*desk.folder.iterdir()} == before  # the reader's clone, which stays as it is
    last = json.loads(watched[watched.rindex("\n{") :])
    assert last["goAway"]["reason"] == "MATCH_ENDED"
    assert "\nok: match " in told
    assert "\nthe head is signed by " in told
