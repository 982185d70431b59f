-- What single users have set; what is not here has its default.

CREATE TABLE user_settings (
    owner_id   TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    key        TEXT NOT NULL,
    -- As JSON.
    value      TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    PRIMARY KEY (owner_id, key)
);
