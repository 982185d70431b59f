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

use crate::db::Kind;

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

#[cfg(test)]
mod tests;
