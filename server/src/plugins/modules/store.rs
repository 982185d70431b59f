//! Stores the scan results of modules in the database. After a restart the modules need not be
//! scanned again, which saves most time with modules that hang.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use sqlx::Row as _;

use super::helper::ScanResult;
use crate::clock;
use crate::db::Db;

/// Version (see `version.rs`) and scan result of a module.
pub(super) type VersionedResult = (String, ScanResult);

/// Returns all stored scan results by the path of the module. Skips entries that an older version
/// of the service wrote in another format.
pub(super) async fn stored_results(db: &Db) -> Result<HashMap<PathBuf, VersionedResult>, sqlx::Error> {
    let rows = sqlx::query("SELECT path, version, contents FROM plugin_modules").fetch_all(db).await?;
    let mut stored = HashMap::with_capacity(rows.len());
    for row in &rows {
        let (path, version, text): (String, String, String) =
            (row.try_get("path")?, row.try_get("version")?, row.try_get("contents")?);
        if let Ok(result) = serde_json::from_str(&text) {
            stored.insert(PathBuf::from(path), (version, result));
        }
    }
    Ok(stored)
}

/// Stores the scan result of a module. Replaces an older result.
pub(super) async fn put(
    db: &Db,
    path: &Path,
    (version, result): &VersionedResult,
) -> Result<(), sqlx::Error> {
    let Some(path) = path.to_str() else {
        // A path that is not Unicode is not stored: the module is scanned again after a restart.
        return Ok(());
    };
    let text = serde_json::to_string(result).map_err(|error| sqlx::Error::Encode(error.into()))?;
    sqlx::query(
        "INSERT INTO plugin_modules (id, path, version, contents, scanned_at) VALUES ($1, $2, $3, $4, $5) \
         ON CONFLICT (id) DO UPDATE SET version = excluded.version, contents = excluded.contents, \
         scanned_at = excluded.scanned_at",
    )
    .bind(format!("{:x}", Sha256::digest(path)))
    .bind(path)
    .bind(version)
    .bind(text)
    .bind(clock::now_text())
    .execute(db)
    .await?;
    Ok(())
}

/// Removes the scan result of a deleted module.
pub(super) async fn remove(db: &Db, path: &Path) -> Result<(), sqlx::Error> {
    sqlx::query("DELETE FROM plugin_modules WHERE id = $1")
        .bind(format!("{:x}", Sha256::digest(path.to_string_lossy().as_bytes())))
        .execute(db)
        .await?;
    Ok(())
}
