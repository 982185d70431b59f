//! All stored files of all slices: their kinds, and those that the database names.

use crate::db::Db;
use crate::error::ApiResult;
use crate::exports::{STEM_FILES, render_files};
use crate::storage::{BlobKey, Expected, FileKind};
use crate::{audio, soundfonts};

/// Every kind of stored file that is worth keeping; the others can be made again.
pub(crate) const KINDS: [FileKind; 6] =
    [audio::FILES, audio::WAITING, audio::PARTS, soundfonts::FILES, render_files::FILES, STEM_FILES];

/// Kinds that the database does not name.
pub(crate) const UNLISTED: [FileKind; 2] = [render_files::FILES, STEM_FILES];

/// Every stored file that the database names.
///
/// # Errors
/// When the database refuses.
pub(crate) async fn expected(db: &Db) -> ApiResult<Vec<Expected>> {
    let mut expected = audio::expected(db).await?;
    expected.extend(soundfonts::expected(db).await?);
    Ok(expected)
}

/// The key of a stored file from its place in a backup.
pub(crate) fn key_of(folder: &str, file_name: &str) -> Option<BlobKey> {
    KINDS.iter().filter(|kind| kind.folder == folder).find_map(|kind| kind.key(file_name))
}
