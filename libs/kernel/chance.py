"""FAIR-1: chance that anyone can check, as a pure function of a seed and a counter.

The engine commits to a secret seed before a match begins and reveals it in the match's last
record. Every draw comes from blocks of 32 bytes, each the HMAC-SHA-256 of the draw's label and a
counter under a key made from the seed, the match id and the seeds that the people at the table
gave. A draw that is decided again after a crash is therefore the same draw, and a reader with the
finished stream alone can recompute them all.

A label names the kind of draw, the counter numbers the blocks of the whole match from 0, and a draw
that needs more bytes than its block holds takes the blocks that follow.
"""

from collections.abc import Callable, Sequence
from hashlib import sha256
from hmac import digest as hmac_digest
from os import urandom
from typing import Final, Protocol

SEED_SIZE: Final = 32
CLIENT_SEED_SIZE_MIN: Final = 16
CLIENT_SEED_SIZE_MAX: Final = 32

FIRST: Final = "first"
ROLL: Final = "roll"
JACKPOT: Final = "jackpot"
SHUFFLE: Final = "shuffle"

NOT_ROLLED: Final = 0
BUS: Final = 4
X: Final = 5

_WORD_SIZE: Final = 8
_WORDS: Final = 1 << 64
# 252 is the largest multiple of six within a byte: bytes from there on would favour low faces.
_BYTES_TAKEN: Final = 252
_FACES: Final = bytes(byte % 6 + 1 if byte < _BYTES_TAKEN else 0 for byte in range(256))
# Two faces of the third die are an X.
_THIRDS: Final = bytes(min(face, X) for face in _FACES)

# HMAC pads its key to SHA-256's block and hashes it before anything else (RFC 2104).
_HMAC_BLOCK: Final = 64
_INNER_PAD: Final = bytes(byte ^ 0x36 for byte in range(256))
_OUTER_PAD: Final = bytes(byte ^ 0x5C for byte in range(256))


class Draws(Protocol):
    """Where the rules get their chance from.

    Every draw names the counter of its first block and tells how many blocks it used; the caller
    keeps the next free counter in the match's state. Nothing here remembers a draw.
    """

    def bind(self, client_seeds: Sequence[bytes | None]) -> None:
        """Fix the key, given what each seat contributed: None or empty for nothing."""
        ...

    def first(self, counter: int, seats: int) -> tuple[int, int]:
        """Draw the seat that plays first, from 0; returns (seat, blocks)."""
        ...

    def roll(self, counter: int, third: bool) -> tuple[int, int, int, int]:  # noqa: FBT001 - hot
        """Roll the white dice, and the third die if asked; returns (white, white, third, blocks).

        The third is 1 to 3, `BUS` or `X`, or `NOT_ROLLED`.
        """
        ...

    def jackpot(self, counter: int) -> tuple[int, int]:
        """Roll the jackpot die, 1 to 6; returns (die, blocks)."""
        ...

    def reveal(self) -> bytes:
        """Return the seed, for the last record of the match and for nothing else."""
        ...


class FairDraws:
    """The draws of one match under FAIR-1. Secret: whoever holds it knows every coming draw."""

    def __init__(self, match_id: str, seed: bytes) -> None:
        assert len(seed) == SEED_SIZE, len(seed)
        self._match_id = match_id
        self._seed = seed
        self._bound: tuple[bytes, ...] | None = None
        self._outer: _Sha256 = sha256()
        self._inner: _Sha256 = sha256()
        self._inner_roll: _Sha256 = sha256()

    def bind(self, client_seeds: Sequence[bytes | None]) -> None:
        """Derive the key from what each seat gave, None or empty for nothing. Idempotent.

        Raises:
            ValueError: a seed is not of 16 to 32 bytes.

        """
        given = tuple(seed or b"" for seed in client_seeds)
        if given == self._bound:
            return
        key = derive_key(self._match_id, self._seed, given)
        # Two states with the padded key already hashed: a block costs two copies of them, which is
        # half of what setting up an HMAC for each would.
        padded = key.ljust(_HMAC_BLOCK, b"\0")
        self._inner = sha256(padded.translate(_INNER_PAD))
        self._outer = sha256(padded.translate(_OUTER_PAD))
        self._inner_roll = self._labelled(ROLL)
        self._bound = given

    def roll(self, counter: int, third: bool) -> tuple[int, int, int, int]:  # noqa: FBT001 - hot
        """Roll the dice of one move. See `Draws.roll`."""
        assert self._bound is not None, "bind the client seeds before the first draw"
        inner = self._inner_roll.copy()
        inner.update(counter.to_bytes(8, "big"))
        outer = self._outer.copy()
        outer.update(inner.digest())
        block = outer.digest()
        white = _FACES[block[0]]
        other = _FACES[block[1]]
        if white and other:
            if not third:
                return white, other, NOT_ROLLED, 1
            die = _THIRDS[block[2]]
            if die:
                return white, other, die, 1
        return roll_from(BlockReader(self._blocks(ROLL), counter), third=third)

    def first(self, counter: int, seats: int) -> tuple[int, int]:
        """Draw the seat that plays first. See `Draws.first`."""
        reader = BlockReader(self._blocks(FIRST), counter)
        return reader.below(seats), reader.blocks

    def jackpot(self, counter: int) -> tuple[int, int]:
        """Roll the jackpot die. See `Draws.jackpot`."""
        reader = BlockReader(self._blocks(JACKPOT), counter)
        return reader.die(), reader.blocks

    def shuffle(self, counter: int, size: int) -> tuple[tuple[int, ...], int]:
        """Put 0 to size - 1 into a random order; returns (order, blocks). Fisher-Yates."""
        reader = BlockReader(self._blocks(SHUFFLE), counter)
        order = list(range(size))
        for last in range(size - 1, 0, -1):
            other = reader.below(last + 1)
            order[last], order[other] = order[other], order[last]
        return tuple(order), reader.blocks

    def reveal(self) -> bytes:
        """Return the seed. See `Draws.reveal`."""
        return self._seed

    def block(self, label: str, counter: int) -> bytes:
        """Return the 32 bytes that a label and a counter stand for."""
        return self._blocks(label)(counter)

    def _blocks(self, label: str) -> "Blocks":
        assert self._bound is not None, "bind the client seeds before the first draw"
        labelled = self._labelled(label)

        def block(counter: int) -> bytes:
            inner = labelled.copy()
            inner.update(counter.to_bytes(8, "big"))
            outer = self._outer.copy()
            outer.update(inner.digest())
            return outer.digest()

        return block

    def _labelled(self, label: str) -> "_Sha256":
        inner = self._inner.copy()
        inner.update(label.encode() + b"\0")
        return inner


def fresh_secret(size: int = SEED_SIZE) -> bytes:
    """Return bytes that nobody can guess: a seed, a key, a nonce. For what a running process makes.

    A simulation has seeds of its own, so that it repeats.
    """
    return urandom(size)


def commitment(match_id: str, seed: bytes) -> bytes:
    """Return what the engine publishes of a seed before the match: it binds and tells nothing."""
    return sha256(b"opolyx/fair/1/commit" + match_id.encode() + seed).digest()


def derive_key(match_id: str, seed: bytes, client_seeds: Sequence[bytes | None]) -> bytes:
    """Return the key of a match's draws; *client_seeds* by seat, None or empty for nothing.

    Raises:
        ValueError: a seed is not of 16 to 32 bytes.

    """
    text = b"opolyx/fair/1" + match_id.encode()
    for seat, given in enumerate(client_seeds):
        if given:
            if not is_client_seed(given):
                raise ValueError(f"the client seed of seat {seat} has {len(given)} bytes")
            text += bytes((seat, len(given))) + given
    return hmac_digest(seed, text, "sha256")


def is_client_seed(given: bytes) -> bool:
    """Tell whether a seat may contribute this; empty, to decline, is not a seed."""
    return CLIENT_SEED_SIZE_MIN <= len(given) <= CLIENT_SEED_SIZE_MAX


Blocks = Callable[[int], bytes]


class BlockReader:
    """Reads unbiased values out of the blocks from a counter on, opening each when it is needed.

    *blocks* counts those opened so far.
    """

    def __init__(self, block: Blocks, counter: int) -> None:
        self._block = block
        self._counter = counter
        self._unread = b""
        self.blocks = 0

    def die(self) -> int:
        """Return the next die, 1 to 6: one byte, skipping those that would favour a face."""
        while True:
            face = _FACES[self._take(1)[0]]
            if face:
                return face

    def below(self, count: int) -> int:
        """Return the next number below *count*: one word, skipping the incomplete last multiple."""
        taken = _WORDS // count * count
        while True:
            word = int.from_bytes(self._take(_WORD_SIZE), "big")
            if word < taken:
                return word % count

    def _take(self, size: int) -> bytes:
        # Sizes divide a block and no draw mixes them, so nothing ever straddles two blocks.
        if not self._unread:
            self._unread = self._block(self._counter + self.blocks)
            self.blocks += 1
        taken, self._unread = self._unread[:size], self._unread[size:]
        return taken


def roll_from(reader: BlockReader, *, third: bool) -> tuple[int, int, int, int]:
    """Roll as `Draws.roll` does, whatever number of bytes must be skipped."""
    white = reader.die()
    other = reader.die()
    die = min(reader.die(), X) if third else NOT_ROLLED
    return white, other, die, reader.blocks


class _Sha256(Protocol):
    """What is used of hashlib's objects, whose own type has no public name."""

    def copy(self) -> "_Sha256": ...

    def update(self, data: bytes, /) -> None: ...

    def digest(self) -> bytes: ...
