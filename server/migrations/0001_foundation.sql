-- Accounts, projects and tasks.
--
-- One text for every database: TEXT, BIGINT and DOUBLE PRECISION only; flags are 0 or 1,
-- times are RFC 3339 in UTC with microseconds, so that they sort as text.

CREATE TABLE users (
    id                   TEXT PRIMARY KEY,
    username             TEXT NOT NULL UNIQUE,
    role                 TEXT NOT NULL,
    password_hash        TEXT,
    must_change_password BIGINT NOT NULL DEFAULT 0,
    disabled             BIGINT NOT NULL DEFAULT 0,
    token_version        BIGINT NOT NULL DEFAULT 1,
    created_at           TEXT NOT NULL
);

-- Failed log-ins by account and address, and by address alone.
CREATE TABLE login_failures (
    subject          TEXT PRIMARY KEY,
    failures         BIGINT NOT NULL,
    last_failed_secs BIGINT NOT NULL
);

CREATE TABLE projects (
    owner_id   TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    project_id TEXT NOT NULL,
    name       TEXT NOT NULL,
    revision   BIGINT NOT NULL,
    size_bytes BIGINT NOT NULL,
    updated_at TEXT NOT NULL,
    PRIMARY KEY (owner_id, project_id)
);

CREATE INDEX projects_by_time ON projects (owner_id, updated_at DESC, project_id);

CREATE TABLE project_revisions (
    owner_id   TEXT NOT NULL,
    project_id TEXT NOT NULL,
    revision   BIGINT NOT NULL,
    size_bytes BIGINT NOT NULL,
    updated_at TEXT NOT NULL,
    body       TEXT NOT NULL,
    PRIMARY KEY (owner_id, project_id, revision),
    FOREIGN KEY (owner_id, project_id) REFERENCES projects (owner_id, project_id) ON DELETE CASCADE
);

CREATE TABLE temp_autosaves (
    owner_id   TEXT PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    client_id  TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    body       TEXT NOT NULL
);

-- What was put in place on a first start, so that deleting it does not bring it back.
CREATE TABLE seeds (
    name      TEXT PRIMARY KEY,
    seeded_at TEXT NOT NULL
);

CREATE TABLE tasks (
    id          TEXT PRIMARY KEY,
    owner_id    TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    kind        TEXT NOT NULL,
    state       TEXT NOT NULL,
    progress    DOUBLE PRECISION NOT NULL DEFAULT 0,
    message     TEXT NOT NULL DEFAULT '',
    created_at  TEXT NOT NULL,
    started_at  TEXT,
    finished_at TEXT,
    result      TEXT,
    error       TEXT
);

CREATE INDEX tasks_by_owner ON tasks (owner_id, created_at DESC, id);
