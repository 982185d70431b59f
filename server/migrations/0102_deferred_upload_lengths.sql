-- Uploads of unknown length (the tus extension creation-defer-length), such as recordings: while
-- `is_length_deferred` is 1, `length_bytes` is the largest length that the upload may get.

ALTER TABLE audio_uploads ADD COLUMN is_length_deferred BIGINT NOT NULL DEFAULT 0;
