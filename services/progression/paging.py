"""Page tokens: where the next page begins, opaque to whoever sends them back."""

import struct
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Final

from libs.wire.requests import MalformedError, Violation
from services.progression.profiles import BEFORE_ALL, CardPlace

_PLACE: Final = struct.Struct(">bBq")


def token_of(place: CardPlace) -> str:
    """Return the token of the page behind a card."""
    return urlsafe_b64encode(_PLACE.pack(*place)).decode()


def place_of(token: str) -> CardPlace:
    """Return the place that a token stands for; without one, that before all cards.

    Raises:
        MalformedError: it was never given out.

    """
    if not token:
        return BEFORE_ALL
    try:
        place = CardPlace(*_PLACE.unpack(urlsafe_b64decode(token)))
    except (ValueError, struct.error):
        place = BEFORE_ALL
    if token_of(place) != token:
        raise MalformedError([Violation("page_token", "is none that was given out")])
    return place
