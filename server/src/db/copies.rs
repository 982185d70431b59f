//! A database that is copied while others work with it, and one that is looked through for faults.

use std::path::Path;

use sqlx::Row as _;
use sqlx::any::AnyPoolOptions;

use super::{Db, Kind, kind};

/// Most faults that are spoken of.
const FAULTS_MAX: usize = 100;

/// Copies an SQLite database, as it is at one moment, to a new file.
///
/// # Errors
/// When the database refuses, or the file exists.
pub(crate) async fn copy_sqlite(db: &Db, path: &Path) -> Result<(), sqlx::Error> {
    sqlx::query("VACUUM INTO $1").bind(path.to_string_lossy().into_owned()).execute(db).await?;
    // The statement syncs nothing, and leaves the mode to the system.
    let file = std::fs::File::open(path)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
    }
    file.sync_all()?;
    Ok(())
}

/// Opens such a copy for reading.
///
/// # Errors
/// When it is no database.
pub(crate) async fn open_copy(path: &Path) -> Result<Db, sqlx::Error> {
    AnyPoolOptions::new().max_connections(1).connect(&format!("sqlite:{}?mode=ro", path.display())).await
}

/// What a database finds wrong with itself, in sentences. PostgreSQL looks after itself, and only
/// has to answer.
///
/// # Errors
/// When it does not answer.
pub(crate) async fn faults(db: &Db) -> Result<Vec<String>, sqlx::Error> {
    if kind(db) == Kind::Postgres {
        super::ping(db).await?;
        return Ok(Vec::new());
    }
    let mut faults = Vec::new();
    for row in sqlx::query("PRAGMA integrity_check").fetch_all(db).await? {
        let said: String = row.try_get(0)?;
        if said != "ok" {
            faults.push(format!("the database is damaged: {said}"));
        }
    }
    for row in sqlx::query("PRAGMA foreign_key_check").fetch_all(db).await? {
        let (table, parent): (String, String) = (row.try_get(0)?, row.try_get(2)?);
        faults.push(format!("a row of the table {table} speaks of one of {parent} that is not there"));
    }
    faults.truncate(FAULTS_MAX);
    Ok(faults)
}
