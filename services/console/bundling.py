"""What is in the archive of a bug report, and how it is packed: alike for the same content."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO
from typing import Any, Final
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from libs.kernel.ids import MatchId
from libs.rules.evolve import evolve
from libs.rules.explain import explain
from libs.rules.match import Match
from libs.rules.state import describe
from libs.scenarios.plain import event_type
from libs.wire.chain import BrokenChainError, follow
from libs.wire.events import NewerSchemaError, UnreadableError
from libs.wire.record import Record, StoredRecord
from services.console.folding import MisfitError, state_at
from services.console.output import render

LAST_EVENTS: Final = 200
"""How many events are told in words."""

EXPORT: Final = "match.opolyx"
KEYS: Final = "public-keys.json"
STATE: Final = "state.json"
EVENTS: Final = "last-events.txt"
FAULT: Final = "fault.txt"
VERSIONS: Final = "versions.json"
SETTINGS: Final = "settings.json"
FINDINGS: Final = "doctor.json"
GUIDE: Final = "README.md"

_AGES_AGO: Final = (1980, 1, 1, 0, 0, 0)
"""The earliest time that an archive knows; that of packing would make each another."""

_FAULTS: Final = (BrokenChainError, UnreadableError, NewerSchemaError, MisfitError)
"""Why a match cannot be told. Then its report is needed most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What is known of a match and of the machine that asked: nothing secret, nobody's name."""

    match_id: MatchId
    records: Sequence[StoredRecord]
    export: bytes
    key_file: str
    versions: Mapping[str, str]
    settings: Sequence[Mapping[str, Any]]
    findings: Sequence[Mapping[str, Any]]
    cause: str = ""
    """Why the match is in quarantine; empty if it is not."""


def pack(report: Report) -> bytes:
    """Return the archive, a zip whose files are in the order of their names."""
    packed = BytesIO()
    with ZipFile(packed, "w", ZIP_DEFLATED) as archive:
        for name, content in sorted(_files(report).items()):
            archive.writestr(ZipInfo(name, _AGES_AGO), content, ZIP_DEFLATED)
    return packed.getvalue()


def _files(report: Report) -> dict[str, bytes]:
    texts = {
        KEYS: report.key_file,
        VERSIONS: _json(dict(report.versions)),
        SETTINGS: _json([dict(setting) for setting in report.settings]),
        FINDINGS: _json([dict(finding) for finding in report.findings]),
        **_told(report.records, report.cause),
    }
    texts[GUIDE] = _guide(report, texts)
    return {EXPORT: report.export} | {name: text.encode() for name, text in texts.items()}


def _told(stored: Sequence[StoredRecord], cause: str) -> dict[str, str]:
    """Return the state and the last events, or why a match that is damaged has none."""
    fault = f"in quarantine: {cause}\n" if cause else ""
    if not stored:
        return {FAULT: f"{fault}no record of it is there\n"}
    try:
        records = list(follow(stored))
        last = records[-1].last_seq
        match, at_ms = state_at(records, last)
        before, _ = state_at(records, max(0, last - LAST_EVENTS))
    except _FAULTS as error:
        return {FAULT: f"{fault}{type(error).__name__}: {error}\n"}
    return ({FAULT: fault} if fault else {}) | {
        STATE: _json(describe(match, at_ms)),
        EVENTS: "".join(f"{line}\n" for line in _retell(before, records)),
    }


def _retell(match: Match, records: Sequence[Record]) -> Iterator[str]:
    """Tell in words what came after a match was so, event by event."""
    for record in records:
        at = datetime.fromtimestamp(record.at_ms / 1000, UTC).isoformat(timespec="milliseconds")
        for sequence, event in enumerate(record.events, start=record.first_seq):
            if sequence > match.sequence:
                yield f"{sequence} {at} {event_type(event)} {explain(match, event).text}"
                evolve(match, event)


def _json(value: object) -> str:
    return render(json.loads(json.dumps(value))) + "\n"


def _guide(report: Report, texts: Mapping[str, str]) -> str:
    lines = [f"- `{name}`: {meaning}" for name, meaning in _MEANINGS.items() if name in texts]
    return _GUIDE.format(
        match_id=report.match_id,
        version=report.versions["opolyx"],
        listed="\n".join(lines),
        export=EXPORT,
        keys=KEYS,
    )


_MEANINGS: Final = {
    KEYS: "by which the signed head is checked; they are public",
    STATE: "the match as it stood at its last record",
    EVENTS: f"its last {LAST_EVENTS} events: sequence, time, type, and why, with the rules",
    FAULT: "why it is in quarantine, or cannot be told as a match: begin here",
    VERSIONS: "what ran where this was packed",
    SETTINGS: "the settings there, secrets hidden",
    FINDINGS: "what `opolyx doctor` found there",
}

_GUIDE: Final = """\
# Match {match_id}

Packed by opolyx {version}. There is no token, no secret key and nobody's name in here; players are
known by their ids. Look through `settings.json` and `doctor.json` before you pass it on: they
name folders and hosts.

- `{export}`: the whole record of the match
{listed}

To check that it is whole, that its chance was fair, and who signed it:

    opolyx verify {export} --key {keys}

To see the match at any event, what changed between two, why one happened, and to make a test of it:

    opolyx replay {export} --at SEQ
    opolyx diff {export} SEQ SEQ
    opolyx explain {export} SEQ
    opolyx scenario --from {export} --at SEQ
"""
