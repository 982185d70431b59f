//! Lists the files that the audio tables refer to.

use super::{ContentKeys, FOLDER, import_task, renditions, resumable, store};
use crate::db::Db;
use crate::error::ApiResult;
use crate::storage::{BlobKey, ExpectedFile, FileKind};

/// Files of stored audio: originals, samples and peaks. Files that wait for a task are not
/// included.
pub(crate) const FILE_KIND: FileKind = FileKind { folder: FOLDER, extensions: &super::EXTENSIONS };

/// Uploaded files that wait for their task.
pub(crate) const WAITING_FILE_KIND: FileKind =
    FileKind { folder: FOLDER, extensions: &[import_task::WAITING_EXTENSION] };

/// Files of unfinished resumable uploads.
pub(crate) const PART_FILE_KIND: FileKind = FileKind { folder: resumable::FOLDER, extensions: &["part"] };

/// Returns the files that the audio tables refer to, except those that wait for a task.
///
/// # Errors
/// If the query fails.
pub(crate) async fn list_expected_files(db: &Db) -> ApiResult<Vec<ExpectedFile>> {
    let mut expected_files = Vec::new();
    for content in store::read_contents(db).await? {
        let content_keys = ContentKeys::new(&content.sha256)?;
        expected_files.push(complete(content_keys.original, content.size_bytes, content.sha256));
        expected_files.push(complete(content_keys.samples, content.samples_bytes, content.samples_sha256));
        expected_files.push(complete(content_keys.peaks, content.peaks_bytes, content.peaks_sha256));
    }
    for copy in store::read_all_renditions(db).await? {
        let blob_key = renditions::blob_key_of(&copy.sha256, copy.sample_rate_hz)?;
        expected_files.push(complete(blob_key, copy.size_bytes, copy.file_sha256));
    }
    for (id, offset_bytes) in resumable::read_part_offsets(db).await? {
        let blob_key = resumable::blob_key_of(&id)?;
        expected_files.push(ExpectedFile {
            blob_key,
            size_bytes: offset_bytes,
            is_growing: true,
            sha256: None,
        });
    }
    Ok(expected_files)
}

/// Describes a complete file. `sha256` is empty if it is unknown.
fn complete(blob_key: BlobKey, size_bytes: u64, sha256: String) -> ExpectedFile {
    ExpectedFile {
        blob_key,
        size_bytes,
        is_growing: false,
        sha256: Some(sha256).filter(|sha256| !sha256.is_empty()),
    }
}
