-- Which seats bots play, and how far the matches have been read (write protocol, "Readers").

-- The matches that bots play or have played. A row stays, so that being told of an old match again
-- begins nothing.
CREATE TABLE bot_runner.played_match (
    match_id uuid    PRIMARY KEY,
    is_done  boolean NOT NULL DEFAULT false -- over, or its bots are all out
);

-- What a start asks for.
CREATE INDEX played_match_on ON bot_runner.played_match (match_id) WHERE NOT is_done;

-- Who plays: first told wins, but for the match's own record, which is right.
CREATE TABLE bot_runner.bot_seat (
    match_id uuid     NOT NULL,
    seat     smallint NOT NULL,
    strength text     NOT NULL,
    PRIMARY KEY (match_id, seat)
);

-- How far each match has been read in the event log (R1).
CREATE TABLE bot_runner.match_position (
    match_id  uuid   PRIMARY KEY,
    last_seq  bigint NOT NULL CHECK (last_seq > 0),
    last_hash bytea  NOT NULL CHECK (octet_length(last_hash) = 32)
) WITH (fillfactor = 50); -- updated all the time: room for the next version on the same page

-- Moves matches on over records that had no effect; none goes back. Not waited for on disk: what a
-- crash takes away is read again.
CREATE FUNCTION bot_runner.move(match_ids uuid[], last_seqs bigint[], last_hashes bytea[]) RETURNS void
LANGUAGE sql AS $$
    SELECT set_config('synchronous_commit', 'off', true);
    INSERT INTO bot_runner.match_position AS p
    SELECT * FROM unnest($1, $2, $3)
    ON CONFLICT (match_id) DO UPDATE
    SET last_seq = EXCLUDED.last_seq, last_hash = EXCLUDED.last_hash
    WHERE p.last_seq < EXCLUDED.last_seq
$$;
