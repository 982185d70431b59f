//! Which files of audio must be there.

use super::{ContentKeys, FOLDER, renditions, resumable, store};
use crate::blobs::{Expected, FileKind};
use crate::db::Db;
use crate::error::ApiResult;

/// Files of contents: as they came, samples, peaks. What waits for a task is no part of it.
pub(crate) const FILES: FileKind = FileKind { folder: FOLDER, extensions: &super::EXTENSIONS };

/// Files of uploads under way.
pub(crate) const PARTS: FileKind = FileKind { folder: resumable::FOLDER, extensions: &["part"] };

/// Every file that the database speaks of.
///
/// # Errors
/// When the database refuses.
pub(crate) async fn expected(db: &Db) -> ApiResult<Vec<Expected>> {
    let mut expected = Vec::new();
    for content in store::contents(db).await? {
        let keys = ContentKeys::new(&content.sha256)?;
        let whole = |key, size_bytes| Expected { key, size_bytes, is_growing: false, sha256: None };
        let original = whole(keys.original, content.size_bytes);
        expected.push(Expected { sha256: Some(content.sha256), ..original });
        expected.push(whole(keys.samples, content.samples_bytes));
        expected.push(whole(keys.peaks, content.peaks_bytes));
    }
    for (sha256, rate_hz, size_bytes) in store::all_renditions(db).await? {
        let key = renditions::key(&sha256, rate_hz)?;
        expected.push(Expected { key, size_bytes, is_growing: false, sha256: None });
    }
    for (id, offset_bytes) in resumable::parts(db).await? {
        let key = resumable::key(&id)?;
        expected.push(Expected { key, size_bytes: offset_bytes, is_growing: true, sha256: None });
    }
    Ok(expected)
}
