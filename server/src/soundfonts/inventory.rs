//! Lists the files of uploaded SoundFonts that must exist.

use super::store;
use crate::db::Db;
use crate::error::ApiResult;
use crate::storage::ExpectedFile;

/// Returns all files of SoundFonts that the database refers to.
///
/// # Errors
/// The query fails.
pub(crate) async fn expected(db: &Db) -> ApiResult<Vec<ExpectedFile>> {
    let mut expected = Vec::new();
    for (content, format) in store::contents(db).await? {
        let key = store::key(&content.sha256, format)?;
        let size_bytes = content.size_bytes;
        expected.push(ExpectedFile { key, size_bytes, is_growing: false, sha256: Some(content.sha256) });
    }
    Ok(expected)
}
