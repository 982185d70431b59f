-- Work that one process does for all of them: who does it, and until when that counts, in milliseconds since 1970.

CREATE TABLE leases (
    name     TEXT PRIMARY KEY,
    holder   TEXT NOT NULL,
    until_ms BIGINT NOT NULL
);
