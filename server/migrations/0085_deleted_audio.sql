-- Audio files that users have deleted. They come back when a project that names them is saved within a day.

CREATE TABLE audio_deleted_files (
    id         TEXT PRIMARY KEY,
    owner_id   TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    sha256     TEXT NOT NULL REFERENCES audio_contents (sha256),
    name       TEXT NOT NULL,
    name_key   TEXT NOT NULL,
    created_at TEXT NOT NULL,
    -- As a JSON array.
    tags       TEXT NOT NULL,
    deleted_ms BIGINT NOT NULL,
    UNIQUE (owner_id, sha256)
);

CREATE INDEX audio_deleted_files_by_content ON audio_deleted_files (sha256);
