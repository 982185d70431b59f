//! Stores the scan results of modules in the database, which all servers of an installation share.
//! A module that one server has scanned need not be scanned by the other servers or after a
//! restart.
//!
//! Servers may have different files at the same path, so each version of a module has its own
//! result.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use sqlx::{AnyConnection, Row as _};

use super::helper::ScanResult;
use crate::clock;
use crate::db::Db;

/// Version (see `version.rs`) and scan result of a module.
pub(super) type VersionedResult = (String, ScanResult);

/// Maximum number of versions of a module whose results are kept. Older versions are removed.
pub(super) const VERSIONS_MAX: usize = 8;

/// Id of the only row of `plugin_scan_revision`.
const REVISION_ID: i64 = 1;

/// A change of the scan results.
#[derive(Debug)]
pub(super) enum ResultChange {
    /// The module at this path was scanned.
    Scanned(PathBuf, VersionedResult),
    /// The module at this path, which had this version, was deleted from the disk.
    Deleted(PathBuf, String),
}

/// Returns the revision of the stored results. It increases with each call of [`store_changes`].
pub(super) async fn revision(db: &Db) -> Result<i64, sqlx::Error> {
    let revision = sqlx::query_scalar("SELECT revision FROM plugin_scan_revision WHERE id = $1")
        .bind(REVISION_ID)
        .fetch_optional(db)
        .await?;
    Ok(revision.unwrap_or(0))
}

/// Stores changes of the results, all or none, and makes all servers read the results again. Returns
/// the new revision.
pub(super) async fn store_changes(db: &Db, changes: &[ResultChange]) -> Result<i64, sqlx::Error> {
    let mut transaction = db.begin().await?;
    // The first statement locks the revision, so that two servers store their changes one after the
    // other.
    let revision = sqlx::query_scalar(
        "INSERT INTO plugin_scan_revision (id, revision) VALUES ($1, 1) \
         ON CONFLICT (id) DO UPDATE SET revision = plugin_scan_revision.revision + 1 RETURNING revision",
    )
    .bind(REVISION_ID)
    .fetch_one(&mut *transaction)
    .await?;
    for change in changes {
        match change {
            ResultChange::Scanned(path, result) => put(&mut transaction, path, result).await?,
            ResultChange::Deleted(path, version) => remove(&mut transaction, path, version).await?,
        }
    }
    transaction.commit().await?;
    Ok(revision)
}

/// Returns all stored scan results by the path of the module, those of the newest scan last. Skips
/// entries that an older version of the service wrote in another format.
pub(super) async fn stored_results(db: &Db) -> Result<HashMap<PathBuf, Vec<VersionedResult>>, sqlx::Error> {
    let query = "SELECT path, version, contents FROM plugin_modules ORDER BY scanned_at";
    let rows = sqlx::query(query).fetch_all(db).await?;
    let mut results_by_path: HashMap<PathBuf, Vec<VersionedResult>> = HashMap::with_capacity(rows.len());
    for db_row in &rows {
        let (path, version, text): (String, String, String) =
            (db_row.try_get("path")?, db_row.try_get("version")?, db_row.try_get("contents")?);
        if let Ok(result) = serde_json::from_str(&text) {
            results_by_path.entry(PathBuf::from(path)).or_default().push((version, result));
        }
    }
    Ok(results_by_path)
}

/// Stores the scan result of a version of a module. Replaces an older result of this version, and
/// removes the oldest versions above [`VERSIONS_MAX`].
async fn put(
    connection: &mut AnyConnection,
    path: &Path,
    (version, result): &VersionedResult,
) -> Result<(), sqlx::Error> {
    let Some(path_text) = path.to_str() else {
        // A path that is not Unicode is not stored: the module is scanned again after a restart.
        return Ok(());
    };
    let text = serde_json::to_string(result).map_err(|error| sqlx::Error::Encode(error.into()))?;
    remove(connection, path, version).await?;
    sqlx::query(
        "INSERT INTO plugin_modules (id, path, version, contents, scanned_at) VALUES ($1, $2, $3, $4, $5) \
         ON CONFLICT (id) DO UPDATE SET contents = excluded.contents, scanned_at = excluded.scanned_at",
    )
    .bind(format!("{:x}", Sha256::digest(format!("{path_text}\0{version}"))))
    .bind(path_text)
    .bind(version)
    .bind(text)
    .bind(clock::now_text())
    .execute(&mut *connection)
    .await?;
    sqlx::query(
        "DELETE FROM plugin_modules WHERE path = $1 AND id NOT IN \
         (SELECT id FROM plugin_modules WHERE path = $1 ORDER BY scanned_at DESC LIMIT $2)",
    )
    .bind(path_text)
    .bind(VERSIONS_MAX as i64)
    .execute(connection)
    .await?;
    Ok(())
}

/// Removes the scan result of a version of a module.
async fn remove(connection: &mut AnyConnection, path: &Path, version: &str) -> Result<(), sqlx::Error> {
    // Rows of older versions of the service have other ids, so the row is found by its content.
    sqlx::query("DELETE FROM plugin_modules WHERE path = $1 AND version = $2")
        .bind(path.to_string_lossy().into_owned())
        .bind(version)
        .execute(connection)
        .await?;
    Ok(())
}
