-- Which installation a database belongs to, and since when it has missed no stored file.

-- One row. The stored files carry the same id, so that a database of another installation is noticed.
CREATE TABLE installation (
    only_row BIGINT PRIMARY KEY,
    id       TEXT NOT NULL
);

-- Stored files that no row of this database needs, and when this database first saw that, in milliseconds since 1970.
CREATE TABLE unneeded_files (
    folder        TEXT NOT NULL,
    name          TEXT NOT NULL,
    first_seen_ms BIGINT NOT NULL,
    PRIMARY KEY (folder, name)
);
