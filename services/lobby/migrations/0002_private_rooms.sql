-- Rooms that only some may enter, that close by themselves, and whose people play again.

-- What nobody may see (who was kicked) belongs to a room too, so what is kept of it is another
-- message from now on: `stored`, an opolyx.lobby.v1.StoredRoom. `facts` stays for the rooms that the
-- release before has written, and a row has one of the two: a process of that release that still
-- runs finds nothing to read in a room that was changed since, rather than undo what it can't see.
ALTER TABLE lobby.room ADD COLUMN stored bytea;
ALTER TABLE lobby.room ALTER COLUMN facts DROP NOT NULL;
ALTER TABLE lobby.room ADD CONSTRAINT room_form CHECK (num_nonnulls(facts, stored) = 1);

-- When something happened in the room last; those that are there have their time from now on.
ALTER TABLE lobby.room ADD COLUMN changed_ms bigint NOT NULL
    DEFAULT (extract(epoch FROM now()) * 1000)::bigint;

-- When bots fill a room that forms by itself; none for one that people made.
ALTER TABLE lobby.room ADD COLUMN fill_ms bigint;
CREATE INDEX room_idle ON lobby.room (changed_ms) WHERE state = 'waiting' AND fill_ms IS NULL;

-- The room whose people play again in this one. However many ask at once, they wait in one room.
ALTER TABLE lobby.room ADD COLUMN rematch_of uuid;
CREATE UNIQUE INDEX room_rematch_waiting ON lobby.room (rematch_of) WHERE state = 'waiting';
CREATE INDEX room_rematch ON lobby.room (rematch_of) WHERE rematch_of IS NOT NULL;

-- A room whose match can never be made closes, and still says which one that was.
ALTER TABLE lobby.room DROP CONSTRAINT room_check;
ALTER TABLE lobby.room ADD CONSTRAINT room_match CHECK (
    CASE state WHEN 'waiting' THEN match_id IS NULL WHEN 'closed' THEN true
    ELSE match_id IS NOT NULL END
);

-- Invitations: whoever has the code may enter. No record has one, since records are told to others;
-- the same command is the same code.
CREATE TABLE lobby.invite (
    code         text   PRIMARY KEY CHECK (code ~ '^[a-z2-7]{26}$'),
    room_id      uuid   NOT NULL REFERENCES lobby.room,
    command_id   uuid   NOT NULL,
    request_hash bytea  NOT NULL CHECK (octet_length(request_hash) = 32),
    expire_ms    bigint NOT NULL,
    CONSTRAINT invite_command UNIQUE (room_id, command_id)
);
CREATE INDEX invite_expiry ON lobby.invite (expire_ms);

-- Guests whom the owner of a match has not let in yet: written with the record that admits them, so
-- that whatever crashes between the two, they will be.
CREATE TABLE lobby.admission (
    match_id  uuid NOT NULL,
    player_id uuid NOT NULL,
    room_id   uuid NOT NULL REFERENCES lobby.room,
    PRIMARY KEY (match_id, player_id)
);
