-- Where a resumable upload stands: `receiving`, then `decoding`, at last `done` or `refused`.

ALTER TABLE audio_uploads ADD COLUMN state TEXT NOT NULL DEFAULT 'receiving';
