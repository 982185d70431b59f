-- Tasks as data, so that any process can run them, and the attempt that holds each.

-- What is to be done, as JSON.
ALTER TABLE tasks ADD COLUMN input TEXT NOT NULL DEFAULT 'null';
-- Number of the attempt that holds a running task: it grows and never returns, and only this one may end the task.
ALTER TABLE tasks ADD COLUMN attempt BIGINT NOT NULL DEFAULT 0;
-- Attempts that failed or were lost with their process.
ALTER TABLE tasks ADD COLUMN failures BIGINT NOT NULL DEFAULT 0;
ALTER TABLE tasks ADD COLUMN cancel_requested BIGINT NOT NULL DEFAULT 0;
-- In milliseconds since 1970: when a queued task may be taken up, and until when a running one's attempt counts as alive.
ALTER TABLE tasks ADD COLUMN due_ms BIGINT NOT NULL DEFAULT 0;
ALTER TABLE tasks ADD COLUMN alive_until_ms BIGINT NOT NULL DEFAULT 0;

CREATE INDEX tasks_unfinished ON tasks (owner_id, state) WHERE state IN ('queued', 'running');
