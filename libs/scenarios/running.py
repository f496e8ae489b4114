"""Playing a scenario: commands, time and expectations, one step after another."""

import json
from dataclasses import dataclass
from typing import Any, Final

from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules.clocks import next_deadline
from libs.rules.decide import decide
from libs.rules.evolve import apply
from libs.rules.refusals import Refusal
from libs.rules.state import describe
from libs.scenarios.commands import command_of
from libs.scenarios.comparing import ABSENT, Absent, is_in_order, is_same, look_up
from libs.scenarios.draws import OutOfDrawsError, ScriptedDraws
from libs.scenarios.plain import event_type
from libs.scenarios.reading import MalformedError
from libs.scenarios.scenario import Act, Expect, Scenario, Script, Wait
from libs.scenarios.setting import START_MS, set_up

_ACCEPTED: Final = "accepted"


@dataclass(frozen=True, slots=True)
class Failure:
    """Something is not as the file expects. *step* counts from 1; *what* is a path or a topic."""

    step: int
    what: str
    expected: Any
    found: Any

    def __str__(self) -> str:
        expected, found = _spell(self.expected), _spell(self.found)
        if expected == found:
            # The text "1" and the number.
            expected, found = json.dumps(self.expected), json.dumps(self.found)
        return f"step {self.step}: {self.what}: expected {expected}, found {found}"


def _spell(value: Any) -> str:
    """Write a value as files have it, but words without quotes."""
    return str(value) if isinstance(value, str | Absent) else json.dumps(value, default=str)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a scenario went: *events* of each step, the draws that are left, the state at the end.

    *ran_out* tells that a step found no draw to take, which is a fault of the file; its failure is
    the last one.
    """

    scenario: Scenario
    failures: tuple[Failure, ...]
    ran_out: bool
    events: tuple[tuple[e.Event, ...], ...]
    left: Script
    state: dict[str, Any]

    @property
    def ok(self) -> bool:
        """Whether everything was as expected."""
        return not self.failures


def run(scenario: Scenario) -> Outcome:
    """Play *scenario* to its last step; only a step without a draw to take ends it early.

    Raises:
        MalformedError: its set-up is none that a match could have.

    """
    return _Run(scenario).play()


class _Run:
    """One scenario being played."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._draws = ScriptedDraws(scenario.script, scenario.setup.turn)
        self._match = set_up(scenario, self._draws)
        self._now = START_MS
        self._step = 0
        self._failures: list[Failure] = []
        self._events: list[tuple[e.Event, ...]] = []
        self._caused: list[e.Event] = []
        """The events of the last step that was a command or time."""

    def play(self) -> Outcome:
        ran_out = False
        try:
            for number, step in enumerate(self._scenario.steps, start=1):
                self._step = number
                self._take(step)
        except OutOfDrawsError as error:
            ran_out = True
            self._events.append(tuple(self._caused))
            self._fail(f"draws.{error.kind}", "another one", "none left")
        return Outcome(
            self._scenario,
            tuple(self._failures),
            ran_out,
            tuple(self._events),
            self._draws.left,
            describe(self._match, self._now),
        )

    def _take(self, step: Act | Wait | Expect) -> None:
        if isinstance(step, Expect):
            self._compare(step)
            self._events.append(())
            return
        self._caused = []
        if isinstance(step, Act):
            self._act(step)
        else:
            self._wait(step.duration_ms)
        self._events.append(tuple(self._caused))

    def _act(self, step: Act) -> None:
        found, why = self._ask(step)
        if step.refused is None:
            if found != _ACCEPTED:
                self._fail(step.name, _ACCEPTED, f"{found} ({why})")
        elif found == _ACCEPTED or step.refused not in (True, found):
            expected = "refused" if step.refused is True else step.refused
            self._fail(step.name, expected, found)

    def _ask(self, step: Act) -> tuple[str, str]:
        """Send a command; returns "accepted" or the reason against it, and what that rests on."""
        try:
            command = command_of(step.seat, step.name, step.fields)
        except MalformedError as error:
            # No rule has seen it: this is what an edge answers to a request that makes no sense.
            return Reason.INVALID_REQUEST.value, str(error)
        refusal = self._send(command)
        if refusal is None:
            return _ACCEPTED, ""
        facts = [f"{name} {fact}" for name, fact in refusal.facts.items()]
        return refusal.reason.value, f"{refusal.rule}; {', '.join(facts)}"

    def _send(self, command: c.Command) -> Refusal | None:
        decision = decide(self._match, command, self._draws, self._now)
        if isinstance(decision, Refusal):
            return decision
        apply(self._match, decision)
        self._caused += decision
        return None

    def _wait(self, duration_ms: int) -> None:
        """Let time pass; each deadline on the way fires when it is due, those it leads to too."""
        until = self._now + duration_ms
        while (deadline := next_deadline(self._match)) is not None and deadline.due <= until:
            self._now = max(self._now, deadline.due)
            refusal = self._send(c.FireDeadline(deadline.deadline_id))
            assert refusal is None, refusal
        self._now = until

    def _compare(self, step: Expect) -> None:
        state = describe(self._match, self._now)
        for path, expected in step.values.items():
            found = look_up(state, path)
            if found is ABSENT or not is_same(expected, found):
                self._fail(path, expected, found)
        caused = [event_type(event) for event in self._caused]
        if step.events is not None and not is_in_order(step.events, caused):
            self._fail("events", list(step.events), caused)
        if step.events_exactly is not None and list(step.events_exactly) != caused:
            self._fail("events_exactly", list(step.events_exactly), caused)

    def _fail(self, what: str, expected: Any, found: Any) -> None:
        self._failures.append(Failure(self._step, what, expected, found))
