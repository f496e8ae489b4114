-- What operators ask for, written down before it is done: who, when, about which match, why, and
-- what became of it. An outcome stays empty where an engine ended before it could say so.
CREATE TABLE match_engine.admin_call (
    number      bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    operator_id uuid   NOT NULL,
    method      text   NOT NULL,
    match_id    uuid,
    command_id  uuid,
    reason      text   NOT NULL,
    at_ms       bigint NOT NULL DEFAULT match_engine.now_ms(),
    outcome     text   NOT NULL DEFAULT ''
);
CREATE INDEX admin_call_match ON match_engine.admin_call (match_id, number);
CREATE INDEX admin_call_operator ON match_engine.admin_call (operator_id, number);
