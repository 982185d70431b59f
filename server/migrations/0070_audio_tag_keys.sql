-- Tags by what they are found by: in lower case. Older ones whose letters the database knows are found at once, the
-- others when they are set again.
ALTER TABLE audio_tags ADD COLUMN tag_key TEXT NOT NULL DEFAULT '';
UPDATE audio_tags SET tag_key = LOWER(tag);
CREATE INDEX audio_tags_by_key ON audio_tags (file_id, tag_key);
