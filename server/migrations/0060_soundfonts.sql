-- SoundFonts that users have uploaded. Their files are stored by content, each once, whoever has it.

CREATE TABLE soundfonts (
    owner_id     TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    soundfont_id TEXT NOT NULL,
    -- `sf2` or `sf3`: what its samples are. A user has at most one file of each under an id.
    format       TEXT NOT NULL,
    sha256       TEXT NOT NULL,
    size_bytes   BIGINT NOT NULL,
    name         TEXT NOT NULL,
    -- As JSON: what can be played, and what is left out.
    presets      TEXT NOT NULL,
    skipped      TEXT NOT NULL,
    uploaded_at  TEXT NOT NULL,
    PRIMARY KEY (owner_id, soundfont_id, format)
);

CREATE INDEX soundfonts_by_content ON soundfonts (sha256);
