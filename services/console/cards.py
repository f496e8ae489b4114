"""``opolyx cards``: the chance cards, in the order in which they are drawn."""

from collections.abc import Mapping
from typing import Final

import typer

from libs.rules import cards as deck
from services.console.output import Format, FormatOption, write_json, write_table

app = typer.Typer(name="cards", no_args_is_help=True, add_completion=False)

SENTENCES: Final[Mapping[str, str]] = {
    deck.RECEIVE: "receive {:,} from the bank",
    deck.PAY: "pay the bank {:,}",
    deck.GO_TO: "go ahead to square {}",
    deck.NEAREST_STATION: "go ahead to the nearest station",
    deck.NEAREST_UTILITY: "go ahead to the nearest utility",
    deck.COLLECT_EACH: "collect {:,} from each other seat",
    deck.PAY_EACH: "pay {:,} to each other seat",
    deck.REPAIRS: "pay the bank {:,} for each level you have built",
    deck.TO_JAIL: "go to jail",
    deck.BACK: "go back {} squares",
}
"""What each effect does, with the card's number where it has one."""


@app.callback()
def cards() -> None:
    """Look at the chance cards."""


@app.command()
def show(output: FormatOption = Format.TABLE) -> None:
    """Print the 16 chance cards; every match draws them in this order, from the first on."""
    described = [describe_card(number) for number in range(1, deck.DECK_SIZE + 1)]
    if output != Format.TABLE:
        write_json(described, output)
    else:
        write_table(("card", "what it does"), ((card["card"], card["text"]) for card in described))


def describe_card(number: int) -> dict[str, object]:
    """Return card *number*, from 1, as plain values; an effect without a number has none."""
    card = deck.DECK[number - 1]
    return {
        "card": number,
        "effect": card.effect,
        "amount": card.amount if "{" in SENTENCES[card.effect] else None,
        "text": SENTENCES[card.effect].format(card.amount),
    }
