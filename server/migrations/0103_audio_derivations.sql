-- Processed copies of audio. `recipe` is the SHA-256 of the source's hash, the operations and the version of the code,
-- so that the same operations on the same audio are processed once.
CREATE TABLE audio_derivations (
    recipe TEXT PRIMARY KEY,
    sha256 TEXT NOT NULL REFERENCES audio_contents (sha256) ON DELETE CASCADE
);

CREATE INDEX audio_derivations_by_content ON audio_derivations (sha256);
