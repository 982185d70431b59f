//! Measures the size of tasks in the database, and removes old tasks.

use sqlx::Row as _;

use crate::db::Db;

/// Returns the total size of the inputs and results of a user's tasks, in bytes.
pub(crate) async fn stored_bytes(
    connection: &mut sqlx::AnyConnection,
    owner_id: &str,
) -> Result<u64, sqlx::Error> {
    let byte_count: i64 = sqlx::query_scalar(
        "SELECT CAST(COALESCE(SUM(stored_bytes), 0) AS BIGINT) FROM tasks WHERE owner_id = $1",
    )
    .bind(owner_id)
    .fetch_one(connection)
    .await?;
    Ok(u64::try_from(byte_count).unwrap_or_default())
}

/// Returns the total size of the inputs and results of tasks in bytes, by user id.
pub(in crate::tasks) async fn read_stored_bytes_of_all(db: &Db) -> Result<Vec<(String, u64)>, sqlx::Error> {
    let db_rows = sqlx::query(
        "SELECT owner_id, CAST(SUM(stored_bytes) AS BIGINT) AS stored_bytes FROM tasks GROUP BY owner_id",
    )
    .fetch_all(db)
    .await?;
    db_rows
        .iter()
        .map(|db_row| {
            let byte_count: i64 = db_row.try_get("stored_bytes")?;
            Ok((db_row.try_get("owner_id")?, u64::try_from(byte_count).unwrap_or_default()))
        })
        .collect()
}

/// Removes a user's task that has ended.
pub(in crate::tasks) async fn remove_finished(db: &Db, owner_id: &str, id: &str) -> Result<(), sqlx::Error> {
    sqlx::query("DELETE FROM tasks WHERE id = $1 AND owner_id = $2 AND state NOT IN ('queued', 'running')")
        .bind(id)
        .bind(owner_id)
        .execute(db)
        .await?;
    Ok(())
}

/// Removes the tasks that ended before `time`, which has the form of [`crate::clock::now_text`].
/// Returns their number.
pub(in crate::tasks) async fn remove_finished_before(db: &Db, time: &str) -> Result<u64, sqlx::Error> {
    let finished_count: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM tasks WHERE finished_at < $1")
        .bind(time)
        .fetch_one(db)
        .await?;
    if finished_count == 0 {
        return Ok(0);
    }
    let outcome = sqlx::query("DELETE FROM tasks WHERE finished_at < $1").bind(time).execute(db).await?;
    Ok(outcome.rows_affected())
}
