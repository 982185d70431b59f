//! Lists the files of uploaded SoundFonts that must exist.

use super::store;
use crate::db::Db;
use crate::error::ApiResult;
use crate::storage::ExpectedFile;

/// Returns all files of SoundFonts that the database refers to.
///
/// # Errors
/// The query fails.
pub(crate) async fn list_expected_files(db: &Db) -> ApiResult<Vec<ExpectedFile>> {
    let mut expected_files = Vec::new();
    for (content, format) in store::read_contents(db).await? {
        let blob_key = store::blob_key_of(&content.sha256, format)?;
        let size_bytes = content.size_bytes;
        expected_files.push(ExpectedFile {
            blob_key,
            size_bytes,
            is_growing: false,
            sha256: Some(content.sha256),
        });
    }
    Ok(expected_files)
}
