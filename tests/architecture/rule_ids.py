"""The rule ids, frozen, and those of them that no scenario file can show.

The tuple is a copy on purpose: a rule that drops out of the rule book is missed here.
"""

import re
from collections.abc import Mapping
from typing import Final

SPECIFIED: Final = tuple(
    f"{topic}-{number}"
    for topic, count in (
        ("BOARD", 3),
        ("DECK", 4),
        ("SETUP", 4),
        ("ROUND", 1),
        ("TURN", 5),
        ("AUC", 5),
        ("RENT", 6),
        ("TAX", 2),
        ("BUILD", 3),
        ("MORT", 3),
        ("DEBT", 4),
        ("BANK", 4),
        ("SURR", 1),
        ("JAIL", 5),
        ("JACK", 1),
        ("TRADE", 4),
        ("DIE3", 5),
        ("CLOCK", 3),
        ("END", 3),
        ("XP", 6),
        ("FAIR", 2),
    )
    for number in range(1, count + 1)
)
"""Every rule of the game, in the order of the rule book."""

RULE_ID: Final = re.compile(
    r"\b(?:{})-\d+\b".format("|".join(dict.fromkeys(rule.split("-")[0] for rule in SPECIFIED)))
)
"""A rule id wherever it is cited."""

WITHOUT_SCENARIO: Final[Mapping[str, str]] = {
    "SETUP-1": "happens in the room, before there is a match",
    "SETUP-2": "holds between matches and rooms",
    "SETUP-3": "a scenario names the first seat itself, so the draw cannot show",
    "TRADE-4": "is about how a bot answers; a scenario answers for it",
    "XP-1": "a reward, granted after the match from its record",
    "XP-2": "a reward, granted after the match from its record",
    "XP-3": "a reward, granted after the match from its record",
    "XP-4": "a reward, granted after the match from its record",
    "XP-5": "a reward, granted after the match from its record",
    "XP-6": "holds between readings of one record",
    "FAIR-1": "a scenario scripts its draws instead of taking them from the seed",
    "FAIR-2": "is about what an onlooker can know",
}
"""Rules that one match on the engine cannot show, each with the reason; other tests prove them."""
