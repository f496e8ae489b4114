-- How far the timer has read each match, and what is open in it then (write protocol, R2): one row,
-- so that the two are one. The timer could do without, since engines tell it all again; with it a
-- restart knows at once what nobody has in memory.

CREATE TABLE timer.followed_match (
    match_id  uuid    PRIMARY KEY,
    last_seq  bigint  NOT NULL CHECK (last_seq > 0),
    last_hash bytea   NOT NULL CHECK (octet_length(last_hash) = 32),
    -- An array of arrays: the name of a deadline, and when it is fired, in ms.
    deadlines jsonb   NOT NULL,
    is_frozen boolean NOT NULL,
    is_over   boolean NOT NULL
) WITH (fillfactor = 50); -- updated by every record: room for the next version on the same page

-- What a start asks for. `is_over` changes once, so that every other update is HOT.
CREATE INDEX followed_match_on ON timer.followed_match (match_id) WHERE NOT is_over;

-- Writes what a record came to. A position never goes back, whoever writes it. Not waited for on
-- disk: what a crash takes away is read again, from the log or from the match's engine.
CREATE FUNCTION timer.follow(
    match_id uuid, last_seq bigint, last_hash bytea, deadlines text, is_frozen boolean, is_over boolean
) RETURNS void
LANGUAGE sql AS $$
    SELECT set_config('synchronous_commit', 'off', true);
    INSERT INTO timer.followed_match AS m
    VALUES ($1, $2, $3, $4::jsonb, $5, $6)
    ON CONFLICT ON CONSTRAINT followed_match_pkey DO UPDATE
    SET last_seq = EXCLUDED.last_seq, last_hash = EXCLUDED.last_hash,
        deadlines = EXCLUDED.deadlines, is_frozen = EXCLUDED.is_frozen, is_over = EXCLUDED.is_over
    WHERE m.last_seq < EXCLUDED.last_seq
$$;
