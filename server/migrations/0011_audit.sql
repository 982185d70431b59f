-- Who did what, when and from where. Names are copied, so that an entry outlives what it speaks of.

CREATE TABLE audit_log (
    id       TEXT PRIMARY KEY,
    at       TEXT NOT NULL,
    action   TEXT NOT NULL,
    actor_id TEXT,
    actor    TEXT NOT NULL,
    via      TEXT NOT NULL,
    address  TEXT,
    target   TEXT NOT NULL,
    detail   TEXT NOT NULL
);

CREATE INDEX audit_log_by_time ON audit_log (at DESC, id);
