-- Ids of SoundFonts whose names have the letter İ ended in a mark (U+0307) after its i, by which they could
-- not be chosen or deleted. The mark goes, unless another SoundFont of the owner has that id then.
UPDATE soundfonts SET soundfont_id = REPLACE(soundfont_id, '̇', '')
WHERE soundfont_id LIKE '%̇%' AND NOT EXISTS (
    SELECT 1 FROM soundfonts AS other
    WHERE other.owner_id = soundfonts.owner_id AND other.format = soundfonts.format
        AND other.soundfont_id <> soundfonts.soundfont_id
        AND REPLACE(other.soundfont_id, '̇', '') = REPLACE(soundfonts.soundfont_id, '̇', '')
);
