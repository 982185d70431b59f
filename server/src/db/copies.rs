//! Copies a database that is in use, and checks a database for damage.

use std::path::Path;

use sqlx::Row as _;
use sqlx::any::AnyPoolOptions;

use super::{DatabaseKind, Db, kind};

/// Maximum number of faults that are reported.
const FAULTS_MAX: usize = 100;

/// Copies a consistent state of an SQLite database to a new file.
///
/// # Errors
/// If the database refuses, or the file exists.
pub(crate) async fn copy_sqlite(db: &Db, path: &Path) -> Result<(), sqlx::Error> {
    sqlx::query("VACUUM INTO $1").bind(path.to_string_lossy().into_owned()).execute(db).await?;
    // The statement does not sync the file, and does not restrict its permissions.
    let file = std::fs::File::open(path)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
    }
    file.sync_all()?;
    Ok(())
}

/// Opens a copy that [`copy_sqlite`] made, for reading.
///
/// # Errors
/// If the file is not a database.
pub(crate) async fn open_copy(path: &Path) -> Result<Db, sqlx::Error> {
    AnyPoolOptions::new().max_connections(1).connect(&format!("sqlite:{}?mode=ro", path.display())).await
}

/// Returns the faults that SQLite finds in its database, as sentences. With PostgreSQL, only checks
/// that the database answers.
///
/// # Errors
/// If the database does not answer.
pub(crate) async fn find_faults(db: &Db) -> Result<Vec<String>, sqlx::Error> {
    if kind(db) == DatabaseKind::Postgres {
        super::ping(db).await?;
        return Ok(Vec::new());
    }
    let mut faults = Vec::new();
    for db_row in sqlx::query("PRAGMA integrity_check").fetch_all(db).await? {
        let result: String = db_row.try_get(0)?;
        if result != "ok" {
            faults.push(format!("the database is damaged: {result}"));
        }
    }
    for db_row in sqlx::query("PRAGMA foreign_key_check").fetch_all(db).await? {
        let (table, parent): (String, String) = (db_row.try_get(0)?, db_row.try_get(2)?);
        faults.push(format!("a row of the table {table} refers to a missing row of {parent}"));
    }
    faults.truncate(FAULTS_MAX);
    Ok(faults)
}
