-- SHA-256 of what was made from audio files, so that a check finds damage. Empty: not known.
ALTER TABLE audio_contents ADD COLUMN samples_sha256 TEXT NOT NULL DEFAULT '';
ALTER TABLE audio_contents ADD COLUMN peaks_sha256 TEXT NOT NULL DEFAULT '';
ALTER TABLE audio_renditions ADD COLUMN file_sha256 TEXT NOT NULL DEFAULT '';
