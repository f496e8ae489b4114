-- Who sits in which match, who may see it, and which rules it has: what a record says in its first
-- event, or what no record says, where the database can look for it. Before, whoever listed matches
-- read the newest ones through, and everybody saw all of them.

-- One row for each match. Beside the head and not in it, so that an append stays a HOT update.
CREATE TABLE match_engine.match_label (
    match_id uuid PRIMARY KEY,
    rule_set text NOT NULL,
    watching text NOT NULL CHECK (watching IN ('everybody', 'invited', 'seats'))
);
CREATE INDEX match_label_rule_set ON match_engine.match_label (rule_set, match_id);

-- The people who sit in a match, and the matches of a person by their age.
CREATE TABLE match_engine.match_seat (
    player_id uuid NOT NULL,
    match_id  uuid NOT NULL,
    PRIMARY KEY (player_id, match_id)
);
CREATE INDEX match_seat_match ON match_engine.match_seat (match_id);

-- Who else was let in. Rows are added for as long as the match is there, and never taken away.
CREATE TABLE match_engine.match_guest (
    match_id  uuid NOT NULL,
    player_id uuid NOT NULL,
    PRIMARY KEY (match_id, player_id)
);

-- The matches whose first record nobody has looked into yet: those from before this migration, and
-- those that an engine of the release before makes during a roll-out. An engine labels them.
CREATE TABLE match_engine.match_unlabelled (match_id uuid PRIMARY KEY);
INSERT INTO match_engine.match_unlabelled SELECT match_id FROM match_engine.match_head;

-- Labels a match, once; who was let in before that stays in.
CREATE FUNCTION match_engine.put_label(
    p_match_id uuid, p_rule_set text, p_watching text, p_players uuid[], p_guests uuid[]
) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO match_engine.match_label VALUES (p_match_id, p_rule_set, p_watching)
    ON CONFLICT (match_id) DO NOTHING;
    IF FOUND THEN
        INSERT INTO match_engine.match_seat
        SELECT DISTINCT unnest(p_players), p_match_id;
        INSERT INTO match_engine.match_guest
        SELECT p_match_id, unnest(p_guests) ON CONFLICT DO NOTHING;
    END IF;
    DELETE FROM match_engine.match_unlabelled WHERE match_id = p_match_id;
END
$$;

-- Begins a match with its label, all or nothing: no crash leaves one that everybody may see, though
-- it was made for some. Without rules it waits for its label.
CREATE FUNCTION match_engine.create_match(
    p_match_id uuid, p_shard smallint, p_last_seq bigint, p_hash bytea, p_fence bigint,
    p_command_id uuid, p_request_hash bytea, p_bytes bytea, p_at_ms bigint,
    p_wake_at_ms bigint, p_key_id text, p_sealed_seed bytea,
    p_rule_set text, p_watching text, p_players uuid[], p_guests uuid[]
) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO match_engine.match_head (match_id, shard, seq, hash, fence, status)
    VALUES (p_match_id, p_shard, p_last_seq, p_hash, p_fence, 'live');
    INSERT INTO match_engine.record
    VALUES (p_match_id, 1, p_last_seq, p_fence, p_command_id, p_request_hash, p_bytes, p_hash,
            p_at_ms);
    INSERT INTO match_engine.match_published (match_id, shard) VALUES (p_match_id, p_shard);
    INSERT INTO match_engine.match_secret VALUES (p_match_id, p_key_id, p_sealed_seed);
    IF p_wake_at_ms IS NOT NULL THEN
        INSERT INTO match_engine.match_wake VALUES (p_match_id, p_shard, p_wake_at_ms);
    END IF;
    IF p_rule_set IS NULL THEN
        INSERT INTO match_engine.match_unlabelled VALUES (p_match_id);
    ELSE
        PERFORM match_engine.put_label(p_match_id, p_rule_set, p_watching, p_players, p_guests);
    END IF;
END
$$;

-- As the release before calls it.
CREATE OR REPLACE FUNCTION match_engine.create_match(
    p_match_id uuid, p_shard smallint, p_last_seq bigint, p_hash bytea, p_fence bigint,
    p_command_id uuid, p_request_hash bytea, p_bytes bytea, p_at_ms bigint,
    p_wake_at_ms bigint, p_key_id text, p_sealed_seed bytea
) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM match_engine.create_match(
        p_match_id, p_shard, p_last_seq, p_hash, p_fence, p_command_id, p_request_hash, p_bytes,
        p_at_ms, p_wake_at_ms, p_key_id, p_sealed_seed, NULL, NULL, NULL, NULL);
END
$$;

-- Lets a guest in, if the caller still is the match's writer. The head's row is held meanwhile, so
-- that whoever loads the match next finds the guest.
CREATE FUNCTION match_engine.admit(
    p_match_id uuid, p_fence bigint, p_player_id uuid
) RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM match_engine.match_head
    WHERE match_id = p_match_id AND fence = p_fence FOR SHARE;
    IF NOT FOUND THEN
        RETURN 'fenced';
    END IF;
    INSERT INTO match_engine.match_guest VALUES (p_match_id, p_player_id) ON CONFLICT DO NOTHING;
    RETURN 'ok';
END
$$;
