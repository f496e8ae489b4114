-- Which transaction changed a room last. Whoever follows all rooms asks for those that were changed by
-- a transaction that had not ended when it asked before, and so misses none, however long one takes to
-- commit; a number that is counted up, or a time, would be seen out of order. A trigger, so that a
-- process of the release before, which does not know of it, is followed too.
ALTER TABLE lobby.room ADD COLUMN changed_by xid8 NOT NULL DEFAULT pg_current_xact_id();
CREATE INDEX room_changed ON lobby.room (changed_by);

CREATE FUNCTION lobby.note_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.changed_by := pg_current_xact_id();
    RETURN NEW;
END
$$;
CREATE TRIGGER room_changes BEFORE INSERT OR UPDATE ON lobby.room
    FOR EACH ROW EXECUTE FUNCTION lobby.note_change();
