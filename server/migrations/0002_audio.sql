-- Audio files of users, what they hold, and uploads on their way.

-- A content is stored once, whoever owns files with it. `samples` is its decoded copy, `peaks` what
-- waveforms are drawn from.
CREATE TABLE audio_contents (
    sha256          TEXT PRIMARY KEY,
    container       TEXT NOT NULL,
    codec           TEXT NOT NULL,
    size_bytes      BIGINT NOT NULL,
    samples_bytes   BIGINT NOT NULL,
    peaks_bytes     BIGINT NOT NULL,
    sample_rate_hz  BIGINT NOT NULL,
    source_channels BIGINT NOT NULL,
    channels        BIGINT NOT NULL,
    frames          BIGINT NOT NULL,
    warnings        TEXT NOT NULL,
    analysis        TEXT
);

-- Decoded copies at other sample rates than the file's own.
CREATE TABLE audio_renditions (
    sha256         TEXT NOT NULL REFERENCES audio_contents (sha256) ON DELETE CASCADE,
    sample_rate_hz BIGINT NOT NULL,
    size_bytes     BIGINT NOT NULL,
    PRIMARY KEY (sha256, sample_rate_hz)
);

CREATE TABLE audio_files (
    id         TEXT PRIMARY KEY,
    owner_id   TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    sha256     TEXT NOT NULL REFERENCES audio_contents (sha256),
    name       TEXT NOT NULL,
    -- The name in lower case, for searching.
    name_key   TEXT NOT NULL,
    created_at TEXT NOT NULL,
    UNIQUE (owner_id, sha256)
);

CREATE INDEX audio_files_by_time ON audio_files (owner_id, created_at DESC, id);
CREATE INDEX audio_files_by_content ON audio_files (sha256);

CREATE TABLE audio_tags (
    file_id TEXT NOT NULL REFERENCES audio_files (id) ON DELETE CASCADE,
    tag     TEXT NOT NULL,
    PRIMARY KEY (file_id, tag)
);

-- Resumable uploads. Times are seconds since 1970.
CREATE TABLE audio_uploads (
    id           TEXT PRIMARY KEY,
    owner_id     TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    name         TEXT NOT NULL,
    metadata     TEXT NOT NULL,
    length_bytes BIGINT NOT NULL,
    offset_bytes BIGINT NOT NULL,
    expires_secs BIGINT NOT NULL,
    task_id      TEXT,
    file_id      TEXT
);

CREATE INDEX audio_uploads_by_owner ON audio_uploads (owner_id);
