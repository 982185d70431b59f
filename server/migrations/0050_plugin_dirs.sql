-- Folders in which users have plugins.

CREATE TABLE plugin_dirs (
    owner_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    -- As it really is: absolute, without symbolic links.
    path     TEXT NOT NULL,
    added_at TEXT NOT NULL,
    PRIMARY KEY (owner_id, path)
);
