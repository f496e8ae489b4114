"""A match that begins in the midst of things: its first records are written by the kit."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Final

from libs.kernel.chance import FairDraws, commitment, fresh_secret
from libs.kernel.ids import CommandId, MatchId, fresh_id
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules import phases
from libs.rules.clocks import next_deadline
from libs.rules.decide import play
from libs.rules.evolve import apply
from libs.rules.match import Match
from libs.rules.refusals import Refusal
from libs.scenarios.reading import MalformedError
from libs.scenarios.scenario import Scenario
from libs.store.access import PUBLIC
from libs.store.ports import FIRST_FENCE, Appended, MatchStore, NewRecord, Ok
from libs.wire.chain import Chain
from libs.wire.record import SYSTEM
from libs.wire.request_hash import actor_of, request_hash
from services.match_engine.labelling import label_of
from services.match_engine.seeds import Seeds
from services.testkit.composing import Parts
from services.testkit.dice import Dice, ScriptedDraws
from services.testkit.errors import KitError, MisuseError
from services.testkit.situations import situation

_FACTS: Final = sha256(b"opolyx/testkit/situation").digest()
"""The request hash of a record that no request led to."""


async def begin(
    parts: Parts, match_id: MatchId, specs: Sequence[e.SeatSpec], scenario: Scenario
) -> None:
    """Make a match that stands as a scenario's set-up has it, its first roll pending.

    It is made as an engine makes one, seed and all, and then written on; whichever engine reads it
    first becomes its writer and finds nothing odd about it.

    Raises:
        MisuseError: no match could stand so.
        UntoldSituationError: see `situation`.

    """
    writer = _Writer(parts, match_id, scenario)
    try:
        records = writer.write(specs)
    except MalformedError as error:
        raise MisuseError(f"no match could stand so: {error}") from error
    async with parts.ground() as ground:
        await _store(ground.store, writer, records)
    parts.watcher.see(match_id, writer.match)


class _Writer:
    """The first records of a match, decided by the rules and then by a picture."""

    def __init__(self, parts: Parts, match_id: MatchId, scenario: Scenario) -> None:
        self.match_id = match_id
        self.match = Match()
        self.at_ms = parts.foundation.clock.now_ms()
        self._scenario = scenario
        self._seed = fresh_secret()
        self.sealed = Seeds.open(parts.foundation.settings.data_folder).seal(match_id, self._seed)
        self._chain = Chain(match_id, FIRST_FENCE)

    def write(self, specs: Sequence[e.SeatSpec]) -> list[tuple[NewRecord, int | None]]:
        """Return the records, each with when the match must be looked at."""
        draws = ScriptedDraws(
            Dice(first=self._scenario.setup.turn), FairDraws(self.match_id, self._seed)
        )
        committed = commitment(self.match_id, self._seed)
        asked: list[c.Command] = [
            c.CreateMatch(self.match_id, self._scenario.rule_set, tuple(specs), committed)
        ]
        asked += [
            c.ContributeSeed(seat, b"") for seat, spec in enumerate(specs) if spec.kind == e.PERSON
        ]
        records = []
        for command in asked:
            events = play(self.match, command, draws, self.at_ms)
            if isinstance(events, Refusal):
                raise MisuseError(f"no match can be made so: {events}")
            records.append(self._record(actor_of(command), request_hash(command), events))
        assert self.match.phase == phases.ROLL, self.match.phase
        told = situation(self._scenario, self.match, self.at_ms)
        apply(self.match, told)
        records.append(self._record(SYSTEM, _FACTS, told))
        return records

    def _record(
        self, actor: str, hashed: bytes, events: list[e.Event]
    ) -> tuple[NewRecord, int | None]:
        command_id = CommandId(fresh_id(self.at_ms))
        stored = self._chain.join(command_id, actor, self.at_ms, events)
        deadline = next_deadline(self.match)
        record = NewRecord(
            stored=stored, command_id=command_id, request_hash=hashed, at_ms=self.at_ms
        )
        return record, None if deadline is None else deadline.due


async def _store(
    store: MatchStore, writer: _Writer, records: list[tuple[NewRecord, int | None]]
) -> None:
    (first, wake_at_ms), *others = records
    outcomes: list[Appended] = [
        await store.create(
            writer.match_id, first, writer.sealed, wake_at_ms, label_of(writer.match, PUBLIC)
        )
    ]
    last_seq = first.stored.last_seq
    for record, wake in others:
        outcomes.append(await store.append(writer.match_id, FIRST_FENCE, last_seq, record, wake))
        last_seq = record.stored.last_seq
    if wrong := [outcome for outcome in outcomes if outcome != Ok()]:
        raise KitError(f"the store did not take the match: {wrong[0]}")
