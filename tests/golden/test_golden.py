"""Recorded matches replay to the states that they ended in, and are decided as they were."""

from pathlib import Path
from typing import Final, get_args

import pytest

from libs.kernel.chance import FairDraws
from libs.rules import events as e
from libs.rules.decide import decide
from libs.rules.evolve import apply, evolve
from libs.rules.match import Match
from libs.rules.snapshot import state_hash
from tests.golden.stream import FOLDER, Stream, read
from tests.support.builders import RULE_SETS
from tests.support.invariants import assert_sound

STREAMS: Final = sorted(FOLDER.glob("*.ndjson"))
SIZE_MAX: Final = 60_000


@pytest.fixture(params=STREAMS, ids=lambda path: path.stem)
def stream(request: pytest.FixtureRequest) -> Stream:
    path: Path = request.param
    return read(path)


def created(stream: Stream) -> e.MatchCreated:
    event = stream.steps[0].events[0]
    assert isinstance(event, e.MatchCreated)
    return event


def test_a_recorded_match_replays_to_its_recorded_states(stream: Stream) -> None:
    match = Match()
    hashes = {}
    for event in (event for step in stream.steps for event in step.events):
        evolve(match, event)
        if match.sequence in stream.hashes:
            hashes[match.sequence] = state_hash(match).hex()

    assert hashes == stream.hashes
    assert match.sequence == max(stream.hashes), "the last state is among them"
    assert_sound(match)


def test_a_recorded_match_is_decided_as_it_was(stream: Stream) -> None:
    draws = FairDraws(created(stream).match_id, stream.seed)
    match = Match()
    for step in stream.steps:
        assert step.command is not None
        decided = decide(match, step.command, draws, step.at_ms)

        assert decided == step.events
        apply(match, step.events)


def test_every_rule_set_is_recorded_several_times() -> None:
    streams = [read(path) for path in STREAMS]
    recorded = [created(stream).rule_set for stream in streams]

    assert len(recorded) >= 20
    assert all(recorded.count(rules) >= 4 for rules in RULE_SETS)


def test_the_recorded_matches_tell_of_nearly_every_event() -> None:
    told = {
        event.__class__.__name__
        for path in STREAMS
        for step in read(path).steps
        for event in step.events
    }

    untold = {kind.__name__ for kind in get_args(e.Event)} - told
    assert len(untold) <= 3, sorted(untold)


def test_recordings_stay_small() -> None:
    assert [path.name for path in STREAMS if path.stat().st_size > SIZE_MAX] == []
