"""What people may be called: a name that can be seen, and that leaves the text around it alone."""

import unicodedata
from typing import Final

from libs.wire.limits import DISPLAY_NAME_MAX
from libs.wire.requests import Checks

_JOINERS: Final = "\u200c\u200d"
"""They print nothing, and between letters they are part of how some languages are written."""

_BLANKS: Final = "\u115f\u1160\u2800\u3164\uffa0\U00013441\U00013442\U0001d159"
"""Letters and symbols by their class, and nothing at all to look at."""


def check_display_name(checks: Checks, field: str, name: str) -> str:
    """Return a name as it is kept; what is wrong with it is noted in *checks*."""
    name = unicodedata.normalize("NFC", name)
    checks.text(field, name, size_max=DISPLAY_NAME_MAX)
    if name != name.strip():
        checks.add(field, "must not begin or end with a space")
    if "  " in name:
        checks.add(field, "must not hold two spaces in a row")
    if not all(_may_stand(name, place) for place in range(len(name))):
        checks.add(field, "must not hold characters that cannot be seen")
    if unicodedata.category(name[:1] or "-").startswith("M"):
        checks.add(field, "must not begin with a mark that belongs to another character")
    return name


def clean_display_name(name: str) -> str:
    """Return what of a name that nobody chose here is left by the same rules; it may be empty."""
    spaced = " ".join(unicodedata.normalize("NFC", name).split())
    seen = "".join(a for a in spaced if _is_seen(a) or a in _JOINERS)
    while seen and (seen[0] in " " + _JOINERS or unicodedata.category(seen[0]).startswith("M")):
        seen = seen[1:]
    joined = "".join(a for place, a in enumerate(seen) if _may_stand(seen, place))
    # What was taken out of between two spaces, or two halves of a character, has brought them
    # together.
    return unicodedata.normalize("NFC", " ".join(joined.split()))[:DISPLAY_NAME_MAX].rstrip(
        " " + _JOINERS
    )


def _may_stand(name: str, place: int) -> bool:
    """Tell whether the character at *place* can be seen there, or joins two that can."""
    if name[place] not in _JOINERS:
        return _is_seen(name[place])
    # Beyond the ends there is a space, as far as that goes.
    around = f" {name} "[place : place + 3 : 2]
    return all(_is_seen(a) and a != " " for a in around)


def _is_seen(character: str) -> bool:
    """Tell whether it prints something, or is the plain space: no control, format or surrogate."""
    return character.isprintable() and character not in _BLANKS
