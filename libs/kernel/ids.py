"""Identifiers: distinct types, so that a match id can never be passed for a player id.

All are UUIDs in their 36 lower-case characters. Most are of version 7. A service derives the ids of
its own commands from what they do, as version 5, so that two replicas or a restart send the same.
"""

import re
from base64 import b32encode
from hashlib import sha1, sha256
from os import urandom
from typing import Final, NewType

MatchId = NewType("MatchId", str)
PlayerId = NewType("PlayerId", str)
CommandId = NewType("CommandId", str)

_UUID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.ASCII)


def is_uuid(text: str) -> bool:
    """Tell whether this is a UUID in its canonical spelling."""
    return _UUID.fullmatch(text) is not None


def derived_command_id(match_id: MatchId, name: str) -> CommandId:
    """Return the version 5 id of a service's own command, such as `fire:roll:0:12`, in a match."""
    namespace = bytes.fromhex(match_id.replace("-", ""))
    # The RFC names SHA-1; nothing secret depends on it.
    hashed = sha1(namespace + name.encode(), usedforsecurity=False).digest()
    return CommandId(_spell(hashed[:16], version=5))


def fresh_id(at_ms: int) -> str:
    """Return a version 7 id that nobody can guess; ids of one millisecond come in no order.

    For what a running process names, such as `MatchId(fresh_id(clock.now_ms()))`.
    """
    return _spell(at_ms.to_bytes(6, "big") + urandom(10), version=7)


def fresh_code() -> str:
    """Return 26 characters of `[a-z2-7]`, 128 bits that nobody can guess: whoever has them may."""
    return b32encode(urandom(16)).decode("ascii").rstrip("=").lower()


class SeededIds:
    """Makes version 7 ids that depend on a seed, on how many came before, and on the time given.

    For simulations and tests, whose exports must repeat byte for byte; not for ids that nobody may
    guess.
    """

    def __init__(self, seed: bytes) -> None:
        self._seeded = sha256(b"opolyx/ids/1" + seed)
        self._made = 0

    def match_id(self, at_ms: int) -> MatchId:
        """Return the next id, of a match."""
        return MatchId(self._next(at_ms))

    def player_id(self, at_ms: int) -> PlayerId:
        """Return the next id, of a player."""
        return PlayerId(self._next(at_ms))

    def command_id(self, at_ms: int) -> CommandId:
        """Return the next id, of a command."""
        return CommandId(self._next(at_ms))

    def _next(self, at_ms: int) -> str:
        hashed = self._seeded.copy()
        hashed.update(self._made.to_bytes(8, "big"))
        self._made += 1
        return _spell(at_ms.to_bytes(6, "big") + hashed.digest()[:10], version=7)


def _spell(raw: bytes, *, version: int) -> str:
    """Write 16 bytes as a UUID, with the version and RFC 9562's variant put in their places."""
    number = int.from_bytes(raw, "big")
    number = number & ~(0xF << 76) | version << 76
    number = number & ~(0x3 << 62) | 0x2 << 62
    text = f"{number:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
