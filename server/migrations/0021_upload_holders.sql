-- Which process writes to an upload, and until when that counts, in milliseconds since 1970.

ALTER TABLE audio_uploads ADD COLUMN held_by TEXT NOT NULL DEFAULT '';
ALTER TABLE audio_uploads ADD COLUMN held_until_ms BIGINT NOT NULL DEFAULT 0;
