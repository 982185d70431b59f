-- An autosave for each song of a user, instead of one for each user.
-- The empty `project_id` marks the autosaves of earlier versions. The next start of the service reads the id and the
-- name from the document (`projects/autosaves/earlier.rs`), because the databases share no function that reads JSON.

CREATE TABLE song_autosaves (
    owner_id   TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    project_id TEXT NOT NULL,
    name       TEXT NOT NULL,
    client_id  TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    body       TEXT NOT NULL,
    PRIMARY KEY (owner_id, project_id)
);
INSERT INTO song_autosaves (owner_id, project_id, name, client_id, updated_at, body)
    SELECT owner_id, '', '', client_id, updated_at, body FROM temp_autosaves;
DROP TABLE temp_autosaves;
