"""What a request for a new match must have before the rules look at it."""

from collections.abc import Sequence
from typing import Final

from libs.kernel.ids import is_uuid
from libs.wire.requests import Checks
from opolyx.match.v1 import match_service_pb2 as pb
from opolyx.record.v1 import event_pb2

TEXT_MAX: Final = 64
"""How long the name of a rule set or of a strength may be, in characters."""

GUESTS_MAX: Final = 1_000
"""How many may be invited to watch a match before it is made."""

_VERSION_AT: Final = 14
_PERSON: Final = event_pb2.SeatSpec.KIND_PERSON


def check_new_match(request: pb.CreateMatchRequest) -> None:
    """Go on if a match can be made of this, as far as one can tell without its rules.

    Raises:
        MalformedError: something is missing, or somebody has two seats.

    """
    checks = Checks()
    checks.command_id("command_id", request.command_id, of_service=True)
    checks.uuid("match_id", request.match_id)
    if is_uuid(request.match_id) and request.match_id[_VERSION_AT] != "7":
        checks.add("match_id", "must be a UUID of version 7")
    checks.text("rule_set", request.rule_set, size_max=TEXT_MAX)
    if not request.seats:
        checks.add("seats", "is missing")
    seen: set[str] = set()
    for seat, spec in enumerate(request.seats):
        if spec.kind == _PERSON:
            checks.uuid(f"seats[{seat}].player", spec.player)
            if spec.player in seen:
                checks.add(f"seats[{seat}].player", "has another seat too")
            seen.add(spec.player)
        else:
            checks.text(f"seats[{seat}].strength", spec.strength, size_max=TEXT_MAX)
    _check_guests(checks, request.access.guest_ids)
    checks.finish()


def _check_guests(checks: Checks, guest_ids: Sequence[str]) -> None:
    if len(guest_ids) > GUESTS_MAX:
        checks.add("access.guest_ids", f"must be {GUESTS_MAX} at most")
        return
    for n, guest_id in enumerate(guest_ids):
        checks.uuid(f"access.guest_ids[{n}]", guest_id)
        if n and guest_id <= guest_ids[n - 1]:
            checks.add(f"access.guest_ids[{n}]", "is not in ascending order")
