//! Backups: everything that is stored, in one folder, made while the service runs.
//!
//! ```text
//! backup.json            what is in it; written last, so a folder without it is no backup
//! songfoundry.db         the database: an SQLite file,
//! songfoundry.dump       or what PostgreSQL's own pg_dump wrote
//! token-signing.key      so that log-ins go on
//! blobs/<kind>/<file>    audio, uploads under way, SoundFonts of users, renders, stems
//! soundfonts/...         the SoundFonts in the storage folder
//! ```
//!
//! The database is copied first, as it is at one moment, and then every file that the copy speaks
//! of. A file that somebody deletes in between is missed: then the database is copied again. Files
//! never change, so those that were copied before are good. With PostgreSQL that moment is a
//! snapshot, which `pg_dump` and the list of files share.

pub(crate) mod check;
mod files;
mod make;
mod manifest;
mod restore;

pub(crate) use make::make;
pub(crate) use restore::restore;

use crate::audio;
use crate::blobs::{BlobKey, Expected, FileKind};
use crate::db::{Db, Kind};
use crate::error::ApiResult;
use crate::multitrack::STEM_FILES;
use crate::plugins::{renders, soundfonts};

/// Name of the database's copy.
fn database_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Sqlite => "songfoundry.db",
        Kind::Postgres => "songfoundry.dump",
    }
}

/// Name of the signing key, here and in the storage folder.
const SIGNING_KEY: &str = "token-signing.key";

/// Folder of the system's SoundFonts, here and in the storage folder.
const SOUNDFONTS: &str = "soundfonts";

/// Folder of the stored files.
const BLOBS: &str = "blobs";

/// Every kind of stored file that is worth keeping; the others can be made again.
pub(crate) const KINDS: [FileKind; 6] =
    [audio::FILES, audio::WAITING, audio::PARTS, soundfonts::FILES, renders::FILES, STEM_FILES];

/// Kinds of which the database does not speak.
const UNLISTED: [FileKind; 2] = [renders::FILES, STEM_FILES];

/// Every stored file that the database speaks of.
pub(crate) async fn expected(db: &Db) -> ApiResult<Vec<Expected>> {
    let mut expected = audio::expected(db).await?;
    expected.extend(soundfonts::expected(db).await?);
    Ok(expected)
}

/// The key of a stored file from its place in a backup.
pub(crate) fn key_of(folder: &str, file_name: &str) -> Option<BlobKey> {
    KINDS.iter().filter(|kind| kind.folder == folder).find_map(|kind| kind.key(file_name))
}

#[cfg(test)]
mod tests;
