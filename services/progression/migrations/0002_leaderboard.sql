-- Everybody by experience, so that a page of the leaderboard costs what it shows.
--
-- Whoever never finished a match is in no list. How many stand before a page is counted in this
-- index alone, whose entries have all that it takes.
CREATE INDEX profile_ranked ON progression.profile (experience DESC, player_id) WHERE sequence > 0;
