"""Progress in PostgreSQL: what the records did, in the transactions of their reader (R2)."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from libs.chassis.key_files import has_key
from libs.chassis.sealing import GivenUpError, Sealed, Sealer
from libs.eventlog.following import ChainedRecord, Position
from libs.eventlog.reading import BrokenStreamError
from libs.kernel.ids import MatchId, PlayerId
from libs.store.connections import Connection, Connections
from opolyx.progression.v1 import progression_event_pb2 as pb
from services.progression.facts import Earned, OpenMatch
from services.progression.granting import Standing

SCHEMA: Final = "progression"

MIGRATIONS: Final = Path(__file__).parent / "migrations"


async def open_sealer(folder: Path, connections: Connections) -> Sealer:
    """Use the keys of cards in *folder*, making one at the first start.

    Raises:
        LostKeysError: there is none, and seeds were sealed with one.
        SettingsError: a file there is no key, or cannot be read.
        StoreUnavailableError: the store did not answer.

    """
    rows = [] if has_key(folder) else await connections.fetch(_KEYS_USED)
    used = {row["key_id"]: row["people"] for row in rows}
    return Sealer.open(folder, used, _LOSS)


class ProgressStore:
    """What the reader of match records keeps. Raises `StoreUnavailableError` as it is."""

    def __init__(self, connections: Connections, sealer: Sealer) -> None:
        self._connections = connections
        self._sealer = sealer

    async def position(self, match_id: MatchId) -> Position:
        """Return how far a match has been read, from the start if not at all."""
        row = await self._connections.fetchrow(_POSITION, match_id)
        return Position(row["last_seq"], row["last_hash"]) if row is not None else Position()

    async def move(self, positions: Mapping[MatchId, Position]) -> None:
        """Move matches on over records that had no effect; one that is further stays there."""
        await self._connections.fetch(
            _MOVE,
            list(positions),
            [position.last_seq for position in positions.values()],
            [position.last_hash for position in positions.values()],
        )

    async def forget(self, match_id: MatchId) -> None:
        """Let a match be read from its first record again. What it brought stays granted."""
        async with self._connections.transaction() as connection:
            await connection.execute(_FORGET_MATCH, match_id)
            await connection.execute(_FORGET_POSITION, match_id)

    @asynccontextmanager
    async def taking(self, record: ChainedRecord) -> AsyncIterator["Taking | None"]:
        """Yield the transaction in which a record takes effect; None if it did before.

        The position moves at its end. Others that read the same match wait meanwhile.

        Raises:
            BrokenStreamError: nothing is known here of a match that this reader has read.

        """
        async with self._connections.transaction() as connection:
            if record.first_seq == 1:
                await connection.execute(_BEGIN, record.match_id, Position().last_hash)
            last_seq: int | None = await connection.fetchval(_LOCK, record.match_id)
            if last_seq is None:
                raise BrokenStreamError(record.match_id)
            if last_seq >= record.last_seq:
                yield None
                return
            yield Taking(connection, self._sealer, record.match_id)
            await connection.execute(_GO_ON, record.match_id, record.last_seq, record.hash)


class Taking:
    """What a record may do, all of it or nothing."""

    def __init__(self, connection: Connection, sealer: Sealer, match_id: MatchId) -> None:
        self._connection = connection
        self._sealer = sealer
        self._match_id = match_id

    async def open_match(self) -> OpenMatch:
        """Return what is kept of the match.

        Raises:
            BrokenStreamError: nothing is, though it has been read.

        """
        row = await self._connection.fetchrow(_OPEN_MATCH, self._match_id)
        if row is None:
            raise BrokenStreamError(self._match_id)
        return OpenMatch(row["rule_set"], tuple(row["players"]), frozenset(row["seats_out"]))

    async def keep_match(self, match: OpenMatch) -> None:
        """Keep this of the match from now on."""
        await self._connection.execute(
            _KEEP_MATCH, self._match_id, match.rule_set, match.players, sorted(match.seats_out)
        )

    async def close_match(self) -> None:
        """Keep nothing of the match any more: it is over."""
        await self._connection.execute(_FORGET_MATCH, self._match_id)

    async def not_granted(self, earnings: Sequence[Earned]) -> list[Earned]:
        """Return those that were never granted (XP-6)."""
        rows = await self._connection.fetch(_GRANTED, [earned.key for earned in earnings])
        granted = {row["reward_key"] for row in rows}
        return [earned for earned in earnings if earned.key not in granted]

    async def standing(self, player_id: PlayerId) -> Standing:
        """Return where a player stands, and keep others from it until the end of the transaction.

        Several players are to be asked for in the order of their ids.

        Raises:
            UnsealableError: the seed of the player's next card cannot be read now; where it never
                will be, since its key was given up, there is none.

        """
        await self._connection.execute(_ENSURE_PROFILE, player_id)
        row = await self._connection.fetchrow(_LOCK_PROFILE, player_id)
        assert row is not None
        if not row["sequence"]:
            return Standing(player_id)
        sealed = Sealed(row["key_id"], row["sealed_seed"])
        try:
            seed = self._sealer.unseal(sealed, bound_to=player_id.encode())
        except GivenUpError:
            seed = b""
        return Standing(player_id, row["sequence"], row["experience"], row["card_count"], seed)

    async def keep(self, standing: Standing, events: Sequence[pb.ProgressionEvent]) -> None:
        """Append events of one player, with what follows from them, and where they lead."""
        player_id = standing.player_id
        written = [(player_id, event.sequence, event.SerializeToString()) for event in events]
        await self._connection.executemany(_APPEND, written)
        await self._connection.executemany(_PUBLISH, [row[:2] for row in written])
        sealed = self._sealer.seal(standing.seed, bound_to=player_id.encode())
        await self._connection.execute(
            _KEEP_PROFILE,
            player_id,
            standing.sequence,
            standing.experience,
            standing.card_count,
            sealed.key_id,
            sealed.sealed,
        )

    async def list_reward(self, earned: Earned, events: Sequence[pb.ProgressionEvent]) -> None:
        """List what one reward brought, as *events* tell it, for who looks at the profile."""
        rewarded, *dropped = events
        await self._connection.execute(
            _LIST_REWARD,
            earned.key,
            earned.player_id,
            rewarded.sequence,
            earned.match_id,
            earned.seat,
            earned.experience,
            rewarded.at_ms,
        )
        cards = [
            (
                earned.player_id,
                event.card_dropped.card.square,
                event.card_dropped.card.rarity,
                event.sequence,
                earned.key,
                earned.match_id,
                event.at_ms,
            )
            for event in dropped
        ]
        await self._connection.executemany(_LIST_CARD, cards)


_KEYS_USED: Final = """
    SELECT key_id, count(*) AS people FROM progression.profile
    WHERE key_id <> '' GROUP BY key_id ORDER BY key_id
"""
_LOSS: Final = "the next cards of {} people are bound to seeds that nobody can read"

_POSITION: Final = """
    SELECT last_seq, last_hash FROM progression.match_position WHERE match_id = $1
"""
# Locked in one order first: an update of several rows takes them in whatever order suits its plan,
# and two replicas would wait for each other.
_MOVE: Final = """
    WITH locked AS MATERIALIZED (
        SELECT match_id FROM progression.match_position
        WHERE match_id = ANY ($1) ORDER BY match_id FOR UPDATE
    )
    UPDATE progression.match_position AS p
    SET last_seq = m.last_seq, last_hash = m.last_hash
    FROM unnest($1::uuid[], $2::bigint[], $3::bytea[]) AS m (match_id, last_seq, last_hash)
        JOIN locked USING (match_id)
    WHERE p.match_id = m.match_id AND p.last_seq < m.last_seq
"""
_FORGET_POSITION: Final = "DELETE FROM progression.match_position WHERE match_id = $1"

_BEGIN: Final = """
    INSERT INTO progression.match_position (match_id, last_seq, last_hash) VALUES ($1, 0, $2)
    ON CONFLICT (match_id) DO NOTHING
"""
_LOCK: Final = "SELECT last_seq FROM progression.match_position WHERE match_id = $1 FOR UPDATE"
_GO_ON: Final = """
    UPDATE progression.match_position SET last_seq = $2, last_hash = $3 WHERE match_id = $1
"""

_OPEN_MATCH: Final = """
    SELECT rule_set, players, seats_out FROM progression.open_match WHERE match_id = $1
"""
_KEEP_MATCH: Final = """
    INSERT INTO progression.open_match (match_id, rule_set, players, seats_out)
    VALUES ($1, $2, $3, $4)
    ON CONFLICT (match_id) DO UPDATE
    SET rule_set = EXCLUDED.rule_set, players = EXCLUDED.players, seats_out = EXCLUDED.seats_out
"""
_FORGET_MATCH: Final = "DELETE FROM progression.open_match WHERE match_id = $1"

_GRANTED: Final = "SELECT reward_key FROM progression.reward WHERE reward_key = ANY ($1)"

_ENSURE_PROFILE: Final = """
    INSERT INTO progression.profile (player_id) VALUES ($1) ON CONFLICT (player_id) DO NOTHING
"""
_LOCK_PROFILE: Final = """
    SELECT sequence, experience, card_count, key_id, sealed_seed
    FROM progression.profile WHERE player_id = $1 FOR UPDATE
"""
_KEEP_PROFILE: Final = """
    UPDATE progression.profile
    SET sequence = $2, experience = $3, card_count = $4, key_id = $5, sealed_seed = $6
    WHERE player_id = $1
"""
_APPEND: Final = """
    INSERT INTO progression.player_event (player_id, sequence, bytes) VALUES ($1, $2, $3)
"""
_PUBLISH: Final = "INSERT INTO progression.outbox (player_id, sequence) VALUES ($1, $2)"
_LIST_REWARD: Final = """
    INSERT INTO progression.reward
        (reward_key, player_id, sequence, match_id, seat, experience, granted_ms)
    VALUES ($1, $2, $3, $4, $5, $6, $7)
"""
_LIST_CARD: Final = """
    INSERT INTO progression.card
        (player_id, square, rarity, sequence, reward_key, match_id, dropped_ms)
    VALUES ($1, $2, $3, $4, $5, $6, $7)
"""
