"""The SQL that `postgres_directory` sends."""

from collections.abc import Mapping
from typing import Final

_LABEL: Final = """
    l.rule_set, l.watching,
    ARRAY(SELECT s.player_id::text FROM match_engine.match_seat s
          WHERE s.match_id = h.match_id) AS players,
    ARRAY(SELECT g.player_id::text FROM match_engine.match_guest g
          WHERE g.match_id = h.match_id) AS guests
"""

_FIRST: Final = "r.last_seq AS first_last_seq, r.hash AS first_hash, r.bytes AS first_bytes"

# Of the ids in {source}. $1: before this id. $2: the limit. All others: see `Wanted`; $8 says
# whether everything is seen, or else only what everybody sees and the player $9.
_LISTED: Final = """
    SELECT h.match_id::text AS match_id, h.seq, h.hash, h.fence, h.status, h.head_key_id,
           h.head_signature, p.seq AS published_seq, {first},
           q.match_id IS NOT NULL AS quarantined, {label}
    FROM {source} m
    JOIN match_engine.match_head h ON h.match_id = m.match_id
    JOIN match_engine.match_published p ON p.match_id = h.match_id
    JOIN match_engine.record r ON r.match_id = h.match_id AND r.first_seq = 1
    LEFT JOIN match_engine.quarantine q ON q.match_id = h.match_id
    LEFT JOIN match_engine.match_label l ON l.match_id = h.match_id
    WHERE ($1::uuid IS NULL OR m.match_id < $1)
      AND ($3::uuid IS NULL OR m.match_id = $3)
      AND ($4::uuid IS NULL OR EXISTS (
            SELECT FROM match_engine.match_seat s
            WHERE s.player_id = $4 AND s.match_id = m.match_id))
      AND ($5::text IS NULL OR l.rule_set = $5)
      AND ($6::text[] IS NULL OR h.status = ANY($6))
      AND ($7::boolean IS NULL OR (q.match_id IS NOT NULL) = $7)
      AND ($8::boolean OR coalesce(l.watching, 'everybody') = 'everybody' OR EXISTS (
            SELECT FROM match_engine.match_seat s
            WHERE s.player_id = $9::uuid AND s.match_id = m.match_id
          ) OR l.watching = 'invited' AND EXISTS (
            SELECT FROM match_engine.match_guest g
            WHERE g.player_id = $9::uuid AND g.match_id = m.match_id))
    ORDER BY m.match_id DESC LIMIT $2
"""

_SOURCES: Final[Mapping[str, str]] = {
    "match": "(SELECT $3::uuid AS match_id)",
    "player": "(SELECT match_id FROM match_engine.match_seat WHERE player_id = $4)",
    "quarantined": "match_engine.quarantine",
    # Those that go on are never wholly published.
    "open": "(SELECT match_id FROM match_engine.match_published WHERE NOT complete)",
    "rule_set": "(SELECT match_id FROM match_engine.match_label WHERE rule_set = $5)",
    "all": "match_engine.match_head",
}

LISTED: Final[Mapping[str, str]] = {
    name: _LISTED.format(first=_FIRST, label=_LABEL, source=source)
    for name, source in _SOURCES.items()
}
"""How matches are listed, by what they are read from."""

LABEL: Final = f"""
    SELECT {_LABEL} FROM match_engine.match_head h
    LEFT JOIN match_engine.match_label l ON l.match_id = h.match_id
    WHERE h.match_id = $1
"""  # noqa: S608 - of constants

UNLABELLED: Final = f"""
    SELECT u.match_id::text AS match_id, {_FIRST}
    FROM match_engine.match_unlabelled u
    JOIN match_engine.record r ON r.match_id = u.match_id AND r.first_seq = 1
    WHERE $1::uuid IS NULL OR u.match_id > $1
    ORDER BY u.match_id LIMIT $2
"""  # noqa: S608 - likewise

PUT_LABEL: Final = "SELECT match_engine.put_label($1, $2, $3, $4, $5)"

NOTE_CALL: Final = """
    INSERT INTO match_engine.admin_call
        (operator_id, method, match_id, command_id, reason, outcome)
    VALUES ($1, $2, $3, $4, $5, $6) RETURNING number
"""

SETTLE_CALL: Final = "UPDATE match_engine.admin_call SET outcome = $2 WHERE number = $1"

CALLS: Final = """
    SELECT number, operator_id::text AS operator_id, method, match_id::text AS match_id,
           command_id::text AS command_id, reason, at_ms, outcome
    FROM match_engine.admin_call
    WHERE ($1::bigint IS NULL OR number < $1)
      AND ($3::uuid IS NULL OR match_id = $3)
      AND ($4::uuid IS NULL OR operator_id = $4)
    ORDER BY number DESC LIMIT $2
"""

QUARANTINED: Final = """
    SELECT q.match_id::text AS match_id, q.reason, coalesce(h.seq, 0) AS seq,
           floor(extract(epoch FROM q.at) * 1000)::bigint AS since_ms
    FROM match_engine.quarantine q LEFT JOIN match_engine.match_head h USING (match_id)
    WHERE ($1::uuid IS NULL OR q.match_id > $1) AND ($3::uuid IS NULL OR q.match_id = $3)
    ORDER BY q.match_id LIMIT $2
"""

SEALS: Final = """
    SELECT s.key_id, count(*) FILTER (WHERE h.status IN ('live', 'frozen')) AS lost
    FROM match_engine.match_secret s JOIN match_engine.match_head h USING (match_id)
    GROUP BY s.key_id ORDER BY s.key_id
"""
"""The keys of seeds, each with how many matches need it still: what is over has told its seed."""

SIGNS: Final = """
    SELECT head_key_id AS key_id, count(*) AS lost FROM match_engine.match_head
    WHERE head_key_id IS NOT NULL GROUP BY head_key_id ORDER BY head_key_id
"""
