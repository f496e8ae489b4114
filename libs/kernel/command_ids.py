"""The ids of services' own commands: version 5, made from what the command does in its match.

Two replicas, a restart, or the timer and the engine's own sweeper so send the very same command,
and it is carried out once (write protocol, W3). The ids of people are never of this version, or
they could use up those of deadlines.
"""

from typing import Final

from libs.kernel.ids import CommandId, MatchId, derived_command_id

_VERSION_AT: Final = 14
"""Where a UUID's version stands in its 36 characters."""


def fire_id(match_id: MatchId, deadline_id: str) -> CommandId:
    """Return the id under which a deadline is fired, such as `roll:2:57` (T3)."""
    return derived_command_id(match_id, f"fire:{deadline_id}")


def extend_id(match_id: MatchId, outage: int) -> CommandId:
    """Return the id under which an outage moves a match's deadlines (T8)."""
    return derived_command_id(match_id, f"extend:{outage}")


def bot_id(match_id: MatchId, sequence: int, seat: int) -> CommandId:
    """Return the id of what a bot does when the match is at *sequence*: one thing, once."""
    return derived_command_id(match_id, f"bot:{sequence}:{seat}")


def is_derived(command_id: str) -> bool:
    """Tell whether a UUID in its canonical spelling is of version 5, and so a service's own."""
    return command_id[_VERSION_AT] == "5"
