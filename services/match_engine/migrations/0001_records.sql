-- The record of every match: what decides (write protocol, "Data" and "Port").
--
-- An append writes two rows and, when its wake-up bound must move, a third. Everything that others
-- keep about a match (how far it is published, its snapshots, its secret) lies in tables of its own,
-- so that nobody but the match's writer ever touches its head.

-- Where each match stands. Every append is a HOT update, which leaves the index alone and cleans up
-- behind itself: there is no index but the key, since one on any column that an append changes, or a
-- partial one over such a column, would end that; and half of each page is left free, since 16
-- writers at once on one page have used up 30% now and then. A match's records are a thousand times
-- as large.
CREATE TABLE match_engine.match_head (
    match_id       uuid     PRIMARY KEY,
    shard          smallint NOT NULL,
    seq            bigint   NOT NULL CHECK (seq > 0),
    hash           bytea    NOT NULL CHECK (octet_length(hash) = 32),
    -- Raised by one at each load; an append under an older one changes nothing.
    fence          bigint   NOT NULL CHECK (fence > 0),
    status         text     NOT NULL CHECK (status IN ('live', 'frozen', 'ended', 'aborted')),
    -- Of the last record alone (W10).
    head_key_id    text,
    head_signature bytea,
    CHECK ((head_key_id IS NULL) = (head_signature IS NULL))
) WITH (fillfactor = 50);

-- What happened: one row for each accepted command, never changed and never deleted.
CREATE TABLE match_engine.record (
    match_id     uuid   NOT NULL,
    first_seq    bigint NOT NULL,
    last_seq     bigint NOT NULL CHECK (last_seq >= first_seq),
    fence        bigint NOT NULL,
    command_id   uuid   NOT NULL,
    request_hash bytea  NOT NULL,
    bytes        bytea  NOT NULL,
    hash         bytea  NOT NULL,
    at_ms        bigint NOT NULL,
    PRIMARY KEY (match_id, first_seq),
    -- A command is accepted once, for ever. Its reply follows from its row: there is no other table.
    CONSTRAINT record_command UNIQUE (match_id, command_id)
);

-- How far each match is published, written by the publisher alone. The heads that go on, or are not
-- wholly published, are found by its index: their number is that of the live matches, whatever the
-- number of the ended ones.
CREATE TABLE match_engine.match_published (
    match_id uuid     PRIMARY KEY,
    shard    smallint NOT NULL,
    seq      bigint   NOT NULL DEFAULT 0,
    complete boolean  NOT NULL DEFAULT false
);
CREATE INDEX match_published_open ON match_engine.match_published (shard) WHERE NOT complete;

-- A LOWER bound of each match's earliest deadline: whoever wakes too early looks once more. The row
-- goes when nothing is to fall due: the match is over, or frozen.
CREATE TABLE match_engine.match_wake (
    match_id   uuid     PRIMARY KEY,
    shard      smallint NOT NULL,
    wake_at_ms bigint   NOT NULL
);
CREATE INDEX match_wake_due ON match_engine.match_wake (shard, wake_at_ms);

-- A cache of states (W9): any row may be deleted at any time.
CREATE TABLE match_engine.snapshot (
    match_id       uuid    NOT NULL,
    seq            bigint  NOT NULL,
    rule_set       text    NOT NULL,
    schema_version integer NOT NULL,
    state          bytea   NOT NULL,
    state_hash     bytea   NOT NULL,
    PRIMARY KEY (match_id, seq)
);

-- The sealed seeds, under keys that are not in this database.
CREATE TABLE match_engine.match_secret (
    match_id    uuid  PRIMARY KEY,
    key_id      text  NOT NULL,
    sealed_seed bytea NOT NULL
);

-- Matches that do not check out, with what was wrong (W2). Nobody plays them until an operator has
-- looked.
CREATE TABLE match_engine.quarantine (
    match_id uuid        PRIMARY KEY,
    reason   text        NOT NULL,
    at       timestamptz NOT NULL DEFAULT now()
);

-- Which engines live, and which shard each serves: for routing, never for safety. A row stays when
-- its engine stops: the last renewal is where an outage begins.
CREATE TABLE match_engine.engine_lease (
    instance      text   PRIMARY KEY,
    address       text   NOT NULL,
    epoch         bigint NOT NULL,
    renewed_at_ms bigint NOT NULL,
    expires_at_ms bigint NOT NULL
);

CREATE TABLE match_engine.shard_assignment (
    shard    smallint PRIMARY KEY CHECK (shard BETWEEN 0 AND 63),
    instance text     NOT NULL,
    epoch    bigint   NOT NULL
);

-- When nobody served a shard. Deadlines of its matches are moved by as much (T8).
CREATE TABLE match_engine.shard_outage (
    shard   smallint NOT NULL,
    n       bigint   NOT NULL,
    from_ms bigint   NOT NULL,
    to_ms   bigint   NOT NULL,
    PRIMARY KEY (shard, n)
);

-- The database's clock in milliseconds: one clock for all engines (T7).
CREATE FUNCTION match_engine.now_ms() RETURNS bigint
LANGUAGE sql VOLATILE AS $$
    SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint
$$;

-- Begins a match. Every INSERT is a plain one: what exists already is an error, and all is undone.
CREATE FUNCTION match_engine.create_match(
    p_match_id uuid, p_shard smallint, p_last_seq bigint, p_hash bytea, p_fence bigint,
    p_command_id uuid, p_request_hash bytea, p_bytes bytea, p_at_ms bigint,
    p_wake_at_ms bigint, p_key_id text, p_sealed_seed bytea
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
END
$$;

-- Appends a record (W5). The UPDATE decides: it holds the head's row until the commit, so that no
-- other append and no raise of the fence comes between. Where it finds no row, the answer says why.
-- A command id that is in the stream already, though the head is as expected, fails the INSERT and
-- undoes everything; its sender then asks for the reply.
CREATE FUNCTION match_engine.append(
    p_match_id uuid, p_fence bigint, p_expected_seq bigint, p_last_seq bigint, p_hash bytea,
    p_command_id uuid, p_request_hash bytea, p_bytes bytea, p_at_ms bigint,
    p_wake_at_ms bigint, p_status text, p_key_id text, p_signature bytea,
    OUT outcome text, OUT last_seq bigint, OUT hash bytea, OUT request_hash bytea
)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_shard smallint;
    v_fence bigint;
BEGIN
    UPDATE match_engine.match_head
    SET seq = p_last_seq, hash = p_hash, status = p_status,
        head_key_id = p_key_id, head_signature = p_signature
    WHERE match_id = p_match_id AND seq = p_expected_seq AND fence = p_fence
    RETURNING shard INTO v_shard;
    IF FOUND THEN
        INSERT INTO match_engine.record
        VALUES (p_match_id, p_expected_seq + 1, p_last_seq, p_fence, p_command_id, p_request_hash,
                p_bytes, p_hash, p_at_ms);
        PERFORM match_engine.bound_wake(p_match_id, v_shard, p_wake_at_ms, p_at_ms);
        outcome := 'ok';
        RETURN;
    END IF;
    SELECT r.last_seq, r.hash, r.request_hash INTO last_seq, hash, request_hash
    FROM match_engine.record r
    WHERE r.match_id = p_match_id AND r.command_id = p_command_id;
    IF FOUND THEN
        outcome := 'dup';
        RETURN;
    END IF;
    SELECT h.fence INTO v_fence FROM match_engine.match_head h WHERE h.match_id = p_match_id;
    outcome := CASE WHEN v_fence <> p_fence THEN 'fenced' ELSE 'conflict' END;
END
$$;

-- Moves the wake-up bound of a match whose head the caller holds: an earlier deadline lowers it, a
-- later one raises it only once it has passed by the record's time, so that most appends leave it.
CREATE FUNCTION match_engine.bound_wake(
    p_match_id uuid, p_shard smallint, p_wake_at_ms bigint, p_at_ms bigint
) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_bound_ms bigint;
BEGIN
    IF p_wake_at_ms IS NULL THEN
        DELETE FROM match_engine.match_wake WHERE match_id = p_match_id;
        RETURN;
    END IF;
    SELECT wake_at_ms INTO v_bound_ms FROM match_engine.match_wake WHERE match_id = p_match_id;
    IF NOT FOUND THEN
        INSERT INTO match_engine.match_wake VALUES (p_match_id, p_shard, p_wake_at_ms);
    ELSIF p_wake_at_ms < v_bound_ms OR (p_wake_at_ms > v_bound_ms AND v_bound_ms <= p_at_ms) THEN
        UPDATE match_engine.match_wake SET wake_at_ms = p_wake_at_ms WHERE match_id = p_match_id;
    END IF;
END
$$;

-- Sets the bound after a look that found nothing due. The head's row is held meanwhile: to compare
-- it alone would let an append, or a new writer, come between the comparison and the change.
CREATE FUNCTION match_engine.look(
    p_match_id uuid, p_fence bigint, p_seq bigint, p_wake_at_ms bigint
) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    v_head match_engine.match_head;
BEGIN
    SELECT * INTO v_head FROM match_engine.match_head
    WHERE match_id = p_match_id FOR NO KEY UPDATE;
    IF v_head.fence <> p_fence THEN
        RETURN 'fenced';
    ELSIF v_head.seq IS DISTINCT FROM p_seq THEN
        RETURN 'conflict';
    END IF;
    -- By a look's own time every bound has passed.
    PERFORM match_engine.bound_wake(p_match_id, v_head.shard, p_wake_at_ms, 9223372036854775807);
    RETURN 'ok';
END
$$;

-- Makes the caller the match's writer, and tells what it must know besides the records. The UPDATE
-- waits for an append in flight; what is read after it, by statements of their own, is from after
-- that append. No row: no such match.
CREATE FUNCTION match_engine.fence(
    p_match_id uuid, p_schema_version integer,
    OUT seq bigint, OUT hash bytea, OUT fence bigint, OUT status text,
    OUT head_key_id text, OUT head_signature bytea, OUT published_seq bigint,
    OUT wake_at_ms bigint, OUT quarantined text,
    OUT snapshot_seq bigint, OUT rule_set text, OUT state bytea, OUT state_hash bytea
) RETURNS SETOF record
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
    UPDATE match_engine.match_head AS h SET fence = h.fence + 1
    WHERE h.match_id = p_match_id
    RETURNING h.seq, h.hash, h.fence, h.status, h.head_key_id, h.head_signature
    INTO seq, hash, fence, status, head_key_id, head_signature;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    published_seq := (SELECT p.seq FROM match_engine.match_published p
                      WHERE p.match_id = p_match_id);
    wake_at_ms := (SELECT w.wake_at_ms FROM match_engine.match_wake w
                   WHERE w.match_id = p_match_id);
    quarantined := (SELECT q.reason FROM match_engine.quarantine q
                    WHERE q.match_id = p_match_id);
    SELECT s.seq, s.rule_set, s.state, s.state_hash
    INTO snapshot_seq, rule_set, state, state_hash
    FROM match_engine.snapshot s
    WHERE s.match_id = p_match_id AND s.schema_version = p_schema_version
    ORDER BY s.seq DESC LIMIT 1;
    RETURN NEXT;
END
$$;

-- The number of a shard's next outage. Takings of shards run one at a time.
CREATE FUNCTION match_engine.next_outage(p_shard smallint) RETURNS bigint
LANGUAGE sql STABLE AS $$
    SELECT coalesce(max(n), 0) + 1 FROM match_engine.shard_outage WHERE shard = p_shard
$$;
