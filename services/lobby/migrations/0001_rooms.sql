-- People, rooms and who sits where. Rooms are event-sourced: `room_record` is what happened, and
-- `room` is what it comes to, so that a room is had by one row and a lock on that row puts all that
-- is done in a room in one order.

-- Which token subject a player id stands for. Nobody else knows: erasing a person is deleting a row.
CREATE TABLE lobby.player (
    player_id    uuid   PRIMARY KEY,
    issuer       text   NOT NULL,
    subject      text   NOT NULL,
    display_name text   NOT NULL,
    created_ms   bigint NOT NULL,
    -- Of concurrent first calls one makes the player, and the others find it.
    CONSTRAINT player_subject UNIQUE (issuer, subject)
);

CREATE TABLE lobby.room (
    room_id   uuid    PRIMARY KEY,
    sequence  bigint  NOT NULL CHECK (sequence > 0),
    state     text    NOT NULL CHECK (state IN ('waiting', 'starting', 'started', 'closed')),
    rule_set  text    NOT NULL,
    is_listed boolean NOT NULL,
    match_id  uuid    UNIQUE,
    -- An opolyx.lobby.v1.Room without names: the records of the room, applied.
    facts     bytea   NOT NULL,
    CHECK ((match_id IS NULL) = (state IN ('waiting', 'closed')))
);
-- The ids are of version 7, so the newest rooms have the greatest.
CREATE INDEX room_waiting ON lobby.room (room_id DESC) WHERE state = 'waiting' AND is_listed;
CREATE INDEX room_starting ON lobby.room (room_id) WHERE state = 'starting';

-- What happened: one row for each accepted command, never changed. `request_hash` tells a repeat from
-- another command under the same id; `record` is an opolyx.lobby.v1.RoomRecord.
CREATE TABLE lobby.room_record (
    room_id      uuid   NOT NULL REFERENCES lobby.room,
    sequence     bigint NOT NULL CHECK (sequence > 0),
    command_id   uuid   NOT NULL,
    actor        text   NOT NULL,
    request_hash bytea  NOT NULL CHECK (octet_length(request_hash) = 32),
    record       bytea  NOT NULL,
    PRIMARY KEY (room_id, sequence),
    CONSTRAINT room_record_command UNIQUE (room_id, command_id)
);
-- Whoever repeats the making of a room does not know the room yet.
CREATE UNIQUE INDEX room_record_creation ON lobby.room_record (actor, command_id) WHERE sequence = 1;

-- One waiting room or unfinished match for each person, everywhere: the key says so (SETUP-2). The
-- row goes when the person gets up, or is out of the match.
CREATE TABLE lobby.occupancy (
    player_id  uuid     PRIMARY KEY,
    room_id    uuid     NOT NULL REFERENCES lobby.room,
    match_id   uuid,
    match_seat smallint,
    CHECK ((match_id IS NULL) = (match_seat IS NULL))
);
CREATE INDEX occupancy_match ON lobby.occupancy (match_id) WHERE match_id IS NOT NULL;

-- Records that are not in the event log yet. Within a room `position` rises in the order of the
-- records, since it is taken under the room's lock; across rooms no order is promised.
CREATE TABLE lobby.outbox (
    position    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    room_id     uuid   NOT NULL,
    sequence    bigint NOT NULL,
    traceparent text   NOT NULL,
    FOREIGN KEY (room_id, sequence) REFERENCES lobby.room_record
);

-- How far the records of each match are read (R1), written with their effects (R2).
CREATE TABLE lobby.followed_match (
    match_id  uuid   PRIMARY KEY,
    last_seq  bigint NOT NULL,
    last_hash bytea  NOT NULL CHECK (octet_length(last_hash) = 32)
);
