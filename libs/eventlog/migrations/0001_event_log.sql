-- The event log of a deployment without Kafka: topics in 64 partitions, kept for ever.
--
-- The offset of an entry comes from the row of its partition's end, which the appending transaction
-- locks. A sequence would not do: numbers are drawn in one order and become visible in another, and
-- a reader that has seen 7 would never ask for 6 again. Here whoever sees an offset sees all before.

CREATE TABLE event_log.partition_end (
    topic       text   NOT NULL,
    partition   int    NOT NULL,
    next_offset bigint NOT NULL,
    PRIMARY KEY (topic, partition)
) WITH (fillfactor = 50); -- updated by every append: room for the next version on the same page

CREATE TABLE event_log.entry (
    topic     text   NOT NULL,
    partition int    NOT NULL,
    "offset"  bigint NOT NULL,
    key       text   NOT NULL,
    value     bytea  NOT NULL,
    headers   jsonb  NOT NULL,
    at_ms     bigint NOT NULL,
    PRIMARY KEY (topic, partition, "offset")
);

CREATE TABLE event_log.group_position (
    group_name  text   NOT NULL,
    topic       text   NOT NULL,
    partition   int    NOT NULL,
    next_offset bigint NOT NULL,
    PRIMARY KEY (group_name, topic, partition)
) WITH (fillfactor = 50);

-- Appends entries in the order of the arrays, and returns the next offset of each partition written.
-- The ends are locked in one order, whatever the order of the entries, so that two appends never
-- wait for each other.
CREATE FUNCTION event_log.append(
    topics text[], partitions int[], keys text[], contents bytea[], headings text[], at_ms bigint
) RETURNS TABLE (topic text, partition int, next_offset bigint)
LANGUAGE sql AS $$
    WITH given AS (
        SELECT * FROM unnest(topics, partitions, keys, contents, headings)
            WITH ORDINALITY AS g (topic, partition, key, value, headers, place)
    ), number AS (
        SELECT topic, partition, count(*) AS entries FROM given GROUP BY topic, partition
    ), ended AS (
        INSERT INTO event_log.partition_end AS e (topic, partition, next_offset)
        SELECT n.topic, n.partition, n.entries FROM number AS n ORDER BY n.topic, n.partition
        ON CONFLICT ON CONSTRAINT partition_end_pkey
            DO UPDATE SET next_offset = e.next_offset + EXCLUDED.next_offset
        RETURNING e.topic, e.partition, e.next_offset
    ), written AS (
        INSERT INTO event_log.entry (topic, partition, "offset", key, value, headers, at_ms)
        SELECT
            g.topic,
            g.partition,
            e.next_offset - n.entries - 1
                + row_number() OVER (PARTITION BY g.topic, g.partition ORDER BY g.place),
            g.key,
            g.value,
            g.headers::jsonb,
            append.at_ms
        FROM given AS g
        JOIN number AS n ON n.topic = g.topic AND n.partition = g.partition
        JOIN ended AS e ON e.topic = g.topic AND e.partition = g.partition
    )
    SELECT e.topic, e.partition, e.next_offset FROM ended AS e
$$;

-- Keeps how far a group has read; a position never goes back. Not waited for on disk, since a lost
-- position costs nothing but entries that are read twice.
CREATE FUNCTION event_log.commit_positions(
    group_name text, topics text[], partitions int[], next_offsets bigint[]
) RETURNS void
LANGUAGE sql AS $$
    SELECT set_config('synchronous_commit', 'off', true);
    INSERT INTO event_log.group_position AS p (group_name, topic, partition, next_offset)
    SELECT commit_positions.group_name, g.topic, g.partition, g.next_offset
    FROM unnest(topics, partitions, next_offsets) AS g (topic, partition, next_offset)
    ORDER BY g.topic, g.partition
    ON CONFLICT ON CONSTRAINT group_position_pkey
        DO UPDATE SET next_offset = EXCLUDED.next_offset
        WHERE p.next_offset < EXCLUDED.next_offset
$$;
