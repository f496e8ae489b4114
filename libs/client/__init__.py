"""The Python client of the public API, for bots, the command line, and programs of one's own.

All that a bot needs is here: `from libs.client import Client, commands`. See README.md.
"""

from libs.chassis.status import RefusedError
from libs.client import commands
from libs.client.calls import ConnectionLostError
from libs.client.client import Client
from libs.client.replies import Accepted, Refused, Reply
from libs.client.rooms import new_command_id
from libs.client.stream import StreamBrokenError, UnansweredError
from libs.client.table import Chair, Table
from libs.client.turns import Turn
from libs.kernel.reasons import Reason
from libs.rules.legal import Choice, JackpotBounds, LegalCommands, TradeBounds
from libs.rules.views import View
from libs.wire.chain import BrokenChainError

__all__ = [
    "Accepted",
    "BrokenChainError",
    "Chair",
    "Choice",
    "Client",
    "ConnectionLostError",
    "JackpotBounds",
    "LegalCommands",
    "Reason",
    "Refused",
    "RefusedError",
    "Reply",
    "StreamBrokenError",
    "Table",
    "TradeBounds",
    "Turn",
    "UnansweredError",
    "View",
    "commands",
    "new_command_id",
]
