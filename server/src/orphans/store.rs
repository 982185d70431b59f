//! Since when this database has needed no file, in the database.

use std::collections::{HashMap, HashSet};

use sqlx::Row as _;

use crate::clock;
use crate::db::Db;

/// A file that is not needed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unneeded<'f> {
    pub(super) folder: &'f str,
    pub(super) name: &'f str,
    /// When it was stored, in milliseconds since 1970.
    pub(super) stored_ms: i64,
}

/// Notes the files that are not needed now, and forgets all others. Answers, as folder and name,
/// which of them have not been needed since `due_ms`: they stay noted until they are forgotten. A
/// file that was stored again since it was noted counts as new.
pub(super) async fn note(
    db: &Db,
    unneeded: &[Unneeded<'_>],
    now_ms: i64,
    due_ms: i64,
) -> Result<HashSet<(String, String)>, sqlx::Error> {
    let rows = sqlx::query("SELECT folder, name, first_seen_ms FROM unneeded_files").fetch_all(db).await?;
    let mut noted: HashMap<(String, String), i64> = HashMap::with_capacity(rows.len());
    for row in &rows {
        noted.insert((row.try_get("folder")?, row.try_get("name")?), row.try_get("first_seen_ms")?);
    }
    let mut due = HashSet::new();
    let mut transaction = db.begin().await?;
    for one in unneeded {
        let key = (one.folder.to_owned(), one.name.to_owned());
        let first_seen_ms = match noted.remove(&key).filter(|first_seen_ms| *first_seen_ms >= one.stored_ms) {
            Some(first_seen_ms) => first_seen_ms,
            None => {
                sqlx::query(
                    "INSERT INTO unneeded_files (folder, name, first_seen_ms) VALUES ($1, $2, $3) \
                     ON CONFLICT (folder, name) DO UPDATE SET first_seen_ms = excluded.first_seen_ms",
                )
                .bind(one.folder)
                .bind(one.name)
                .bind(now_ms)
                .execute(&mut *transaction)
                .await?;
                now_ms
            }
        };
        if first_seen_ms <= due_ms {
            due.insert(key);
        }
    }
    for needed in noted.into_keys() {
        forget(&mut *transaction, &needed).await?;
    }
    transaction.commit().await?;
    Ok(due)
}

/// Forgets since when a file was not needed, by its folder and name.
pub(super) async fn forget<'c>(
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

/// A moment of the system's clock in milliseconds since 1970.
pub(super) fn unix_ms(time: std::time::SystemTime) -> i64 {
    let since = time.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(clock::now_unix_ms())
}
