-- The servers of an installation share the scan results of plugin modules. The revision of the only row increases with
-- each explicit scan and each new result, so that the other servers read the results again.

CREATE TABLE plugin_scan_revision (
    id       BIGINT PRIMARY KEY,
    revision BIGINT NOT NULL
);
