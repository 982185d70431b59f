//! Tasks that end while they wait, because they are cancelled or because an earlier process did not
//! finish them.

use serde_json::Value;
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, Row as _};

use super::{byte_count_of, delete_input};
use crate::clock;
use crate::db::Db;

/// A task that ended without another attempt. Its files must be removed.
#[derive(Debug)]
pub(in crate::tasks) struct AbandonedTask {
    /// Name of the task's kind.
    pub(in crate::tasks) kind: String,
    pub(in crate::tasks) input: Value,
}

/// Requests the cancellation of one unfinished task of a user, or of all without an `id`. Waiting
/// tasks end immediately. Returns the number of requests, and the ended tasks that have files.
pub(in crate::tasks) async fn cancel(
    db: &Db,
    kinds_with_files: &[&str],
    owner_id: &str,
    id: Option<&str>,
) -> Result<(u64, Vec<AbandonedTask>), sqlx::Error> {
    let mut transaction = db.begin().await?;
    let cancelled_rows = sqlx::query(
        "UPDATE tasks SET cancel_requested = 1, \
         finished_at = CASE WHEN state = 'queued' THEN $1 ELSE finished_at END, \
         stored_bytes = CASE WHEN state = 'queued' THEN 0 ELSE stored_bytes END, \
         state = CASE WHEN state = 'queued' THEN 'cancelled' ELSE state END \
         WHERE owner_id = $2 AND (id = $3 OR $3 = '') AND state IN ('queued', 'running') \
         RETURNING id, kind, state",
    )
    .bind(clock::now_text())
    .bind(owner_id)
    .bind(id.unwrap_or_default())
    .fetch_all(&mut *transaction)
    .await?;
    let mut ended_rows = Vec::new();
    for db_row in &cancelled_rows {
        if db_row.try_get::<String, _>("state")? == "cancelled" {
            ended_rows.push(db_row);
        }
    }
    let abandoned_tasks = delete_inputs(&mut transaction, kinds_with_files, ended_rows).await?;
    transaction.commit().await?;
    Ok((cancelled_rows.len() as u64, abandoned_tasks))
}

/// Marks unfinished tasks of an earlier process as failed, with `error` as JSON text. Returns their
/// number. Tasks with files are treated as lost and due instead, so that upkeep requeues them.
pub(in crate::tasks) async fn fail_unfinished(
    db: &Db,
    kinds_with_files: &[&str],
    error: &str,
) -> Result<u64, sqlx::Error> {
    let mut transaction = db.begin().await?;
    // The first statement writes, so that SQLite waits for other writers instead of refusing.
    let unfinished_tasks: Vec<(String, String)> = sqlx::query_as(
        "UPDATE tasks SET state = state WHERE state IN ('queued', 'running') RETURNING id, kind",
    )
    .fetch_all(&mut *transaction)
    .await?;
    let mut failed_tasks = 0;
    for (id, kind) in unfinished_tasks {
        if kinds_with_files.contains(&kind.as_str()) {
            sqlx::query("UPDATE tasks SET alive_until_ms = 0, due_ms = 0 WHERE id = $1")
                .bind(&id)
                .execute(&mut *transaction)
                .await?;
            continue;
        }
        failed_tasks += 1;
        sqlx::query(
            "UPDATE tasks SET state = 'failed', message = '', finished_at = $1, error = $2, stored_bytes = $3 \
             WHERE id = $4",
        )
        .bind(clock::now_text())
        .bind(error)
        .bind(byte_count_of(error))
        .bind(&id)
        .execute(&mut *transaction)
        .await?;
        delete_input(&mut transaction, &id).await?;
    }
    transaction.commit().await?;
    Ok(failed_tasks)
}

/// State of a task after its attempt has released it.
#[derive(Debug, Default)]
pub(in crate::tasks) struct ReleaseOutcome {
    /// Whether the task waits for another attempt.
    pub(in crate::tasks) is_waiting: bool,
    /// The task, if it has ended and its files must be removed. Otherwise empty.
    pub(in crate::tasks) abandoned_tasks: Vec<AbandonedTask>,
}

/// Returns the outcome of a release. `updated_row` is the changed row with id, kind and state, or
/// `None` if no row changed.
pub(super) async fn release_outcome(
    connection: &mut AnyConnection,
    kinds_with_files: &[&str],
    updated_row: Option<AnyRow>,
) -> Result<ReleaseOutcome, sqlx::Error> {
    let Some(db_row) = updated_row else { return Ok(ReleaseOutcome::default()) };
    if db_row.try_get::<String, _>("state")? == "queued" {
        return Ok(ReleaseOutcome { is_waiting: true, abandoned_tasks: Vec::new() });
    }
    Ok(ReleaseOutcome {
        is_waiting: false,
        abandoned_tasks: delete_inputs(connection, kinds_with_files, vec![&db_row]).await?,
    })
}

/// Deletes the inputs of ended tasks. Returns the inputs of those tasks that have files.
async fn delete_inputs(
    connection: &mut AnyConnection,
    kinds_with_files: &[&str],
    ended_rows: Vec<&AnyRow>,
) -> Result<Vec<AbandonedTask>, sqlx::Error> {
    let mut abandoned_tasks = Vec::new();
    for db_row in ended_rows {
        let (id, kind): (String, String) = (db_row.try_get("id")?, db_row.try_get("kind")?);
        if kinds_with_files.contains(&kind.as_str()) {
            let input: String = sqlx::query_scalar("SELECT input FROM task_inputs WHERE task_id = $1")
                .bind(&id)
                .fetch_one(&mut *connection)
                .await?;
            let input = serde_json::from_str(&input).map_err(|error| sqlx::Error::Decode(error.into()))?;
            abandoned_tasks.push(AbandonedTask { kind, input });
        }
        delete_input(connection, &id).await?;
    }
    Ok(abandoned_tasks)
}
