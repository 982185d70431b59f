-- API keys, invitations, ended tokens, and quotas of single users.

ALTER TABLE users ADD COLUMN last_login_at TEXT;

-- Of a key only its SHA-256 is kept; `hint` is its beginning, to tell keys apart.
CREATE TABLE api_keys (
    id           TEXT PRIMARY KEY,
    owner_id     TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    name         TEXT NOT NULL,
    key_sha256   TEXT NOT NULL UNIQUE,
    hint         TEXT NOT NULL,
    created_at   TEXT NOT NULL,
    last_used_at TEXT
);

CREATE INDEX api_keys_by_owner ON api_keys (owner_id, created_at DESC, id);

-- Invitations to register, each good for one account. Of the code only its SHA-256 is kept.
CREATE TABLE invites (
    id          TEXT PRIMARY KEY,
    code_sha256 TEXT NOT NULL UNIQUE,
    role        TEXT NOT NULL,
    note        TEXT NOT NULL,
    created_by  TEXT NOT NULL,
    created_at  TEXT NOT NULL,
    expires_at  TEXT NOT NULL,
    used_at     TEXT,
    used_by     TEXT
);

CREATE INDEX invites_by_time ON invites (created_at DESC, id);

-- Tokens that were ended one by one, until they would have expired anyway.
CREATE TABLE ended_tokens (
    jti          TEXT PRIMARY KEY,
    expires_secs BIGINT NOT NULL
);

-- Users who may store another amount of audio than everybody else.
CREATE TABLE audio_quotas (
    owner_id    TEXT PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    quota_bytes BIGINT NOT NULL
);
