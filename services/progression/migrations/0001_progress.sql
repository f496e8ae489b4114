-- What people have earned, and how far the matches have been read (write protocol, "Readers").

-- How far each match has been read (R1). It stays when the match is over: whatever comes again is
-- then known, and not asked for anew. A record with no effect moves it later than it was read.
CREATE TABLE progression.match_position (
    match_id  uuid   PRIMARY KEY,
    last_seq  bigint NOT NULL CHECK (last_seq >= 0),
    last_hash bytea  NOT NULL CHECK (octet_length(last_hash) = 32)
) WITH (fillfactor = 50); -- updated all the time: room for the next version on the same page

-- What must be known of a match when it ends. The row goes then.
CREATE TABLE progression.open_match (
    match_id  uuid       PRIMARY KEY,
    rule_set  text       NOT NULL,
    players   text[]     NOT NULL, -- by seat, empty for a bot
    seats_out smallint[] NOT NULL
);

-- Where each player stands: the fold of their events. The seed of the next card is a secret, and so
-- it is sealed under a key that does not lie here.
CREATE TABLE progression.profile (
    player_id   uuid   PRIMARY KEY,
    sequence    bigint NOT NULL DEFAULT 0,
    experience  bigint NOT NULL DEFAULT 0,
    card_count  int    NOT NULL DEFAULT 0,
    key_id      text   NOT NULL DEFAULT '',
    sealed_seed bytea  NOT NULL DEFAULT ''
);

-- What happened to each player, never changed and never deleted.
CREATE TABLE progression.player_event (
    player_id uuid   NOT NULL,
    sequence  bigint NOT NULL CHECK (sequence > 0),
    bytes     bytea  NOT NULL, -- an opolyx.progression.v1.ProgressionEvent
    PRIMARY KEY (player_id, sequence)
);

-- Which of the events the event log does not have yet.
CREATE TABLE progression.outbox (
    player_id uuid   NOT NULL,
    sequence  bigint NOT NULL,
    PRIMARY KEY (player_id, sequence)
);

-- Each reward that was granted: its key is what makes it happen once (XP-6), however often, and by
-- however many readers at once, the end of its match is read.
CREATE TABLE progression.reward (
    reward_key text     PRIMARY KEY,
    player_id  uuid     NOT NULL,
    sequence   bigint   NOT NULL, -- of its event
    match_id   uuid     NOT NULL,
    seat       smallint NOT NULL,
    experience int      NOT NULL,
    granted_ms bigint   NOT NULL
);
CREATE UNIQUE INDEX reward_of_player ON progression.reward (player_id, sequence);

-- The collection cards, in the order in which they are listed.
CREATE TABLE progression.card (
    player_id  uuid     NOT NULL,
    square     smallint NOT NULL,
    rarity     smallint NOT NULL, -- the number of opolyx.record.v1.CollectionCard.Rarity
    sequence   bigint   NOT NULL, -- of its event
    reward_key text     NOT NULL REFERENCES progression.reward,
    match_id   uuid     NOT NULL,
    dropped_ms bigint   NOT NULL
);
CREATE UNIQUE INDEX card_listed ON progression.card (player_id, square, rarity DESC, sequence);
CREATE INDEX card_of_reward ON progression.card (reward_key);
