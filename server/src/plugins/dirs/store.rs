//! Plugin folders in the database.

use sqlx::Row as _;

use crate::clock;
use crate::db::{Db, begin_locked};

/// Returns a user's folders in the order in which they were added.
pub(in crate::plugins) async fn of_user(db: &Db, owner_id: &str) -> Result<Vec<String>, sqlx::Error> {
    let rows = sqlx::query("SELECT path FROM plugin_dirs WHERE owner_id = $1 ORDER BY added_at, path")
        .bind(owner_id)
        .fetch_all(db)
        .await?;
    rows.iter().map(|db_row| db_row.try_get("path")).collect()
}

/// Returns the folders of all users, each only once, in the order in which they were first added.
pub(in crate::plugins) async fn of_all(db: &Db) -> Result<Vec<String>, sqlx::Error> {
    let rows = sqlx::query("SELECT path FROM plugin_dirs GROUP BY path ORDER BY MIN(added_at), path")
        .fetch_all(db)
        .await?;
    rows.iter().map(|db_row| db_row.try_get("path")).collect()
}

/// Adds a folder. Returns false if the user would have more than `max` folders. Adding a folder
/// again changes nothing.
pub(super) async fn add(db: &Db, owner_id: &str, path: &str, max: i64) -> Result<bool, sqlx::Error> {
    // The lock keeps concurrent calls from exceeding the limit together.
    let mut transaction = begin_locked(db, &format!("plugin dirs {owner_id}")).await?;
    sqlx::query(
        "INSERT INTO plugin_dirs (owner_id, path, added_at) VALUES ($1, $2, $3) ON CONFLICT (owner_id, path) DO NOTHING",
    )
    .bind(owner_id)
    .bind(path)
    .bind(clock::now_text())
    .execute(&mut *transaction)
    .await?;
    let count: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM plugin_dirs WHERE owner_id = $1")
        .bind(owner_id)
        .fetch_one(&mut *transaction)
        .await?;
    if count > max {
        transaction.rollback().await?;
        return Ok(false);
    }
    transaction.commit().await?;
    Ok(true)
}

/// Removes a folder from the lists of all users. Returns whether it was in one.
pub(super) async fn remove_of_all(db: &Db, path: &str) -> Result<bool, sqlx::Error> {
    let outcome = sqlx::query("DELETE FROM plugin_dirs WHERE path = $1").bind(path).execute(db).await?;
    Ok(outcome.rows_affected() > 0)
}

/// Removes a folder. Returns whether it was in the list.
pub(super) async fn remove(db: &Db, owner_id: &str, path: &str) -> Result<bool, sqlx::Error> {
    let outcome = sqlx::query("DELETE FROM plugin_dirs WHERE owner_id = $1 AND path = $2")
        .bind(owner_id)
        .bind(path)
        .execute(db)
        .await?;
    Ok(outcome.rows_affected() > 0)
}
