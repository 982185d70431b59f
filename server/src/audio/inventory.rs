//! Lists the files that the audio tables refer to.

use super::{ContentKeys, FOLDER, import_task, renditions, resumable, store};
use crate::db::Db;
use crate::error::ApiResult;
use crate::storage::{BlobKey, ExpectedFile, FileKind};

/// Files of stored audio: originals, samples and peaks. Files that wait for a task are not
/// included.
pub(crate) const FILES: FileKind = FileKind { folder: FOLDER, extensions: &super::EXTENSIONS };

/// Uploaded files that wait for their task.
pub(crate) const WAITING: FileKind =
    FileKind { folder: FOLDER, extensions: &[import_task::WAITING_EXTENSION] };

/// Files of unfinished resumable uploads.
pub(crate) const PARTS: FileKind = FileKind { folder: resumable::FOLDER, extensions: &["part"] };

/// Returns the files that the audio tables refer to, except those that wait for a task.
///
/// # Errors
/// If the query fails.
pub(crate) async fn expected(db: &Db) -> ApiResult<Vec<ExpectedFile>> {
    let mut expected = Vec::new();
    for content in store::contents(db).await? {
        let keys = ContentKeys::new(&content.sha256)?;
        expected.push(complete(keys.original, content.size_bytes, content.sha256));
        expected.push(complete(keys.samples, content.samples_bytes, content.samples_sha256));
        expected.push(complete(keys.peaks, content.peaks_bytes, content.peaks_sha256));
    }
    for copy in store::all_renditions(db).await? {
        let key = renditions::key(&copy.sha256, copy.sample_rate_hz)?;
        expected.push(complete(key, copy.size_bytes, copy.file_sha256));
    }
    for (id, offset_bytes) in resumable::part_offsets(db).await? {
        let key = resumable::key(&id)?;
        expected.push(ExpectedFile { key, size_bytes: offset_bytes, is_growing: true, sha256: None });
    }
    Ok(expected)
}

/// Describes a file that is complete. `sha256` is empty if it is unknown.
fn complete(key: BlobKey, size_bytes: u64, sha256: String) -> ExpectedFile {
    ExpectedFile {
        key,
        size_bytes,
        is_growing: false,
        sha256: Some(sha256).filter(|sha256| !sha256.is_empty()),
    }
}
