-- Prompt templates of users.

CREATE TABLE ai_presets (
    id           TEXT PRIMARY KEY,
    owner_id     TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    title        TEXT NOT NULL,
    body         TEXT NOT NULL,
    -- One in a line.
    keywords     TEXT NOT NULL,
    -- The keywords in lower case, each between two line ends.
    keywords_key TEXT NOT NULL,
    -- Title, body and keywords in lower case, for searching.
    search_key   TEXT NOT NULL,
    favourite    BIGINT NOT NULL DEFAULT 0,
    created_at   TEXT NOT NULL,
    updated_at   TEXT NOT NULL
);

CREATE INDEX ai_presets_by_time ON ai_presets (owner_id, created_at DESC, id);
