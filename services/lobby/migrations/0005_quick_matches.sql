-- Quick matches: rooms that form by themselves. A row is here as long as its room waits, written in the
-- room's transaction, so that the oldest one with a free seat is found, and what is to be filled.
CREATE TABLE lobby.quick_room (
    room_id    uuid     PRIMARY KEY REFERENCES lobby.room,
    rule_set   text     NOT NULL,
    seat_count smallint NOT NULL,
    free_seats smallint NOT NULL CHECK (free_seats BETWEEN 0 AND seat_count),
    fill_ms    bigint   NOT NULL
);
-- The ids are of version 7, so the oldest rooms have the least.
CREATE INDEX quick_room_free ON lobby.quick_room (rule_set, seat_count, room_id)
    WHERE free_seats > 0;
CREATE INDEX quick_room_fill ON lobby.quick_room (fill_ms);
CREATE INDEX quick_room_full ON lobby.quick_room (room_id) WHERE free_seats = 0;

-- Whoever repeats a command by which they were seated somewhere does not know the room.
CREATE INDEX room_record_actor ON lobby.room_record (actor, command_id);
