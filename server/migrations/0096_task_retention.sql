-- What tasks store is known and bounded, and goes when it is not needed any more.

-- Bytes of the input while a task waits or runs, of its result and error afterwards.
ALTER TABLE tasks ADD COLUMN stored_bytes BIGINT NOT NULL DEFAULT 0;

UPDATE tasks SET input = 'null' WHERE state NOT IN ('queued', 'running');
UPDATE tasks SET stored_bytes = CASE WHEN state IN ('queued', 'running') THEN octet_length(input)
    ELSE COALESCE(octet_length(result), 0) + COALESCE(octet_length(error), 0) END;

-- For the upkeep, which looks each second.
CREATE INDEX tasks_running ON tasks (alive_until_ms) WHERE state = 'running';
CREATE INDEX tasks_queued ON tasks (due_ms) WHERE state = 'queued';
CREATE INDEX tasks_finished ON tasks (finished_at);
