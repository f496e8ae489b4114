"""Limits that one service keeps and another tells of: each number is said once, here."""

from enum import StrEnum
from typing import Final


class LimitName(StrEnum):
    """How a limit is called by `GetServerInfo`, and by a refusal of who is beyond it.

    Of a rate the refusal names what holds in the long run: a burst is only how it begins.
    """

    CALLS = "calls_per_second"
    COMMANDS = "commands_per_second"
    ROOMS = "rooms_per_minute"
    STREAMS_OF_PERSON = "streams_per_person"
    UNANSWERED = "unanswered_commands"
    QUEUE = "stream_queue"
    WRITE = "stream_write_seconds"
    WAITING = "commands_waiting"
    CALLS_OF_SERVER = "calls_per_server"
    STREAMS_OF_SERVER = "streams_per_server"


COMMANDS_WAITING_MAX: Final = 32
"""How many commands may wait for their turn at one match (start; W2). The match engine's."""

ROOMS_MAX: Final = 1
"""In how many unfinished matches and waiting rooms a person may be (SETUP-2). The lobby's."""

INVITES_MAX: Final = 20
"""How many invitations of a room are of use at a time. The lobby's."""

GUESTS_MAX: Final = 200
"""How many people may have taken an invitation of a room. The lobby's."""

DISPLAY_NAME_MAX: Final = 32
"""The most characters of a person's name, in the composed form (NFC). The lobby's."""

PLAYERS_MAX: Final = 50
"""How many people are returned at once. The lobby's."""
