"""``opolyx rules``: the rule sets, with every switch and number."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Final, NamedTuple

import typer

from libs.rules.rule_sets import RULE_SETS
from services.console.exits import NOT_FOUND, stop
from services.console.output import Format, FormatOption, write_json, write_table

app = typer.Typer(name="rules", no_args_is_help=True, add_completion=False)

BASIS_POINTS_PERCENT: Final = 100
MS_PER_S: Final = 1_000


class Switch(NamedTuple):
    """What a switch or number of a rule set is called, and the rules that it belongs to."""

    name: str
    rules: str


SWITCHES: Final[Mapping[str, Switch]] = {
    "rule_set_id": Switch("id", "-"),
    "board_id": Switch("board", "BOARD-1"),
    "seats": Switch("seats of a match", "SETUP-1"),
    "teams": Switch("two teams", "SETUP-4"),
    "starting_cash": Switch("starting cash", "SETUP-1"),
    "salary": Switch("Start salary", "BOARD-3"),
    "landing_bonus": Switch("bonus for landing exactly on Start", "BOARD-3"),
    "round_cap": Switch("last round", "END-2"),
    "tax_first_round": Switch("rent tax from round", "TAX-1"),
    "tax_full_round": Switch("rent tax full in round", "TAX-1"),
    "tax_first_bp": Switch("rent tax at first", "TAX-1"),
    "tax_full_bp": Switch("rent tax at its full", "TAX-1"),
    "even_building": Switch("even building", "BUILD-2"),
    "levels_per_turn": Switch("levels per street and turn", "BUILD-2"),
    "mortgage_expiry_rounds": Switch("mortgages expire after rounds", "MORT-3"),
    "redeem_fee_percent": Switch("fee on redeeming", "MORT-2"),
    "third_die_round": Switch("third die from round", "DIE3-1"),
    "jump_to_nearest_of_either": Switch("an X prefers nearer to unowned", "DIE3-3"),
    "turn_clock_ms": Switch("turn clock", "CLOCK-1"),
    "payment_pause_ms": Switch("payment pause, at least", "DEBT-1"),
    "bid_clock_ms": Switch("clock of a bid", "AUC-2"),
    "decision_least_ms": Switch("any decision, at least", "CLOCK-1"),
    "seeding_ms": Switch("time for client seeds", "FAIR-1"),
    "missed_turns_limit": Switch("missed turns that surrender a seat", "CLOCK-3"),
    "any_action_forgives": Switch("any action ends a run of missed turns", "CLOCK-3"),
    "auction_step": Switch("auction step", "AUC-1"),
    "jackpot": Switch("corner 20 is the jackpot", "JACK-1"),
    "jackpot_stake": Switch("jackpot stake", "JACK-1"),
    "manage_all_turn": Switch("manage and trade all turn long", "DEBT-1, TRADE-1"),
    "bail_before_roll": Switch("bail before the roll", "JAIL-2, JAIL-3"),
    "bail": Switch("bail", "JAIL-2, JAIL-3"),
    "jail_attempts": Switch("rolls to leave jail", "JAIL-4"),
    "open_offers": Switch("open trade offers of a seat", "TRADE-1"),
    "offer_ms": Switch("lifetime of a trade offer", "TRADE-1"),
    "fair_share_percent": Switch("smaller side of a trade, at least", "TRADE-2"),
    "cards_raise_rent": Switch("collection cards raise rent", "RENT-6"),
    "every_seat_earns": Switch("every seat earns experience", "XP-2, XP-3"),
}
"""Every field of a rule set, in its order; a test holds it to that."""

NEVER: Final = frozenset({"mortgage_expiry_rounds", "third_die_round"})
"""Numbers of which 0 means that it never happens."""
NO_LIMIT: Final = frozenset({"levels_per_turn"})
"""Numbers of which 0 means that there is no limit."""


@app.callback()
def rule_sets() -> None:
    """Look at the rule sets that matches are played by."""


@app.command("list")
def list_(output: FormatOption = Format.TABLE) -> None:
    """Print the rule sets, older revisions first."""
    if output != Format.TABLE:
        write_json([{"rule_set_id": rules.rule_set_id} for rules in RULE_SETS.values()], output)
        return
    header = ("rule set", "seats", "teams", "rounds", "turn clock", "third die")
    write_table(
        header,
        (
            (
                rules.rule_set_id,
                *(
                    spell(name, getattr(rules, name))
                    for name in ("seats", "teams", "round_cap", "turn_clock_ms", "third_die_round")
                ),
            )
            for rules in RULE_SETS.values()
        ),
    )


@app.command()
def show(
    rule_set_id: Annotated[str, typer.Argument(metavar="ID", help="Such as opolyx.classic@2.")],
    output: FormatOption = Format.TABLE,
) -> None:
    """Print every switch and number of a rule set, and the rules that each belongs to.

    Exit codes: 0 printed, 3 there is no such rule set.
    """
    rules = RULE_SETS.get(rule_set_id)
    if rules is None:
        known = ", ".join(RULE_SETS)
        stop(f"no rule set is called {rule_set_id}; known are {known}", NOT_FOUND)
    values = asdict(rules)
    if output != Format.TABLE:
        write_json(values, output)
        return
    write_table(
        ("what", "value", "rules", "switch"),
        (
            (switch.name, spell(name, values[name]), switch.rules, name)
            for name, switch in SWITCHES.items()
        ),
    )


def spell(name: str, value: object) -> str:
    """Write the value of a switch with its unit, as a person would."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    if not isinstance(value, int):
        return str(value)
    if not value and name in NEVER:
        return "never"
    if not value and name in NO_LIMIT:
        return "no limit"
    if name.endswith("_ms"):
        return f"{value / MS_PER_S:g} s"
    if name.endswith("_bp"):
        return f"{value / BASIS_POINTS_PERCENT:g} %"
    return f"{value} %" if name.endswith("_percent") else f"{value:,}"
