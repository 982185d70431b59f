//! Tasks whose attempts are gone, and those that nobody took up.

use sqlx::Row as _;

use super::{bytes, delivery};
use crate::clock;
use crate::db::Db;
use crate::jobs::Delivery;

/// A running task whose attempt shows no sign of life any more.
#[derive(Debug)]
pub(in crate::tasks) struct Lost {
    pub(in crate::tasks) delivery: Delivery,
    /// Number of the attempt.
    pub(in crate::tasks) attempt: i64,
    /// Attempts that failed before.
    pub(in crate::tasks) failures: i64,
    /// Whether the task was to be cancelled.
    pub(in crate::tasks) cancel_requested: bool,
}

/// The running tasks whose attempts show no sign of life any more.
pub(in crate::tasks) async fn lost(db: &Db) -> Result<Vec<Lost>, sqlx::Error> {
    let rows = sqlx::query(
        "SELECT id, owner_id, attempt, failures, cancel_requested FROM tasks \
         WHERE state = 'running' AND alive_until_ms < $1",
    )
    .bind(clock::now_unix_ms())
    .fetch_all(db)
    .await?;
    rows.iter()
        .map(|row| {
            Ok(Lost {
                delivery: delivery(row)?,
                attempt: row.try_get("attempt")?,
                failures: row.try_get("failures")?,
                cancel_requested: row.try_get::<i64, _>("cancel_requested")? != 0,
            })
        })
        .collect()
}

/// Ends a task whose last attempt is lost, with `error` as JSON text. False if the attempt lives
/// after all.
pub(in crate::tasks) async fn fail_lost(
    db: &Db,
    id: &str,
    attempt: i64,
    error: &str,
) -> Result<bool, sqlx::Error> {
    let done = sqlx::query(
        "UPDATE tasks SET state = 'failed', message = '', finished_at = $1, error = $2, failures = failures + 1, \
         input = 'null', stored_bytes = $3 \
         WHERE id = $4 AND attempt = $5 AND state = 'running' AND alive_until_ms < $6",
    )
    .bind(clock::now_text())
    .bind(error)
    .bind(bytes(error))
    .bind(id)
    .bind(attempt)
    .bind(clock::now_unix_ms())
    .execute(db)
    .await?;
    Ok(done.rows_affected() > 0)
}

/// Lets a task wait again whose attempt is lost. False if the attempt lives after all, or the task
/// was to be cancelled.
pub(in crate::tasks) async fn put_back_lost(db: &Db, id: &str, attempt: i64) -> Result<bool, sqlx::Error> {
    let now_ms = clock::now_unix_ms();
    let state: Option<String> =
        sqlx::query_scalar(let_go!("id = $4 AND attempt = $5 AND alive_until_ms < $6 RETURNING state"))
            .bind(clock::now_text())
            .bind(now_ms)
            .bind(1_i64)
            .bind(id)
            .bind(attempt)
            .bind(now_ms)
            .fetch_optional(db)
            .await?;
    Ok(state.as_deref() == Some("queued"))
}

/// Tasks that have been due for `for_ms` and that no worker took up: their offers may be lost. Each
/// is returned once in that time.
pub(in crate::tasks) async fn overdue(db: &Db, for_ms: i64) -> Result<Vec<Delivery>, sqlx::Error> {
    let now_ms = clock::now_unix_ms();
    let count: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM tasks WHERE state = 'queued' AND due_ms < $1")
        .bind(now_ms - for_ms)
        .fetch_one(db)
        .await?;
    if count == 0 {
        return Ok(Vec::new());
    }
    let rows = sqlx::query(
        "UPDATE tasks SET due_ms = $1 WHERE state = 'queued' AND due_ms < $2 RETURNING id, owner_id",
    )
    .bind(now_ms)
    .bind(now_ms - for_ms)
    .fetch_all(db)
    .await?;
    rows.iter().map(delivery).collect()
}
