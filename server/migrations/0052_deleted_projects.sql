-- How far projects had come when they were deleted: one that is made under the same id later goes on counting, so that no
-- revision ever stands for two documents.

CREATE TABLE deleted_projects (
    owner_id   TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    project_id TEXT NOT NULL,
    revision   BIGINT NOT NULL,
    PRIMARY KEY (owner_id, project_id)
);
