"""``opolyx demo``: a match that can be watched, drawn or told."""

import json
import os
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import get_args

import pytest
from rich.console import Console, ConsoleDimensions, RenderableType
from rich.live import Live
from rich.text import Text
from typer.testing import CliRunner

from libs import verify as verifier
from libs.rules import events as e
from libs.rules.boards.classic import CLASSIC
from libs.rules.evolve import apply, replay
from libs.rules.match import Match
from libs.rules.rewards import rewards
from libs.wire.record import decode
from services.console.app import app
from services.console.drawing import HEIGHT, WIDTH, draw, tell
from services.console.exports import read_records
from services.console.narrating import SENTENCES, SILENT, narrate
from services.console.showing import Drawing
from tests.support.commands import opolyx
from tests.support.matches import Table
from tests.support.repository import ROOT


def console(width: int = 80, height: int = 24, *, terminal: bool = True) -> Console:
    """Return a terminal of that size, or what is none."""
    return Console(
        file=StringIO(),
        width=width,
        height=height,
        force_terminal=terminal,
        _environ={"TERM": "xterm"},
    )


def picture(match: Match, now_ms: int = 0) -> list[str]:
    """Return the lines of a match's picture, without colours."""
    names = ["novice"] * len(match.out)
    return draw(match, names, ["First.", "Then."], now_ms).plain.split("\n")


def test_what_could_not_be_kept_is_said_before_the_match(tmp_path: Path) -> None:
    told = opolyx("demo", f"--keep={tmp_path / 'none' / 'kept.opolyx'}")

    assert (told.returncode, told.stdout) == (1, "")
    assert told.stderr == f"{tmp_path / 'none'}: there is no such folder\n"


@pytest.mark.slow
@pytest.mark.postgres
@pytest.mark.parametrize(("rule_set", "seats"), [("opolyx.speed@2", 2), ("opolyx.teams@2", 4)])
def test_a_match_through_every_service_passes_all_its_checks(
    rule_set: str, seats: int, tmp_path: Path
) -> None:
    kept = tmp_path / "kept.opolyx"

    told = opolyx(
        "demo", "--rule-set", rule_set, f"--seats={seats}", f"--keep={kept}", "-o", "json"
    )

    verdict = json.loads(told.stdout)
    assert told.returncode == 0, told.stderr
    assert told.stderr == ""
    assert list(verdict) == [
        "match_id",
        "rule_set",
        "winner_seats",
        "rounds",
        "records",
        "events",
        "chain_hash",
        "rebuilt_equal",
        "audit_ok",
        "verified",
        "xp",
    ]
    assert (verdict["rule_set"], verdict["rebuilt_equal"]) == (rule_set, True)
    assert (verdict["audit_ok"], verdict["verified"]) == (True, True)
    assert verdict["winner_seats"]
    match = Match()
    apply(match, [event for record in read_records(kept) for event in record.events])
    assert match.match_id == verdict["match_id"]
    assert match.sequence == verdict["events"]
    assert verdict["xp"] == owed(match)
    assert verifier.verify(kept, tmp_path / "kept.opolyx.key").code == verifier.OK


def owed(match: Match) -> int:
    """Return what the person in seat 0 has earned (XP-1 to XP-3)."""
    ended = e.MatchEnded(
        match.winners,
        match.placing,
        tuple(match.net_worth(seat) for seat in range(len(match.out))),
        tuple(len(match.whole_groups[seat]) for seat in range(len(match.out))),
        match.round,
        "last_standing",
    )
    earned = rewards(ended, match.specs, match.rules, match.out)
    return next((reward.experience for reward in earned if reward.seat == 0), 0)


@pytest.mark.slow
@pytest.mark.postgres
def test_without_a_terminal_it_is_told_line_by_line() -> None:
    told = opolyx("demo", "--seats", "2", "--rule-set", "opolyx.speed@2")

    lines = told.stdout.splitlines()
    assert told.returncode == 0
    assert lines[0].startswith("The match starts: 15,000 each")
    assert lines[1] == "Round 1."
    assert any(line.startswith("The match ends in round ") for line in lines)
    assert any(line.startswith("1. seat ") and line.endswith(", won") for line in lines)
    assert lines[-3:] == [
        "ok  rebuilt from its records it is the same match",
        "ok  every event keeps every invariant",
        "ok  chain, signed head and every draw verify with the public key",
    ]
    assert "\x1b" not in told.stdout


@pytest.mark.parametrize(
    "arguments", [["simulate", "--matches", "20"], ["board", "show"]], ids=" ".join
)
def test_a_pipe_that_is_cut_ends_it_quietly(arguments: list[str]) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "services.console", *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        told = process.stderr.read()

    assert (process.returncode, told) == (1, b"")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--rule-set", "opolyx.chess@1"], 3),
        (["--seats", "7"], 2),
        (["--rule-set", "opolyx.teams@2", "--seats", "5"], 2),
        (["--pace", "-1"], 2),
        (["--seed", "one"], 2),
    ],
)
def test_what_cannot_be_played_is_told(cli: CliRunner, arguments: list[str], code: int) -> None:
    told = cli.invoke(app, ["demo", *arguments])

    assert told.exit_code == code
    assert told.stdout == ""


@pytest.mark.postgres
@pytest.mark.skipif(not hasattr(os, "openpty"), reason="draws in a terminal of its own")
@pytest.mark.slow
def test_a_terminal_shows_the_board_and_no_colours_where_none_are_wanted() -> None:
    outside, inside = os.openpty()
    environment = {"TERM": "xterm", "NO_COLOR": "1", "COLUMNS": "80", "LINES": "24"}
    with subprocess.Popen(
        [sys.executable, "-m", "services.console", "demo", "--pace", "0", "--seats", "2"],
        cwd=ROOT,
        env=os.environ | environment,
        stdout=inside,
        stderr=inside,
    ) as process:
        os.close(inside)
        shown = _read_all(outside)
    os.close(outside)

    assert process.returncode == 0
    assert shown.count("JAIL") > 100
    assert "\x1b[3" not in shown.replace("\x1b[3J", "")
    assert ", won" in shown


def _read_all(descriptor: int) -> str:
    parts = []
    while True:
        try:
            part = os.read(descriptor, 1 << 16)
        except OSError:  # what Linux says when the other side has gone
            break
        if not part:
            break
        parts.append(part)
    return b"".join(parts).decode()


class Resized(Live):
    """A screen whose terminal has another size each time it is asked."""

    def __init__(self, *sizes: tuple[int, int]) -> None:
        super().__init__(console=console(), auto_refresh=False, screen=True)
        self.sizes = list(sizes)
        self.frames: list[list[str]] = []

    def update(self, renderable: RenderableType, *, refresh: bool = False) -> None:
        """Keep what is to be shown, and change the size."""
        assert isinstance(renderable, Text)
        assert refresh
        self.frames.append(renderable.plain.split("\n"))
        if self.sizes:
            self.console.size = ConsoleDimensions(*self.sizes.pop(0))


def test_every_frame_is_as_large_as_the_terminal_is_by_then(table: Table) -> None:
    live = Resized((WIDTH, HEIGHT), (WIDTH - 1, 50), (200, 50), (WIDTH, HEIGHT - 1))
    drawing = Drawing(live)
    events = [event for stored in table.records[:60] for event in decode(stored.data).events]
    for _ in range(5):
        drawing(table.match, ["novice"] * 3, 0, events)

    plain, least, narrow, large, low = live.frames
    assert [len(frame) for frame in (plain, least, large)] == [24, HEIGHT, 50]
    assert all("CORNER" in frame[0] for frame in (plain, least, large))
    assert not any("CORNER" in line for line in narrow + low)
    assert len(low) <= HEIGHT - 1
    assert all(len(line) < WIDTH for line in narrow)


def test_a_sentence_is_never_cut_at_its_end(table: Table) -> None:
    news = [f"{number}. " + "a long sentence about it " * 6 + "to its end." for number in range(90)]
    match = table.match

    for height in (HEIGHT, HEIGHT + 1, 60):
        text = draw(match, ["novice"] * 3, news, 0, height).plain
        assert text.count("to its end.") > 1
        assert "89. a long" in text
    assert tell(news, 0) == []
    assert [line.plain for line in tell(news, 1, 400)] == [news[-1]]


def test_the_picture_fits_a_plain_terminal(table: Table) -> None:
    lines = picture(table.match, table.now)

    assert len(lines) == HEIGHT <= 22
    assert {len(line) for line in lines} == {WIDTH}
    assert all(line.isascii() for line in lines)


def test_several_winners_are_several(table: Table) -> None:
    match = Match()
    for stored in table.records:
        apply(match, decode(stored.data).events)
    match.winners = (0, 2)

    assert "over: seats 0 and 2 won" in "\n".join(picture(match))


def test_the_legend_is_an_example(table: Table) -> None:
    assert any("e.g. 39 2+3: seat 2 owns 39" in line for line in picture(table.match))


def test_the_picture_shows_who_owns_what_and_who_is_where() -> None:
    specs = tuple(e.SeatSpec(e.BOT) for _ in range(3))
    match = replay(
        [
            e.MatchCreated("m", "opolyx.classic@2", "classic", specs, bytes(32)),
            e.MatchStarted(1, 0, 1, 15_000, (), ((), (), ())),
            e.RoundStarted(1),
            e.TurnStarted(1, 1),
            e.DeadlineSet("roll", 1, 1, 1, 75_000, 0),
            e.PropertyBought(1, 39, 4_000),
            e.PropertyBought(1, 37, 3_500),
            e.LevelBuilt(1, 39, 1, 2_000),
            e.PropertyBought(2, 5, 2_000),
            e.PropertyMortgaged(2, 5, 1_000),
            e.TokenMoved(2, 0, 24, "roll"),
        ],
    )

    lines = picture(match, 60_000)

    text = "\n".join(lines)
    assert "39 1+1" in text
    assert "37 1 " in text
    assert " 5 2m" in text
    assert lines[1].index("2") == 4 * 7
    assert lines[-1].rstrip().endswith("01")
    assert "seat 1 has 15 s: roll" in text
    assert "First." in text
    assert "Then." in text


def test_every_event_is_told_or_said_to_be_silent() -> None:
    missing = [kind.__name__ for kind in get_args(e.Event) if kind not in (*SENTENCES, *SILENT)]

    assert not missing, f"tell them, or pass over them, in services/console/narrating.py: {missing}"


def test_every_event_of_a_match_is_told_or_passed_over(table: Table) -> None:
    events = [event for stored in table.records for event in decode(stored.data).events]
    told = [narrate(event, CLASSIC) for event in events]

    assert any(sentence is None for sentence in told)
    assert all(sentence is None or sentence.endswith(".") for sentence in told)


@pytest.mark.parametrize(
    ("event", "sentence"),
    [
        (e.DiceRolled(2, 3, 4, 0, 0, 1), "Seat 2 rolls 3 and 4."),
        (e.DiceRolled(2, 3, 4, e.BUS, 0, 1), "Seat 2 rolls 3 and 4 and bus."),
        (e.TokenMoved(0, 4, 10, "roll"), "Seat 0 just visits the jail."),
        (e.TokenMoved(0, 4, 10, "jail"), "Seat 0 is on the jail (10)."),
        (e.TokenMoved(0, 4, 6, "roll"), "Seat 0 is on light blue 1 (6)."),
        (e.AuctionClosed(6, e.NOBODY, 0), "Nobody wants light blue 1 (6)."),
        (e.AuctionClosed(6, 1, 900), "Seat 1 gets light blue 1 (6) for 900."),
        (
            e.DebtOpened(1, 2, "card", 500, 0, 0, ((0, 250), (e.BANK, 250)), "DECK-1", ()),
            "Seat 2 owes seat 0 and the bank 500 (card).",
        ),
        (e.DebtPaid(1, 2, ((0, 900),), 100), "Seat 2 pays 1,000, 100 of it tax."),
        (
            e.TradeOffered(1, 0, 1, e.Side(500, (1, 3)), e.Side(), 0),
            "Seat 0 offers seat 1 500, brown 1 (1) and brown 2 (3) for nothing.",
        ),
        (e.JackpotRolled(0, 4, 0, 0, 1), "The jackpot die shows 4: seat 0 loses the stake."),
        (e.PropertyReleased(6, 1, "bankrupt"), None),
        (
            e.PropertyReleased(6, 1, "mortgage_expired"),
            "Seat 1 loses light blue 1 (6): the mortgage expired.",
        ),
        (
            e.MatchEnded((0, 2), (0, 2, 1, 3), (1, 0, 1, 0), (0, 0, 0, 0), 7, "round_cap"),
            "The match ends in round 7: seats 0 and 2 won, the richest at the cap.",
        ),
        (
            e.MatchEnded((0, 2, 4), (0,), (1,), (0,), 7, "last_standing"),
            "The match ends in round 7: seats 0, 2 and 4 won, the last ones standing.",
        ),
        (e.JailAttemptFailed(1, 3), "Seat 1 rolls no doubles: try 3 to leave jail has failed."),
        (e.JailLeft(1, "forced_bail"), "Seat 1 leaves jail on the bail it owed."),
        (e.TokenMoved(0, 4, 20, "roll"), "Seat 0 is on corner 20."),
        (e.JackpotBetPlaced(0, (1, 2, 5), 1_000), "Seat 0 bets 1,000 on 1, 2 and 5."),
        (e.TurnEnded(1), None),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_sentences_are_for_people(event: e.Event, sentence: str | None) -> None:
    assert narrate(event, CLASSIC) == sentence
