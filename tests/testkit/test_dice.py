"""A script of draws: what is decided twice is drawn once; past the script the seed draws."""

from libs.kernel.chance import BUS, NOT_ROLLED, FairDraws, X
from libs.kernel.ids import MatchId
from libs.scenarios.scenario import Script
from services.testkit.dice import Dice, DiceBook, ScriptedDraws

MATCH = MatchId("0190a000-0000-7000-8000-000000000000")
OTHER = MatchId("0190a000-0000-7000-8000-000000000001")
SEED = bytes(range(32))


def fair() -> FairDraws:
    draws = FairDraws(MATCH, SEED)
    draws.bind([b"", b""])
    return draws


def scripted(dice: Dice) -> ScriptedDraws:
    return ScriptedDraws(dice, fair())


def test_each_kind_of_draw_comes_in_its_own_order() -> None:
    dice = Dice(first=1, roll=[(1, 2), (3, 4)], third=["bus", "x"], jackpot=[6])
    draws = scripted(dice)

    assert draws.first(0, 2)[0] == 1
    assert draws.roll(1, third=True)[:3] == (1, 2, BUS)
    assert draws.jackpot(2)[0] == 6
    assert draws.roll(3, third=False)[:3] == (3, 4, NOT_ROLLED)
    assert draws.roll(4, third=True)[2] == X
    assert dice.left == 0


def test_past_the_script_every_draw_is_the_seeds() -> None:
    draws = scripted(Dice(roll=[(1, 2)]))

    assert draws.first(0, 4) == fair().first(0, 4)
    assert draws.roll(1, third=False)[:2] == (1, 2)
    assert draws.roll(2, third=True) == fair().roll(2, third=True)
    assert draws.jackpot(3) == fair().jackpot(3)
    assert draws.reveal() == SEED


def test_a_draw_takes_as_many_blocks_as_the_seeds_would() -> None:
    draws = scripted(Dice(first=0, roll=[(1, 2)] * 400, jackpot=[1] * 400))

    assert [draws.roll(n, third=True)[3] for n in range(400)] == [
        fair().roll(n, third=True)[3] for n in range(400)
    ]


def test_what_is_decided_again_is_drawn_again() -> None:
    dice = Dice(roll=[(1, 2), (3, 4)])
    draws = scripted(dice)

    assert draws.roll(7, third=False)[:2] == (1, 2)
    assert draws.roll(7, third=False)[:2] == (1, 2)
    assert scripted(dice).roll(7, third=False)[:2] == (1, 2)
    assert draws.roll(8, third=False)[:2] == (3, 4)


def test_a_decision_that_never_became_part_of_the_match_has_drawn_nothing() -> None:
    dice = Dice(roll=[(1, 2), (3, 4)], jackpot=[5])
    draws = scripted(dice)
    draws.roll(7, third=False)
    draws.roll(8, third=False)

    assert draws.jackpot(7)[0] == 5
    assert draws.roll(8, third=False)[:2] == (1, 2)
    assert dice.left == 1


def test_a_script_goes_on_in_the_midst_of_a_match() -> None:
    dice = Dice(roll=[(1, 2)])
    draws = scripted(dice)
    draws.roll(1, third=False)

    dice.then(roll=[(6, 6)], jackpot=[2])

    assert dice.left == 2
    assert draws.roll(2, third=False)[:2] == (6, 6)


def test_the_draws_of_a_scenario_are_a_script() -> None:
    dice = Dice.of_script(Script(dice=((1, 2),), third_die=(X,), jackpot_die=(4,)), first=1)
    draws = scripted(dice)

    assert draws.first(0, 2)[0] == 1
    assert draws.roll(1, third=True)[:3] == (1, 2, X)
    assert draws.jackpot(2)[0] == 4


def test_a_book_scripts_the_matches_that_are_in_it_and_no_other() -> None:
    book = DiceBook()
    book.write(MATCH, Dice(first=1))

    assert isinstance(book.draws_of(MATCH, SEED), ScriptedDraws)
    assert isinstance(book.draws_of(OTHER, SEED), FairDraws)
