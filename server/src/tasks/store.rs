//! Tasks in the database. Every statement that ends an attempt compares the attempt's number.
//! Therefore an attempt that has lost its task changes nothing.

mod abandoned;
mod retention;

use schemas::json::JsonText;
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, Row as _};

use super::delivery::Delivery;
use super::task::{Task, TaskState};
use crate::clock;
use crate::db::{Db, begin_locked};
use crate::paging::Position;
use crate::storage::DocumentQuota;

/// Beginning of a query of tasks with their results.
macro_rules! task_with_result {
    () => {
        "SELECT tasks.*, result FROM tasks LEFT JOIN task_results ON task_id = id "
    };
}

/// Reads a task without its result.
fn from_row(db_row: &AnyRow) -> Result<Task, sqlx::Error> {
    let state: String = db_row.try_get("state")?;
    let text = |column: &str| db_row.try_get::<Option<String>, _>(column);
    let decoding = |error: serde_json::Error| sqlx::Error::Decode(error.into());
    let error = text("error")?.map(|text| serde_json::from_str(&text).map_err(decoding));
    Ok(Task {
        id: db_row.try_get("id")?,
        kind: db_row.try_get("kind")?,
        state: TaskState::from_stored(&state),
        progress: db_row.try_get("progress")?,
        message: db_row.try_get("message")?,
        created_at: db_row.try_get("created_at")?,
        started_at: db_row.try_get("started_at")?,
        finished_at: db_row.try_get("finished_at")?,
        result: None,
        error: error.transpose()?,
    })
}

/// Reads a task with its result.
fn with_result(db_row: &AnyRow) -> Result<Task, sqlx::Error> {
    let result: Option<String> = db_row.try_get("result")?;
    let result = result.map(|text| JsonText::read(text.as_bytes()));
    Ok(Task {
        result: result.transpose().map_err(|error| sqlx::Error::Decode(error.into()))?,
        ..from_row(db_row)?
    })
}

/// Outcome of storing a new task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InsertOutcome {
    /// The task was stored.
    Stored,
    /// Too many tasks of the owner are waiting or running. Nothing was changed.
    TooMany,
    /// The task would exceed the quota. Nothing was changed.
    Full {
        /// The quota in bytes.
        quota_bytes: u64,
        /// Number of bytes that are already in use.
        used_bytes: u64,
    },
}

/// Stores a task. Does not store it if `unfinished_max` tasks of its owner are already waiting or
/// running, or if the owner's projects and tasks would exceed `quota`. Without a quota, the input
/// does not count.
pub(super) async fn insert(
    db: &Db,
    owner_id: &str,
    task: &Task,
    input: &str,
    unfinished_max: i64,
    quota: Option<DocumentQuota>,
) -> Result<InsertOutcome, sqlx::Error> {
    let mut transaction = begin_locked(db, &DocumentQuota::lock_name(owner_id)).await?;
    // The first statement writes, so that SQLite waits for other writers instead of refusing.
    let outcome = sqlx::query(
        "INSERT INTO tasks (id, owner_id, kind, state, created_at, due_ms, stored_bytes) \
         SELECT $1, $2, $3, 'queued', $4, $5, $7 WHERE \
         (SELECT COUNT(*) FROM tasks WHERE owner_id = $2 AND state IN ('queued', 'running')) < $6",
    )
    .bind(&task.id)
    .bind(owner_id)
    .bind(&task.kind)
    .bind(&task.created_at)
    .bind(clock::now_unix_ms())
    .bind(unfinished_max)
    .bind(quota.map_or(0, |_| byte_count_of(input)))
    .execute(&mut *transaction)
    .await?;
    if outcome.rows_affected() == 0 {
        transaction.rollback().await?;
        return Ok(InsertOutcome::TooMany);
    }
    if let Some(quota) = quota {
        let (quota_bytes, used_bytes) =
            (quota.quota_bytes(), quota.used_bytes(&mut transaction, owner_id).await?);
        if used_bytes > quota_bytes {
            transaction.rollback().await?;
            let used_bytes = used_bytes.saturating_sub(input.len() as u64);
            return Ok(InsertOutcome::Full { quota_bytes, used_bytes });
        }
    }
    sqlx::query("INSERT INTO task_inputs (task_id, input) VALUES ($1, $2)")
        .bind(&task.id)
        .bind(input)
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await?;
    Ok(InsertOutcome::Stored)
}

/// Returns the length of a text in bytes, as the type of the database column.
fn byte_count_of(text: &str) -> i64 {
    i64::try_from(text.len()).unwrap_or(i64::MAX)
}

/// Deletes a task that is still waiting.
pub(super) async fn delete(db: &Db, id: &str) -> Result<(), sqlx::Error> {
    sqlx::query("DELETE FROM tasks WHERE id = $1 AND state = 'queued'").bind(id).execute(db).await?;
    Ok(())
}

/// A task that an attempt has claimed.
#[derive(Debug)]
pub(super) struct ClaimedTask {
    pub(super) task: Task,
    pub(super) input: serde_json::Value,
    /// Number of the attempt.
    pub(super) attempt: i64,
    /// Number of earlier attempts that failed.
    pub(super) failures: i64,
    /// Number of the task's current offer.
    pub(super) offer: i64,
}

/// Starts the next attempt at a waiting task. Returns `None` if the task is not waiting or not due
/// yet.
pub(super) async fn claim(
    db: &Db,
    delivery: &Delivery,
    lease_ms: i64,
) -> Result<Option<ClaimedTask>, sqlx::Error> {
    let now_ms = clock::now_unix_ms();
    let db_row = sqlx::query(
        "UPDATE tasks SET state = 'running', attempt = attempt + 1, alive_until_ms = $1, \
         started_at = COALESCE(started_at, $2) \
         WHERE id = $3 AND owner_id = $4 AND state = 'queued' AND cancel_requested = 0 AND due_ms <= $5 \
         RETURNING *, (SELECT input FROM task_inputs WHERE task_id = tasks.id) AS input",
    )
    .bind(now_ms + lease_ms)
    .bind(clock::now_text())
    .bind(&delivery.task_id)
    .bind(&delivery.owner_id)
    .bind(now_ms)
    .fetch_optional(db)
    .await?;
    db_row
        .as_ref()
        .map(|db_row| {
            let input: Option<String> = db_row.try_get("input")?;
            Ok(ClaimedTask {
                task: from_row(db_row)?,
                input: serde_json::from_str(input.as_deref().unwrap_or("null"))
                    .map_err(|error| sqlx::Error::Decode(error.into()))?,
                attempt: db_row.try_get("attempt")?,
                failures: db_row.try_get("failures")?,
                offer: db_row.try_get("offer")?,
            })
        })
        .transpose()
}

/// Returns the number of the next offer of a waiting task. Returns `None` if the task is not
/// waiting, or if `delivery` is not its current offer. Thus an offer that arrives twice is not
/// repeated twice.
pub(super) async fn take_next_offer(db: &Db, delivery: &Delivery) -> Result<Option<i64>, sqlx::Error> {
    sqlx::query_scalar(
        "UPDATE tasks SET offer = offer + 1 WHERE id = $1 AND state = 'queued' AND offer = $2 RETURNING offer",
    )
    .bind(&delivery.task_id)
    .bind(delivery.offer)
    .fetch_optional(db)
    .await
}

/// The remaining wait of a task, and the number of waiting tasks of its owner.
#[derive(Debug, Clone, Copy)]
pub(super) struct RemainingWait {
    /// Milliseconds until the task is due; at least 0.
    pub(super) due_in_ms: u64,
    /// Number of waiting tasks of the same owner, including this task.
    pub(super) waiting_count: u64,
}

/// Returns the remaining wait of a task; `None` if it is not waiting.
pub(super) async fn read_remaining_wait(
    db: &Db,
    delivery: &Delivery,
) -> Result<Option<RemainingWait>, sqlx::Error> {
    let db_row: Option<(i64, i64)> = sqlx::query_as(
        "SELECT due_ms, (SELECT COUNT(*) FROM tasks w WHERE w.owner_id = $2 AND w.state = 'queued') \
         FROM tasks WHERE id = $1 AND state = 'queued'",
    )
    .bind(&delivery.task_id)
    .bind(&delivery.owner_id)
    .fetch_optional(db)
    .await?;
    Ok(db_row.map(|(due_ms, waiting_count)| RemainingWait {
        due_in_ms: u64::try_from(due_ms - clock::now_unix_ms()).unwrap_or_default(),
        waiting_count: u64::try_from(waiting_count).unwrap_or_default(),
    }))
}

/// Extends the lease of an attempt and stores its progress. Returns whether the task should be
/// cancelled; `None` if the attempt has lost its task.
pub(super) async fn record_heartbeat(
    db: &Db,
    task: &Task,
    attempt: i64,
    lease_ms: i64,
) -> Result<Option<bool>, sqlx::Error> {
    let cancel: Option<i64> = sqlx::query_scalar(
        "UPDATE tasks SET progress = $1, message = $2, alive_until_ms = $3 \
         WHERE id = $4 AND attempt = $5 AND state = 'running' RETURNING cancel_requested",
    )
    .bind(task.progress)
    .bind(&task.message)
    .bind(clock::now_unix_ms() + lease_ms)
    .bind(&task.id)
    .bind(attempt)
    .fetch_optional(db)
    .await?;
    Ok(cancel.map(|cancel| cancel != 0))
}

/// Whether an attempt still owns its task.
pub(super) async fn has_lease(db: &Db, id: &str, attempt: i64) -> Result<bool, sqlx::Error> {
    let db_row: Option<i64> =
        sqlx::query_scalar("SELECT attempt FROM tasks WHERE id = $1 AND attempt = $2 AND state = 'running'")
            .bind(id)
            .bind(attempt)
            .fetch_optional(db)
            .await?;
    Ok(db_row.is_some())
}

/// Stores the final state of a task. Returns false and changes nothing if the attempt has lost its
/// task.
pub(super) async fn finish(db: &Db, task: &Task, attempt: i64) -> Result<bool, sqlx::Error> {
    let result = task.result.as_ref().map(JsonText::as_str);
    let error = task.error.as_ref().map(ToString::to_string);
    let stored_bytes =
        byte_count_of(result.unwrap_or_default()) + byte_count_of(error.as_deref().unwrap_or_default());
    let mut transaction = db.begin().await?;
    let outcome = sqlx::query(
        "UPDATE tasks SET state = $1, progress = $2, message = '', finished_at = $3, error = $4, stored_bytes = $5 \
         WHERE id = $6 AND attempt = $7 AND state = 'running'",
    )
    .bind(task.state.as_str())
    .bind(task.progress)
    .bind(&task.finished_at)
    .bind(error)
    .bind(stored_bytes)
    .bind(&task.id)
    .bind(attempt)
    .execute(&mut *transaction)
    .await?;
    if outcome.rows_affected() == 0 {
        return Ok(false);
    }
    delete_input(&mut transaction, &task.id).await?;
    if let Some(result) = result {
        sqlx::query("INSERT INTO task_results (task_id, result) VALUES ($1, $2)")
            .bind(&task.id)
            .bind(result)
            .execute(&mut *transaction)
            .await?;
    }
    transaction.commit().await?;
    Ok(true)
}

/// Deletes the input of a task that has ended.
async fn delete_input(connection: &mut AnyConnection, id: &str) -> Result<(), sqlx::Error> {
    sqlx::query("DELETE FROM task_inputs WHERE task_id = $1").bind(id).execute(connection).await?;
    Ok(())
}

/// Statement that requeues a running task, or ends it if it was cancelled. The task's input stays
/// until [`abandoned::release_outcome`]. `$1` is the current time as text, `$2` the time when the
/// task is due (in milliseconds since 1970), and `$3` the number of failures to add.
macro_rules! requeue {
    ($condition:literal) => {
        concat!(
            "UPDATE tasks SET state = CASE WHEN cancel_requested = 1 THEN 'cancelled' ELSE 'queued' END, \
             finished_at = CASE WHEN cancel_requested = 1 THEN $1 END, due_ms = $2, failures = failures + $3, \
             progress = 0, message = '', \
             stored_bytes = CASE WHEN cancel_requested = 1 THEN 0 ELSE stored_bytes END \
             WHERE state = 'running' AND ",
            $condition
        )
    };
}

// The module uses the macro `requeue`, so it must be declared after the macro.
mod lost;

pub(super) use abandoned::{AbandonedTask, ReleaseOutcome, cancel, fail_unfinished};
pub(super) use lost::{adapt_to_clock, fail_lost, read_lost_attempts, requeue_lost, reset_and_list_overdue};
pub(crate) use retention::stored_bytes;
pub(super) use retention::{read_stored_bytes_of_all, remove_finished, remove_finished_before};

/// Requeues a task for its next attempt. Changes nothing if the attempt has lost its task.
pub(super) async fn requeue(
    db: &Db,
    kinds_with_files: &[&str],
    id: &str,
    attempt: i64,
    due_ms: i64,
    is_failure: bool,
) -> Result<ReleaseOutcome, sqlx::Error> {
    let mut transaction = db.begin().await?;
    let db_row = sqlx::query(requeue!("id = $4 AND attempt = $5 RETURNING id, kind, state"))
        .bind(clock::now_text())
        .bind(due_ms)
        .bind(i64::from(is_failure))
        .bind(id)
        .bind(attempt)
        .fetch_optional(&mut *transaction)
        .await?;
    let outcome = abandoned::release_outcome(&mut transaction, kinds_with_files, db_row).await?;
    transaction.commit().await?;
    Ok(outcome)
}

fn delivery_from_row(db_row: &AnyRow) -> Result<Delivery, sqlx::Error> {
    let delivery = Delivery::new(db_row.try_get("id")?, db_row.try_get("owner_id")?);
    Ok(Delivery { offer: db_row.try_get("offer")?, ..delivery })
}

/// Returns the inputs of the unfinished tasks of a kind, as JSON text.
pub(crate) async fn read_unfinished_inputs(db: &Db, kind: &str) -> Result<Vec<String>, sqlx::Error> {
    sqlx::query_scalar(
        "SELECT input FROM task_inputs JOIN tasks ON tasks.id = task_id \
         WHERE kind = $1 AND state IN ('queued', 'running')",
    )
    .bind(kind)
    .fetch_all(db)
    .await
}

/// Returns the numbers of waiting and running tasks, by kind and state.
pub(super) async fn count_unfinished_by_kind(db: &Db) -> Result<Vec<(String, TaskState, i64)>, sqlx::Error> {
    let db_rows = sqlx::query(
        "SELECT kind, state, COUNT(*) AS tasks FROM tasks WHERE state IN ('queued', 'running') GROUP BY kind, state",
    )
    .fetch_all(db)
    .await?;
    db_rows
        .iter()
        .map(|db_row| {
            let state: String = db_row.try_get("state")?;
            Ok((db_row.try_get("kind")?, TaskState::from_stored(&state), db_row.try_get("tasks")?))
        })
        .collect()
}

/// Whether a task is waiting or running.
pub(super) async fn is_unfinished(db: &Db, id: &str) -> Result<bool, sqlx::Error> {
    let state: Option<String> =
        sqlx::query_scalar("SELECT state FROM tasks WHERE id = $1").bind(id).fetch_optional(db).await?;
    Ok(state.is_some_and(|state| !TaskState::from_stored(&state).is_final()))
}

/// Returns the number of waiting and running tasks.
#[cfg(test)]
pub(super) async fn count_unfinished(db: &Db) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar("SELECT COUNT(*) FROM tasks WHERE state IN ('queued', 'running')").fetch_one(db).await
}

pub(super) async fn find_by_id(db: &Db, owner_id: &str, id: &str) -> Result<Option<Task>, sqlx::Error> {
    let db_row = sqlx::query(concat!(task_with_result!(), "WHERE id = $1 AND owner_id = $2"))
        .bind(id)
        .bind(owner_id)
        .fetch_optional(db)
        .await?;
    db_row.as_ref().map(with_result).transpose()
}

pub(super) async fn read_page(
    db: &Db,
    owner_id: &str,
    after: Option<&Position>,
    count: u32,
) -> Result<Vec<Task>, sqlx::Error> {
    let db_rows = match after {
        None => {
            sqlx::query(concat!(
                task_with_result!(),
                "WHERE owner_id = $1 ORDER BY created_at DESC, id LIMIT $2"
            ))
            .bind(owner_id)
            .bind(i64::from(count))
            .fetch_all(db)
            .await?
        }
        Some(Position { time, id }) => {
            sqlx::query(concat!(
                task_with_result!(),
                "WHERE owner_id = $1 AND (created_at < $2 OR (created_at = $2 AND id > $3)) \
                 ORDER BY created_at DESC, id LIMIT $4"
            ))
            .bind(owner_id)
            .bind(time)
            .bind(id)
            .bind(i64::from(count))
            .fetch_all(db)
            .await?
        }
    };
    db_rows.iter().map(with_result).collect()
}

/// Returns at most `count` tasks of all users with the ids of their owners, the newest first. An
/// empty `state` selects all states.
pub(super) async fn read_page_of_all(
    db: &Db,
    state: &str,
    after: Option<&Position>,
    count: u32,
) -> Result<Vec<(String, Task)>, sqlx::Error> {
    let db_rows = sqlx::query(concat!(
        task_with_result!(),
        "WHERE ($1 = '' OR state = $1) AND ($2 = '' OR created_at < $2 OR (created_at = $2 AND id > $3)) \
         ORDER BY created_at DESC, id LIMIT $4"
    ))
    .bind(state)
    .bind(after.map(|position| position.time.as_str()).unwrap_or_default())
    .bind(after.map(|position| position.id.as_str()).unwrap_or_default())
    .bind(i64::from(count))
    .fetch_all(db)
    .await?;
    db_rows.iter().map(|db_row| Ok((db_row.try_get("owner_id")?, with_result(db_row)?))).collect()
}

/// Returns the id of the user who owns a task; `None` if there is no such task.
pub(super) async fn find_owner(db: &Db, id: &str) -> Result<Option<String>, sqlx::Error> {
    sqlx::query_scalar("SELECT owner_id FROM tasks WHERE id = $1").bind(id).fetch_optional(db).await
}
