//! Makes and restores backups, and checks the storage. A backup is a folder with the complete
//! storage. It can be made while the service runs.
//!
//! ```text
//! backup.json            the manifest; written last, so a folder without it is not a backup
//! songfoundry.db         the database: an SQLite file,
//! songfoundry.dump       or the output of PostgreSQL's pg_dump
//! token-signing.key      the key of log-in tokens, so that log-ins stay valid
//! blobs/<kind>/<file>    audio, unfinished uploads, SoundFonts of users, renders, stems
//! soundfonts/...         the SoundFonts in the storage folder
//! ```
//!
//! The database is copied first, in a consistent state, and then all files to which the copy
//! refers. If one of these files was deleted in the meantime, the database is copied again. Files
//! never change, so the copies that were already made stay valid. With PostgreSQL, `pg_dump` and
//! the list of files use the same snapshot.

pub(crate) mod check;
mod files;
mod make;
mod manifest;
mod restore;

pub(crate) use make::make;
pub(crate) use restore::restore;

use crate::db::DatabaseKind;

/// File name of the database copy.
fn database_name(kind: DatabaseKind) -> &'static str {
    match kind {
        DatabaseKind::Sqlite => "songfoundry.db",
        DatabaseKind::Postgres => "songfoundry.dump",
    }
}

/// Name of the signing key, in a backup and in the storage folder.
const SIGNING_KEY: &str = "token-signing.key";

/// Folder of the SoundFonts that all users share, in a backup and in the storage folder.
const SOUNDFONTS_FOLDER: &str = "soundfonts";

/// Folder of the stored files in a backup.
const BLOBS_FOLDER: &str = "blobs";

#[cfg(test)]
mod tests;
