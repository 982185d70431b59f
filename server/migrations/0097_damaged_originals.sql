-- Whether a check found the file as it came missing or damaged: it is taken anew from whoever sends it again.
ALTER TABLE audio_contents ADD COLUMN original_damaged BIGINT NOT NULL DEFAULT 0;
