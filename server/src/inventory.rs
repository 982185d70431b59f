//! Stored files of all slices: their kinds, and the files in the database.

use crate::db::Db;
use crate::error::ApiResult;
use crate::exports::{STEM_FILES, render_files};
use crate::storage::{BlobKey, Expected, FileKind};
use crate::{audio, soundfonts};

/// Every kind of stored file that must be kept; others can be made again.
pub(crate) const KINDS: [FileKind; 6] =
    [audio::FILES, audio::WAITING, audio::PARTS, soundfonts::FILES, render_files::FILES, STEM_FILES];

/// Kinds whose files are not in the database.
pub(crate) const UNLISTED: [FileKind; 2] = [render_files::FILES, STEM_FILES];

/// Every stored file in the database.
///
/// # Errors
/// If the database fails.
pub(crate) async fn expected(db: &Db) -> ApiResult<Vec<Expected>> {
    let mut expected = audio::expected(db).await?;
    expected.extend(soundfonts::expected(db).await?);
    Ok(expected)
}

/// The key of a stored file, from its folder and name in a backup.
pub(crate) fn key_of(folder: &str, file_name: &str) -> Option<BlobKey> {
    KINDS.iter().filter(|kind| kind.folder == folder).find_map(|kind| kind.key(file_name))
}
