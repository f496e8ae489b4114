"""Every set-up that a scenario has can be told as events, and leads to just that picture."""

from dataclasses import replace

import pytest

from libs.kernel.chance import commitment
from libs.kernel.ids import CommandId
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules.decide import play
from libs.rules.evolve import apply
from libs.rules.match import Match
from libs.rules.refusals import Refusal
from libs.scenarios.draws import SEED, ScriptedDraws
from libs.scenarios.files import read_file
from libs.scenarios.scenario import Scenario, Setup
from libs.scenarios.setting import MATCH_ID, set_up
from libs.wire.chain import Chain
from libs.wire.record import SYSTEM, decode
from services.testkit.errors import UntoldSituationError
from services.testkit.situations import situation
from tests.support.repository import ROOT

AT_MS = 1_900_000_000_000
FILES = sorted((ROOT / "tests" / "rules" / "scenarios").glob("*.json"))


def begun(scenario: Scenario) -> Match:
    specs = tuple(
        e.SeatSpec(e.BOT, cards=tuple(scenario.setup.cards.get(seat, {}).items()))
        for seat in range(scenario.seats)
    )
    create = c.CreateMatch(MATCH_ID, scenario.rule_set, specs, commitment(MATCH_ID, SEED))
    match = Match()
    draws = ScriptedDraws(scenario.script, scenario.setup.turn)
    assert not isinstance(play(match, create, draws, AT_MS), Refusal)
    return match


def test_every_situation_of_our_scenarios_is_told() -> None:
    assert len(FILES) > 400
    for path in FILES:
        scenario = read_file(path)
        match = begun(scenario)
        told = situation(scenario, match, AT_MS)
        reached = apply(match, told)
        picture = set_up(scenario, ScriptedDraws(scenario.script, scenario.setup.turn))

        for name in ("cash", "square", "owner", "level", "mortgaged_round", "out", "held", "built"):
            assert getattr(reached, name) == getattr(picture, name), path.name


def test_what_is_told_is_a_record_like_any() -> None:
    scenario = read_file(FILES[0])
    told = situation(scenario, begun(scenario), AT_MS)
    stored = Chain(MATCH_ID).join(CommandId(MATCH_ID), SYSTEM, AT_MS, told)

    assert decode(stored.data).events == told


def test_a_picture_that_events_do_not_lead_to_is_refused() -> None:
    scenario = replace(read_file(FILES[0]), setup=Setup())
    match = begun(scenario)
    match.cash[1] -= 1

    with pytest.raises(UntoldSituationError, match="'seats'"):
        situation(scenario, match, AT_MS)
