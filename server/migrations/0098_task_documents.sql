-- Inputs and results of tasks have tables of their own. In SQLite, a change of a row writes the whole row, and a column
-- after a long text is read by reading that text. So heartbeats and sums took as long as the inputs were large.

-- What is to be done, as JSON, while a task waits or runs.
CREATE TABLE task_inputs (
    task_id TEXT PRIMARY KEY REFERENCES tasks (id) ON DELETE CASCADE,
    input   TEXT NOT NULL
);

-- What a task that succeeded has made, as JSON.
CREATE TABLE task_results (
    task_id TEXT PRIMARY KEY REFERENCES tasks (id) ON DELETE CASCADE,
    result  TEXT NOT NULL
);

INSERT INTO task_inputs (task_id, input) SELECT id, input FROM tasks WHERE state IN ('queued', 'running');
INSERT INTO task_results (task_id, result) SELECT id, result FROM tasks WHERE result IS NOT NULL;

ALTER TABLE tasks DROP COLUMN input;
ALTER TABLE tasks DROP COLUMN result;
