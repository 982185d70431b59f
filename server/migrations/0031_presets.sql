-- Presets that users have stored. The ones of the factory are part of the program.

CREATE TABLE presets (
    id          TEXT PRIMARY KEY,
    owner_id    TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    kind        TEXT NOT NULL,
    name        TEXT NOT NULL,
    category    TEXT NOT NULL,
    description TEXT NOT NULL,
    -- Name, category and description in lower case, for searching.
    search_key  TEXT NOT NULL,
    -- As JSON.
    content     TEXT NOT NULL,
    created_at  TEXT NOT NULL,
    updated_at  TEXT NOT NULL
);

CREATE INDEX presets_by_time ON presets (owner_id, created_at DESC, id);
