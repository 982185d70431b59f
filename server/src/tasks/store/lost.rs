//! Tasks whose attempts are gone, and those that nobody took up.

use sqlx::Row as _;

use super::abandoned::{Abandoned, LetGo, let_go};
use super::{bytes, delivery};
use crate::clock;
use crate::db::Db;
use crate::tasks::delivery::Delivery;

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

/// Ends a task whose last attempt is lost, with `error` as JSON text, and says what it leaves to
/// remove; `None` if the attempt lives after all.
pub(in crate::tasks) async fn fail_lost(
    db: &Db,
    with_files: &[&str],
    id: &str,
    attempt: i64,
    error: &str,
) -> Result<Option<Vec<Abandoned>>, sqlx::Error> {
    let mut transaction = db.begin().await?;
    let row = sqlx::query(
        "UPDATE tasks SET state = 'failed', message = '', finished_at = $1, error = $2, failures = failures + 1, \
         stored_bytes = $3 \
         WHERE id = $4 AND attempt = $5 AND state = 'running' AND alive_until_ms < $6 RETURNING id, kind, state",
    )
    .bind(clock::now_text())
    .bind(error)
    .bind(bytes(error))
    .bind(id)
    .bind(attempt)
    .bind(clock::now_unix_ms())
    .fetch_optional(&mut *transaction)
    .await?;
    let is_ended = row.is_some();
    let abandoned = let_go(&mut transaction, with_files, row).await?.abandoned;
    transaction.commit().await?;
    Ok(is_ended.then_some(abandoned))
}

/// Lets a task wait again whose attempt is lost, and says what became of it. Nothing is changed if
/// the attempt lives after all.
pub(in crate::tasks) async fn put_back_lost(
    db: &Db,
    with_files: &[&str],
    id: &str,
    attempt: i64,
) -> Result<LetGo, sqlx::Error> {
    let now_ms = clock::now_unix_ms();
    let mut transaction = db.begin().await?;
    let row =
        sqlx::query(let_go!("id = $4 AND attempt = $5 AND alive_until_ms < $6 RETURNING id, kind, state"))
            .bind(clock::now_text())
            .bind(now_ms)
            .bind(1_i64)
            .bind(id)
            .bind(attempt)
            .bind(now_ms)
            .fetch_optional(&mut *transaction)
            .await?;
    let let_go = let_go(&mut transaction, with_files, row).await?;
    transaction.commit().await?;
    Ok(let_go)
}

/// Follows a clock that was set back: attempts that would show life for longer than two times
/// `alive_ms` do so for `alive_ms`, and tasks that would wait for longer than `wait_ms` are due.
/// Says which those are.
pub(in crate::tasks) async fn follow_clock(
    db: &Db,
    alive_ms: i64,
    wait_ms: i64,
) -> Result<Vec<Delivery>, sqlx::Error> {
    let now_ms = clock::now_unix_ms();
    let (longest_alive_ms, longest_wait_ms) =
        (now_ms.saturating_add(alive_ms.saturating_mul(2)), now_ms.saturating_add(wait_ms));
    let count: i64 = sqlx::query_scalar(
        "SELECT COUNT(*) FROM tasks WHERE (state = 'running' AND alive_until_ms > $1) \
         OR (state = 'queued' AND due_ms > $2)",
    )
    .bind(longest_alive_ms)
    .bind(longest_wait_ms)
    .fetch_one(db)
    .await?;
    if count == 0 {
        return Ok(Vec::new());
    }
    sqlx::query("UPDATE tasks SET alive_until_ms = $1 WHERE state = 'running' AND alive_until_ms > $2")
        .bind(now_ms.saturating_add(alive_ms))
        .bind(longest_alive_ms)
        .execute(db)
        .await?;
    let rows = sqlx::query(
        "UPDATE tasks SET due_ms = $1 WHERE state = 'queued' AND due_ms > $2 RETURNING id, owner_id",
    )
    .bind(now_ms)
    .bind(longest_wait_ms)
    .fetch_all(db)
    .await?;
    rows.iter().map(delivery).collect()
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
