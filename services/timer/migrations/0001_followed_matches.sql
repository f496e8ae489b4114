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

-- Writes what the records of some matches came to, all in one step. A position never goes back,
-- whoever writes it. Not waited for on disk: what a crash takes away is read again, from the log or
-- from the match's engine.
CREATE FUNCTION timer.follow(
    match_ids uuid[],
    last_seqs bigint[],
    last_hashes bytea[],
    deadlines text[],
    are_frozen boolean[],
    are_over boolean[]
) RETURNS void
LANGUAGE sql AS $$
    SELECT set_config('synchronous_commit', 'off', true);
    INSERT INTO timer.followed_match AS m
    SELECT f.match_id, f.last_seq, f.last_hash, f.deadlines::jsonb, f.is_frozen, f.is_over
    FROM unnest(match_ids, last_seqs, last_hashes, follow.deadlines, are_frozen, are_over)
        AS f (match_id, last_seq, last_hash, deadlines, is_frozen, is_over)
    ON CONFLICT ON CONSTRAINT followed_match_pkey DO UPDATE
    SET last_seq = EXCLUDED.last_seq, last_hash = EXCLUDED.last_hash,
        deadlines = EXCLUDED.deadlines, is_frozen = EXCLUDED.is_frozen, is_over = EXCLUDED.is_over
    WHERE m.last_seq < EXCLUDED.last_seq
$$;
