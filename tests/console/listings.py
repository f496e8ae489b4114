"""A recorded match, state by state, and what a server would list in each."""

from collections.abc import Iterator

from libs.rules.evolve import apply
from libs.rules.legal import LegalCommands
from libs.rules.match import Match
from libs.wire.record import decode
from libs.wire.views import legal_messages
from opolyx.match.v1 import match_service_pb2 as pb
from services.console.terminal.options import Options, options_of
from tests.support.matches import Table


def listing(match: Match, seat: int) -> Options:
    """Return what a server would list for a seat."""
    messages = legal_messages(LegalCommands(match, seat))
    listed = pb.ListLegalCommandsResponse(
        legal_commands=messages, sequence=match.sequence, seat=seat
    )
    return options_of(listed, match)


def states(table: Table) -> Iterator[Match]:
    """Go through a match, record by record; it is the same one that changes."""
    match = Match()
    for stored in table.records:
        apply(match, decode(stored.data).events)
        yield match
