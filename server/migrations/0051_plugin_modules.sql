-- What was found in modules with plugins, so that those that stay as they are need not be looked into again.

CREATE TABLE plugin_modules (
    -- SHA-256 of the module's path in hexadecimal: paths may be too long for a key.
    id         TEXT PRIMARY KEY,
    path       TEXT NOT NULL,
    -- Changes when the module or the helper that looks into it does.
    version    TEXT NOT NULL,
    -- As JSON.
    contents   TEXT NOT NULL,
    scanned_at TEXT NOT NULL
);
