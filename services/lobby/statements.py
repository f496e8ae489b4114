"""The SQL of the lobby."""

from typing import Final

# Rooms.

# What is kept of a room: `stored`, or `facts` of one that was written before there was that.

LOCK_ROOM: Final = """
    SELECT facts, stored, changed_ms FROM lobby.room WHERE room_id = $1 FOR UPDATE
"""

FIND_ROOM: Final = "SELECT facts, stored, changed_ms FROM lobby.room WHERE room_id = $1"

ADD_ROOM: Final = """
    INSERT INTO lobby.room (
        room_id, sequence, state, match_id, stored, changed_ms, rule_set, is_listed, fill_ms,
        rematch_of
    )
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
"""

MOVE_ROOM: Final = """
    UPDATE lobby.room
    SET sequence = $2, state = $3, match_id = $4, stored = $5, facts = NULL, changed_ms = $6
    WHERE room_id = $1
"""

LISTED: Final = """
    SELECT facts, stored, changed_ms FROM lobby.room
    WHERE state = 'waiting' AND is_listed
      AND ($1 = '' OR rule_set = $1) AND ($2::uuid IS NULL OR room_id < $2)
    ORDER BY room_id DESC LIMIT $3
"""

STARTING: Final = """
    SELECT room_id FROM lobby.room WHERE state = 'starting' ORDER BY room_id LIMIT $1
"""

# The records of rooms.

ADD_RECORD: Final = """
    WITH added AS (
        INSERT INTO lobby.room_record (room_id, sequence, command_id, actor, request_hash, record)
        VALUES ($1, $2, $3, $4, $5, $6)
        RETURNING room_id, sequence
    )
    INSERT INTO lobby.outbox (room_id, sequence, traceparent)
    SELECT room_id, sequence, $7 FROM added
"""

FIND_COMMAND: Final = """
    SELECT sequence, request_hash FROM lobby.room_record WHERE room_id = $1 AND command_id = $2
"""

FIND_CREATION: Final = """
    SELECT room_id FROM lobby.room_record WHERE actor = $1 AND command_id = $2 AND sequence = 1
"""

RECORDS: Final = """
    SELECT record FROM lobby.room_record WHERE room_id = $1 AND sequence <= $2 ORDER BY sequence
"""

# All that is known of a room whose match is being made.
RECORDS_OF_START: Final = """
    SELECT record FROM lobby.room JOIN lobby.room_record USING (room_id)
    WHERE room_id = $1 AND room.state = 'starting' ORDER BY room_record.sequence
"""

FIND_REMATCH: Final = """
    SELECT room_id FROM lobby.room JOIN lobby.room_record USING (room_id)
    WHERE rematch_of = $1 AND actor = $2 AND command_id = $3
    UNION ALL
    SELECT room_id FROM lobby.room WHERE rematch_of = $1 AND state = 'waiting'
    LIMIT 1
"""

IDLE: Final = """
    SELECT room_id, sequence FROM lobby.room
    WHERE state = 'waiting' AND fill_ms IS NULL AND changed_ms <= $1
    ORDER BY changed_ms LIMIT $2
"""

# Invitations.

FIND_INVITE: Final = "SELECT room_id, code, expire_ms FROM lobby.invite WHERE code = $1"

FIND_INVITE_MADE: Final = """
    SELECT room_id, code, expire_ms, request_hash FROM lobby.invite
    WHERE room_id = $1 AND command_id = $2
"""

COUNT_INVITES: Final = """
    SELECT count(*) FROM lobby.invite WHERE room_id = $1 AND expire_ms > $2
"""

ADD_INVITE: Final = """
    INSERT INTO lobby.invite (code, room_id, expire_ms, command_id, request_hash)
    VALUES ($1, $2, $3, $4, $5)
"""

FORGET_INVITES: Final = "DELETE FROM lobby.invite WHERE expire_ms <= $1"

# Guests of matches.

ADD_ADMISSION: Final = """
    INSERT INTO lobby.admission (match_id, player_id, room_id) VALUES ($1, $2, $3)
    ON CONFLICT DO NOTHING
"""

ADMISSIONS: Final = """
    SELECT admission.match_id, player_id FROM lobby.admission JOIN lobby.room USING (room_id)
    WHERE room.state = 'started' ORDER BY admission.match_id, player_id LIMIT $1
"""

REMOVE_ADMISSION: Final = "DELETE FROM lobby.admission WHERE match_id = $1 AND player_id = $2"

REMOVE_ADMISSIONS: Final = "DELETE FROM lobby.admission WHERE room_id = $1"

# Quick matches that wait.

QUEUE: Final = """
    INSERT INTO lobby.quick_room (room_id, rule_set, seat_count, free_seats, fill_ms)
    VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (room_id) DO UPDATE SET free_seats = excluded.free_seats
"""

UNQUEUE: Final = "DELETE FROM lobby.quick_room WHERE room_id = $1"

# Who sits where.

BOUND: Final = "SELECT room_id, match_id FROM lobby.occupancy WHERE player_id = $1"

BIND: Final = "INSERT INTO lobby.occupancy (player_id, room_id) VALUES ($1, $2)"

UNBIND: Final = "DELETE FROM lobby.occupancy WHERE player_id = $1 AND room_id = $2"

RELEASE: Final = "DELETE FROM lobby.occupancy WHERE player_id = $1 AND match_id = $2"

BIND_TO_MATCH: Final = """
    UPDATE lobby.occupancy SET match_id = $3, match_seat = $4
    WHERE player_id = $1 AND room_id = $2
"""

# Who plays which match.

ADD_TO_HISTORY: Final = """
    INSERT INTO lobby.player_match (player_id, match_id, room_id, seat, outcome, started_ms)
    VALUES ($1, $2, $3, $4, 'playing', $5)
"""

DROP_FROM_HISTORY: Final = "DELETE FROM lobby.player_match WHERE match_id = $1"

# People.

FIND_PLAYER: Final = """
    SELECT player_id, display_name FROM lobby.player WHERE issuer = $1 AND subject = $2
"""

ADD_PLAYER: Final = """
    INSERT INTO lobby.player (player_id, issuer, subject, display_name, created_ms)
    VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT ON CONSTRAINT player_subject DO NOTHING
"""

RENAME: Final = "UPDATE lobby.player SET display_name = $2 WHERE player_id = $1 RETURNING player_id"

NAMES: Final = "SELECT player_id, display_name FROM lobby.player WHERE player_id = ANY ($1::uuid[])"

# The outbox.

# "lobby outbox". Of the transaction: it goes with whatever becomes of the connection.
TRY_OUTBOX: Final = "SELECT pg_try_advisory_xact_lock(7814429051370311) AS is_ours"

NEXT_ENTRIES: Final = """
    SELECT o.position, o.room_id, o.sequence, o.traceparent, r.record
    FROM lobby.outbox o JOIN lobby.room_record r USING (room_id, sequence)
    ORDER BY o.position LIMIT $1
"""

REMOVE_ENTRIES: Final = "DELETE FROM lobby.outbox WHERE position = ANY ($1::bigint[])"

COUNT_ENTRIES: Final = "SELECT count(*) AS waiting FROM lobby.outbox"
