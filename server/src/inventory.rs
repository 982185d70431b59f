//! Lists the kinds of stored files of all slices, and the files that the database refers to.

use crate::db::Db;
use crate::error::ApiResult;
use crate::exports::{STEM_FILES, render_files};
use crate::storage::{BlobKey, ExpectedFile, FileKind};
use crate::{audio, soundfonts};

/// Every kind of stored file that must be kept. Files of other kinds can be made again.
pub(crate) const KINDS: [FileKind; 6] = [
    audio::FILE_KIND,
    audio::WAITING_FILE_KIND,
    audio::PART_FILE_KIND,
    soundfonts::FILE_KIND,
    render_files::FILES,
    STEM_FILES,
];

/// Kinds of files that the database does not list.
pub(crate) const UNLISTED: [FileKind; 2] = [render_files::FILES, STEM_FILES];

/// Returns every stored file that the database refers to.
///
/// # Errors
/// If a query fails.
pub(crate) async fn list_expected_files(db: &Db) -> ApiResult<Vec<ExpectedFile>> {
    let mut expected_files = audio::list_expected_files(db).await?;
    expected_files.extend(soundfonts::list_expected_files(db).await?);
    Ok(expected_files)
}

/// Returns the key of a stored file from its folder and name in a backup, or `None` for an unknown
/// kind of file.
pub(crate) fn key_of(folder: &str, file_name: &str) -> Option<BlobKey> {
    KINDS.iter().filter(|kind| kind.folder == folder).find_map(|kind| kind.key(file_name))
}
