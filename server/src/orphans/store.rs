//! Records of stored files that no row needs. Each record has the time since which no row has
//! needed the file.

use std::collections::{HashMap, HashSet};

use sqlx::Row as _;

use crate::clock;
use crate::db::Db;

/// A stored file that no row needs.
#[derive(Debug, Clone, Copy)]
pub(super) struct UnneededFile<'f> {
    pub(super) folder: &'f str,
    pub(super) name: &'f str,
    /// Time when the file was stored, in milliseconds since 1970.
    pub(super) stored_ms: i64,
}

/// Records the files that are not needed now, and deletes all other records. Returns the folder and
/// name of each file that has not been needed since `due_ms`; their records stay until
/// [`delete_record`]. A file that was stored again after it was recorded counts as new.
pub(super) async fn record_unneeded(
    db: &Db,
    unneeded_files: &[UnneededFile<'_>],
    now_ms: i64,
    due_ms: i64,
) -> Result<HashSet<(String, String)>, sqlx::Error> {
    let file_rows =
        sqlx::query("SELECT folder, name, first_seen_ms FROM unneeded_files").fetch_all(db).await?;
    let mut recorded_files: HashMap<(String, String), i64> = HashMap::with_capacity(file_rows.len());
    for db_row in &file_rows {
        recorded_files
            .insert((db_row.try_get("folder")?, db_row.try_get("name")?), db_row.try_get("first_seen_ms")?);
    }
    let mut due_names = HashSet::new();
    let mut transaction = db.begin().await?;
    for file in unneeded_files {
        let file_key = (file.folder.to_owned(), file.name.to_owned());
        let first_seen_ms =
            match recorded_files.remove(&file_key).filter(|first_seen_ms| *first_seen_ms >= file.stored_ms) {
                Some(first_seen_ms) => first_seen_ms,
                None => {
                    sqlx::query(
                        "INSERT INTO unneeded_files (folder, name, first_seen_ms) VALUES ($1, $2, $3) \
                     ON CONFLICT (folder, name) DO UPDATE SET first_seen_ms = excluded.first_seen_ms",
                    )
                    .bind(file.folder)
                    .bind(file.name)
                    .bind(now_ms)
                    .execute(&mut *transaction)
                    .await?;
                    now_ms
                }
            };
        if first_seen_ms <= due_ms {
            due_names.insert(file_key);
        }
    }
    for needed_file in recorded_files.into_keys() {
        delete_record(&mut *transaction, &needed_file).await?;
    }
    transaction.commit().await?;
    Ok(due_names)
}

/// Deletes the record of an unneeded file, by its folder and name.
pub(super) async fn delete_record<'c>(
    database: impl sqlx::Executor<'c, Database = sqlx::Any>,
    file: &(String, String),
) -> Result<(), sqlx::Error> {
    sqlx::query("DELETE FROM unneeded_files WHERE folder = $1 AND name = $2")
        .bind(&file.0)
        .bind(&file.1)
        .execute(database)
        .await?;
    Ok(())
}

/// Converts a system time to milliseconds since 1970.
pub(super) fn unix_ms(time: std::time::SystemTime) -> i64 {
    let since = time.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(clock::now_unix_ms())
}
