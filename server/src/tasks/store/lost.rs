//! Finds and requeues tasks whose attempts are lost, and due tasks that no worker has claimed.

use sqlx::Row as _;

use super::abandoned::{AbandonedTask, ReleaseOutcome, release_outcome};
use super::{byte_count_of, delivery_from_row};
use crate::clock;
use crate::db::Db;
use crate::tasks::delivery::Delivery;

/// A running task whose attempt no longer sends heartbeats.
#[derive(Debug)]
pub(in crate::tasks) struct LostAttempt {
    pub(in crate::tasks) delivery: Delivery,
    /// Number of the attempt.
    pub(in crate::tasks) attempt: i64,
    /// Number of earlier attempts that failed.
    pub(in crate::tasks) failures: i64,
    /// Whether the cancellation of the task was requested.
    pub(in crate::tasks) is_cancel_requested: bool,
}

/// Returns the running tasks whose attempts no longer send heartbeats.
pub(in crate::tasks) async fn read_lost_attempts(db: &Db) -> Result<Vec<LostAttempt>, sqlx::Error> {
    let db_rows = sqlx::query(
        "SELECT id, owner_id, offer, attempt, failures, cancel_requested FROM tasks \
         WHERE state = 'running' AND alive_until_ms < $1",
    )
    .bind(clock::now_unix_ms())
    .fetch_all(db)
    .await?;
    db_rows
        .iter()
        .map(|db_row| {
            Ok(LostAttempt {
                delivery: delivery_from_row(db_row)?,
                attempt: db_row.try_get("attempt")?,
                failures: db_row.try_get("failures")?,
                is_cancel_requested: db_row.try_get::<i64, _>("cancel_requested")? != 0,
            })
        })
        .collect()
}

/// Ends a task whose last attempt is lost, with `error` as JSON text. Returns the task if it has
/// files to remove, or else an empty list. Returns `None` if the attempt has sent a heartbeat in
/// the meantime.
pub(in crate::tasks) async fn fail_lost(
    db: &Db,
    kinds_with_files: &[&str],
    id: &str,
    attempt: i64,
    error: &str,
) -> Result<Option<Vec<AbandonedTask>>, sqlx::Error> {
    let mut transaction = db.begin().await?;
    let db_row = sqlx::query(
        "UPDATE tasks SET state = 'failed', message = '', finished_at = $1, error = $2, failures = failures + 1, \
         stored_bytes = $3 \
         WHERE id = $4 AND attempt = $5 AND state = 'running' AND alive_until_ms < $6 RETURNING id, kind, state",
    )
    .bind(clock::now_text())
    .bind(error)
    .bind(byte_count_of(error))
    .bind(id)
    .bind(attempt)
    .bind(clock::now_unix_ms())
    .fetch_optional(&mut *transaction)
    .await?;
    let is_ended = db_row.is_some();
    let abandoned_tasks = release_outcome(&mut transaction, kinds_with_files, db_row).await?.abandoned_tasks;
    transaction.commit().await?;
    Ok(is_ended.then_some(abandoned_tasks))
}

/// Requeues a task whose attempt is lost. Changes nothing if the attempt has sent a heartbeat in
/// the meantime.
pub(in crate::tasks) async fn requeue_lost(
    db: &Db,
    kinds_with_files: &[&str],
    id: &str,
    attempt: i64,
) -> Result<ReleaseOutcome, sqlx::Error> {
    let now_ms = clock::now_unix_ms();
    let mut transaction = db.begin().await?;
    let db_row =
        sqlx::query(requeue!("id = $4 AND attempt = $5 AND alive_until_ms < $6 RETURNING id, kind, state"))
            .bind(clock::now_text())
            .bind(now_ms)
            .bind(1_i64)
            .bind(id)
            .bind(attempt)
            .bind(now_ms)
            .fetch_optional(&mut *transaction)
            .await?;
    let outcome = release_outcome(&mut transaction, kinds_with_files, db_row).await?;
    transaction.commit().await?;
    Ok(outcome)
}

/// Adapts leases and due times to a clock that was set back. Leases that end later than twice
/// `lease_ms` from now are cut to `lease_ms`. Tasks that would wait longer than `wait_ms` become
/// due. Returns those tasks.
pub(in crate::tasks) async fn adapt_to_clock(
    db: &Db,
    lease_ms: i64,
    wait_ms: i64,
) -> Result<Vec<Delivery>, sqlx::Error> {
    let now_ms = clock::now_unix_ms();
    let (lease_end_max_ms, due_max_ms) =
        (now_ms.saturating_add(lease_ms.saturating_mul(2)), now_ms.saturating_add(wait_ms));
    let count: i64 = sqlx::query_scalar(
        "SELECT COUNT(*) FROM tasks WHERE (state = 'running' AND alive_until_ms > $1) \
         OR (state = 'queued' AND due_ms > $2)",
    )
    .bind(lease_end_max_ms)
    .bind(due_max_ms)
    .fetch_one(db)
    .await?;
    if count == 0 {
        return Ok(Vec::new());
    }
    sqlx::query("UPDATE tasks SET alive_until_ms = $1 WHERE state = 'running' AND alive_until_ms > $2")
        .bind(now_ms.saturating_add(lease_ms))
        .bind(lease_end_max_ms)
        .execute(db)
        .await?;
    let db_rows = sqlx::query(
        "UPDATE tasks SET due_ms = $1, offer = offer + 1 WHERE state = 'queued' AND due_ms > $2 \
         RETURNING id, owner_id, offer",
    )
    .bind(now_ms)
    .bind(due_max_ms)
    .fetch_all(db)
    .await?;
    db_rows.iter().map(delivery_from_row).collect()
}

/// Returns the tasks that have been due for `for_ms` without being claimed, because their offers
/// may be lost. Each task is returned only once within that time.
pub(in crate::tasks) async fn reset_and_list_overdue(
    db: &Db,
    for_ms: i64,
) -> Result<Vec<Delivery>, sqlx::Error> {
    let now_ms = clock::now_unix_ms();
    let count: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM tasks WHERE state = 'queued' AND due_ms < $1")
        .bind(now_ms - for_ms)
        .fetch_one(db)
        .await?;
    if count == 0 {
        return Ok(Vec::new());
    }
    let db_rows = sqlx::query(
        "UPDATE tasks SET due_ms = $1, offer = offer + 1 WHERE state = 'queued' AND due_ms < $2 \
         RETURNING id, owner_id, offer",
    )
    .bind(now_ms)
    .bind(now_ms - for_ms)
    .fetch_all(db)
    .await?;
    db_rows.iter().map(delivery_from_row).collect()
}
