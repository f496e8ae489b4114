-- Who played which match, and how it went for them: written with the start of the match, in its room's
-- transaction, and completed with what the match's records tell (R1, R2). People are in it by id
-- alone: of somebody who was erased it names nobody. Match ids are of version 7, so the latest matches
-- have the greatest, and the key has a person's matches in that order.
CREATE TABLE lobby.player_match (
    player_id  uuid     NOT NULL,
    match_id   uuid     NOT NULL,
    room_id    uuid     NOT NULL REFERENCES lobby.room,
    seat       smallint NOT NULL,
    outcome    text     NOT NULL CHECK (outcome IN ('playing', 'lost', 'won', 'aborted')),
    place      smallint CHECK (place > 0),
    started_ms bigint   NOT NULL,
    ended_ms   bigint,
    PRIMARY KEY (player_id, match_id),
    CHECK ((ended_ms IS NULL) = (outcome = 'playing'))
);
CREATE INDEX player_match_match ON lobby.player_match (match_id);

-- Whoever plays at this moment has had no row written; when it began, the id of the match says.
INSERT INTO lobby.player_match (player_id, match_id, room_id, seat, outcome, started_ms)
SELECT player_id, match_id, room_id, match_seat, 'playing',
       ('x' || left(replace(match_id::text, '-', ''), 12))::bit(48)::bigint
FROM lobby.occupancy WHERE match_id IS NOT NULL;
