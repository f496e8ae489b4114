"""The SQL that `postgres` sends, over the tables and functions of the engine's migrations."""

from typing import Final

CREATE: Final = """
    SELECT match_engine.create_match(
        $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
"""

APPEND: Final = """
    SELECT outcome, last_seq, hash, request_hash
    FROM match_engine.append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
"""

FENCE: Final = "SELECT * FROM match_engine.fence($1, $2)"

# $2: behind this sequence, which ends a record. $3: up to this one, which ends one too.
TAIL: Final = """
    SELECT first_seq, last_seq, hash, bytes FROM match_engine.record
    WHERE match_id = $1 AND first_seq > $2 AND first_seq <= $3
    ORDER BY first_seq
"""

LOOK: Final = "SELECT match_engine.look($1, $2, $3, $4) AS outcome"

FIND_COMMAND: Final = """
    SELECT last_seq, hash, request_hash FROM match_engine.record
    WHERE match_id = $1 AND command_id = $2
"""

HEAD: Final = """
    SELECT h.seq, h.hash, h.fence, h.status, h.head_key_id, h.head_signature,
           p.seq AS published_seq
    FROM match_engine.match_head h JOIN match_engine.match_published p USING (match_id)
    WHERE h.match_id = $1
"""

OPEN_HEADS: Final = """
    SELECT h.match_id::text AS match_id, h.seq, h.hash, h.fence, h.status, h.head_key_id,
           h.head_signature, p.seq AS published_seq
    FROM match_engine.match_published p JOIN match_engine.match_head h USING (match_id)
    WHERE p.shard = ANY($1::smallint[]) AND NOT p.complete
    ORDER BY h.match_id
"""

MATCH_IDS: Final = """
    SELECT match_id::text AS match_id FROM match_engine.match_head
    WHERE $1::uuid IS NULL OR match_id > $1
    ORDER BY match_id LIMIT $2
"""

# Records lie end to end, so the one that holds event $2 + 1 is the last that begins at or before
# it: found by the key alone, where `last_seq > $2` would read the whole match.
RECORDS: Final = """
    SELECT first_seq, last_seq, hash, bytes FROM match_engine.record
    WHERE match_id = $1 AND last_seq > $2 AND first_seq >= (
        SELECT max(first_seq) FROM match_engine.record
        WHERE match_id = $1 AND first_seq <= $2 + 1
    )
    ORDER BY first_seq LIMIT $3
"""

SNAPSHOT: Final = """
    SELECT seq, rule_set, schema_version, state, state_hash FROM match_engine.snapshot
    WHERE match_id = $1 AND seq <= $2 AND schema_version = $3
    ORDER BY seq DESC LIMIT 1
"""

PUT_SNAPSHOT: Final = """
    INSERT INTO match_engine.snapshot VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (match_id, seq) DO UPDATE
    SET rule_set = excluded.rule_set, schema_version = excluded.schema_version,
        state = excluded.state, state_hash = excluded.state_hash
"""

SEED: Final = "SELECT key_id, sealed_seed FROM match_engine.match_secret WHERE match_id = $1"

WAKES_DUE: Final = """
    SELECT match_id::text AS match_id, wake_at_ms FROM match_engine.match_wake
    WHERE shard = ANY($1::smallint[]) AND wake_at_ms <= $2
    ORDER BY wake_at_ms, match_id LIMIT $3
"""

SET_PUBLISHED: Final = """
    UPDATE match_engine.match_published p
    SET seq = greatest(p.seq, new.seq), complete = p.complete OR new.complete
    FROM unnest($1::uuid[], $2::bigint[], $3::boolean[]) AS new (match_id, seq, complete)
    WHERE p.match_id = new.match_id AND (new.seq > p.seq OR new.complete > p.complete)
"""

QUARANTINE: Final = """
    INSERT INTO match_engine.quarantine (match_id, reason) VALUES ($1, $2)
    ON CONFLICT (match_id) DO NOTHING
"""

RELEASE: Final = "DELETE FROM match_engine.quarantine WHERE match_id = $1"

ADMIT: Final = "SELECT match_engine.admit($1, $2, $3) AS outcome"

# Read after the fence was raised: who is let in from then on is let in by whoever raised it.
ACCESS: Final = """
    SELECT (SELECT watching FROM match_engine.match_label WHERE match_id = $1) AS watching,
           ARRAY(SELECT player_id::text FROM match_engine.match_guest WHERE match_id = $1) AS guests
"""

NOW_MS: Final = "SELECT match_engine.now_ms() AS now_ms"
