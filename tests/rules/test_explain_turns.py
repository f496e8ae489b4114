"""How the events of births, turns, clocks, dice, jail and the end are explained."""

import pytest

from libs.rules import events as e
from libs.rules.explain import explain
from libs.rules.match import Match
from tests.support.builders import CLASSIC_2, MATCH_ID, TEAMS_2, bots, people
from tests.support.spec import given

ZEROS = "0" * 64

EXPLAINED: list[tuple[e.Event, list[str]]] = [
    (
        e.MatchCreated(MATCH_ID, TEAMS_2, "classic", (*people(1), *bots(3)), bytes(32)),
        [
            "SETUP-1: 4 seats, 1 of people, for opolyx.teams@2 on the board classic",
            f"FAIR-1: the secret seed is committed to by {ZEROS}",
            "SETUP-4: even seats play for team 0, odd seats for team 1",
        ],
    ),
    (e.SeedContributed(1, bytes(16)), ["FAIR-1: seat 1 gives a client seed of 16 bytes"]),
    (e.SeedContributed(1, b""), ["FAIR-1: seat 1 gives no client seed"]),
    (
        e.MatchStarted(2, 0, 1, 15_000, (), (((1, "rare"),), ())),
        [
            "SETUP-3: seat 2 was drawn to play first; all start with 15,000",
            "FAIR-1: drawn from block 0",
            "RENT-6: 1 collection card may raise rents",
        ],
    ),
    (
        e.MatchStarted(2, 0, 2, 15_000, (), ((), ())),
        [
            "SETUP-3: seat 2 was drawn to play first; all start with 15,000",
            "FAIR-1: drawn from blocks 0 to 1",
        ],
    ),
    (e.RoundStarted(7), ["ROUND-1: round 7 begins"]),
    (e.TurnStarted(1, 12), ["TURN-1: seat 1 begins turn 12 of the match"]),
    (
        e.DeadlineSet("roll", 1, 9, 1, 75_000, 0),
        ["CLOCK-1: seat 1 has until 75000 ms for roll:1:9"],
    ),
    (
        e.DeadlineSet("seeding", -1, 1, -1, 5_000, 0),
        ["CLOCK-1: everybody has until 5000 ms for seeding:-1:1"],
    ),
    (
        e.DeadlineSet("debt", 3, 9, 1, 75_000, 12_500),
        [
            "DEBT-1: seat 1 has until 75000 ms for debt:3:9",
            "CLOCK-1: the turn clock stands with 12.5 s left",
        ],
    ),
    (
        e.DeadlineSet("auction", 1, 9, 1, 10_000, 3_000),
        [
            "AUC-2: seat 1 has until 10000 ms for auction:1:9",
            "CLOCK-1: the turn clock stands with 3 s left",
        ],
    ),
    (
        e.DeadlineSet("offer", 3, 9, 1, 60_000, 0),
        ["TRADE-1: seat 1 has until 60000 ms for offer:3:9"],
    ),
    (
        e.DeadlineExtended("roll", 1, 9, 80_000, "outage"),
        ["CLOCK-1: roll:1:9 moves to 80000 ms (outage)"],
    ),
    (
        e.DecisionTimedOut(1, "roll", 250),
        [
            (
                "CLOCK-2: seat 1 did not decide in time: the roll is skipped and the "
                "turn over (0.25 s late)"
            ),
        ],
    ),
    (
        e.DecisionTimedOut(1, "buy", 250),
        ["CLOCK-2: seat 1 did not decide in time: the property is declined (0.25 s late)"],
    ),
    (
        e.DecisionTimedOut(1, "auction", 250),
        ["CLOCK-2: seat 1 did not decide in time: the bid is passed (0.25 s late)"],
    ),
    (
        e.DecisionTimedOut(1, "debt", 250),
        ["CLOCK-2: seat 1 did not decide in time: the engine pays (0.25 s late)"],
    ),
    (
        e.DecisionTimedOut(1, "bail", 250),
        ["CLOCK-2: seat 1 did not decide in time: the choice is to stay (0.25 s late)"],
    ),
    (
        e.DecisionTimedOut(1, "bus", 250),
        ["CLOCK-2: seat 1 did not decide in time: the bus goes by the sum (0.25 s late)"],
    ),
    (
        e.DecisionTimedOut(1, "teleport", 250),
        ["CLOCK-2: seat 1 did not decide in time: the token stays where it is (0.25 s late)"],
    ),
    (
        e.DecisionTimedOut(1, "jackpot", 250),
        ["CLOCK-2: seat 1 did not decide in time: the bet is declined (0.25 s late)"],
    ),
    (
        e.DiceRolled(1, 3, 4, 0, 12, 1),
        ["TURN-1: seat 1 rolls 3 and 4", "FAIR-1: drawn from block 12"],
    ),
    (
        e.DiceRolled(1, 3, 3, 0, 12, 1),
        [
            "TURN-1: seat 1 rolls 3 and 3",
            "TURN-2: doubles number 1 of the turn give another roll",
            "FAIR-1: drawn from block 12",
        ],
    ),
    (
        e.DiceRolled(1, 3, 4, 2, 12, 1),
        [
            "TURN-1: seat 1 rolls 3 and 4",
            "DIE3-1: the third die shows 2",
            "FAIR-1: drawn from block 12",
        ],
    ),
    (
        e.DiceRolled(1, 3, 3, 3, 12, 1),
        [
            "TURN-1: seat 1 rolls 3 and 3",
            "DIE3-1: the third die shows 3",
            "DIE3-4: a triple leads to any square and to another roll",
            "FAIR-1: drawn from block 12",
        ],
    ),
    (
        e.DiceRolled(1, 4, 4, e.BUS, 12, 1),
        [
            "TURN-1: seat 1 rolls 4 and 4",
            "DIE3-1: the third die shows bus",
            "TURN-2: doubles number 1 of the turn give another roll",
            "FAIR-1: drawn from block 12",
        ],
    ),
    (
        e.DiceRolled(1, 5, 5, e.X, 12, 2),
        [
            "TURN-1: seat 1 rolls 5 and 5",
            "DIE3-1: the third die shows X",
            "TURN-2: doubles number 1 of the turn give another roll",
            "DIE3-3: the X waits for the end of the turn",
            "FAIR-1: drawn from blocks 12 to 13",
        ],
    ),
    (
        e.TokenMoved(1, 37, 5, "roll"),
        ["TURN-1: seat 1 goes from square 37 (dark_blue 1) to square 5 (station 1)"],
    ),
    (
        e.TokenMoved(1, 7, 24, "card"),
        ["DECK-2: seat 1 goes from square 7 (chance) to square 24 (red 3)"],
    ),
    (
        e.TokenMoved(1, 30, 10, "jail"),
        ["JAIL-1: seat 1 goes from square 30 (go_to_jail) to square 10 (jail)"],
    ),
    (
        e.TokenMoved(1, 10, 11, "jump"),
        ["DIE3-3: seat 1 goes from square 10 (jail) to square 11 (pink 1)"],
    ),
    (
        e.TokenMoved(1, 0, 39, "teleport"),
        ["DIE3-4: seat 1 goes from square 0 (start) to square 39 (dark_blue 2)"],
    ),
    (e.SalaryPaid(1, 2_000), ["BOARD-3: seat 1 gets its salary of 2,000 at Start"]),
    (e.LandingBonusPaid(1, 1_000), ["BOARD-3: seat 1 gets 1,000 more for stopping on Start"]),
    (
        e.JailEntered(1, "doubles"),
        [
            "TURN-2: a third doubles sends seat 1 to jail",
            "TURN-3: the turn ends, whatever was rolled",
        ],
    ),
    (
        e.JailEntered(1, "square"),
        ["TURN-4: its square sends seat 1 to jail", "TURN-3: the turn ends, whatever was rolled"],
    ),
    (
        e.JailEntered(1, "card"),
        ["DECK-1: a card sends seat 1 to jail", "TURN-3: the turn ends, whatever was rolled"],
    ),
    (e.JailAttemptFailed(1, 2), ["JAIL-4: failed roll 2 of 3 keeps seat 1 in jail"]),
    (e.BailOffered(1, 500), ["JAIL-3: seat 1 may pay 500 and move by its roll, or stay"]),
    (e.BailPaid(1, 500), ["JAIL-3: seat 1 pays 500 bail"]),
    (e.JailLeft(1, "doubles"), ["JAIL-3: doubles free seat 1"]),
    (e.JailLeft(1, "bail"), ["JAIL-3: the bail frees seat 1"]),
    (e.JailLeft(1, "forced_bail"), ["JAIL-4: the bail after the last failed roll frees seat 1"]),
    (e.BusOffered(1, (4, 6, 10)), ["DIE3-2: seat 1 may move by one of 4, 6, 10"]),
    (e.BusMoveChosen(1, 10), ["DIE3-2: seat 1 moves by 10"]),
    (e.TeleportOffered(1), ["DIE3-4: the triple lets seat 1 go to any square"]),
    (e.TeleportChosen(1, 39), ["DIE3-4: seat 1 chooses square 39 (dark_blue 2)"]),
    (
        e.JumpMade(1, 10, 11),
        ["DIE3-3: the X takes seat 1 on from square 10 (jail) to square 11 (pink 1)"],
    ),
    (e.TurnMissed(1, 1), ["CLOCK-3: seat 1 has missed 1 turn of 2 in a row"]),
    (e.TurnEnded(1), ["TURN-1: the turn of seat 1 is over"]),
    (
        e.MatchEnded((2,), (2, 0, 1), (100, 0, 7_000), (0, 0, 0), 500, "round_cap"),
        [
            "END-2: round 500 was the last: the richest won, seat 2",
            "END-3: the places are seat 2 with 7,000, seat 0 with 100, seat 1 with 0",
        ],
    ),
    (
        e.MatchEnded((0, 2), (2, 0, 1, 3), (100, 0, 7_000, 0), (0,) * 4, 31, "last_standing"),
        [
            "END-1: in round 31 nobody was left to play against: seat 0, seat 2 won",
            (
                "END-3: the places are seat 2 with 7,000, seat 0 with 100, seat 1 with "
                "0, seat 3 with 0"
            ),
        ],
    ),
    (e.SeedRevealed(bytes(32)), [f"FAIR-1: the seed was {ZEROS}: anyone can check every draw"]),
    (
        e.MatchAborted("broken", "operator:1"),
        [
            "FAIR-1: operator:1 breaks the match off (broken); its seed is revealed",
            "XP-1: nobody has won, and nothing is paid",
        ],
    ),
    (
        e.MatchFrozen("a report", "operator:1", 5_000),
        ["CLOCK-1: operator:1 stops all clocks at 5000 ms (a report)"],
    ),
    (
        e.MatchResumed("all well", "operator:1"),
        ["CLOCK-1: operator:1 lets the clocks of -1 ms go on (all well)"],
    ),
]


def situation() -> Match:
    return given(CLASSIC_2).match


@pytest.mark.parametrize(("event", "clauses"), EXPLAINED)
def test_an_event_is_explained_by_its_rules_and_numbers(event: e.Event, clauses: list[str]) -> None:
    explanation = explain(situation(), event)

    assert explanation.text == "; ".join(clauses)
    assert explanation.rules == tuple(dict.fromkeys(clause.split(": ")[0] for clause in clauses))
