//! Tasks in the database.

use sqlx::Row as _;
use sqlx::any::AnyRow;

use super::{Task, TaskState};
use crate::clock;
use crate::db::Db;
use crate::paging::Position;

fn from_row(row: &AnyRow) -> Result<Task, sqlx::Error> {
    let state: String = row.try_get("state")?;
    let json = |column: &str| -> Result<Option<serde_json::Value>, sqlx::Error> {
        let text: Option<String> = row.try_get(column)?;
        text.map(|text| serde_json::from_str(&text).map_err(|error| sqlx::Error::Decode(error.into())))
            .transpose()
    };
    Ok(Task {
        id: row.try_get("id")?,
        kind: row.try_get("kind")?,
        state: TaskState::from_stored(&state),
        progress: row.try_get("progress")?,
        message: row.try_get("message")?,
        created_at: row.try_get("created_at")?,
        started_at: row.try_get("started_at")?,
        finished_at: row.try_get("finished_at")?,
        result: json("result")?,
        error: json("error")?,
    })
}

pub(super) async fn insert(db: &Db, owner_id: &str, task: &Task) -> Result<(), sqlx::Error> {
    sqlx::query(
        "INSERT INTO tasks (id, owner_id, kind, state, progress, message, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7)",
    )
    .bind(&task.id)
    .bind(owner_id)
    .bind(&task.kind)
    .bind(task.state.as_str())
    .bind(task.progress)
    .bind(&task.message)
    .bind(&task.created_at)
    .execute(db)
    .await?;
    Ok(())
}

/// Writes everything that changes while a task runs.
pub(super) async fn update(db: &Db, task: &Task) -> Result<(), sqlx::Error> {
    let text = |value: &Option<serde_json::Value>| value.as_ref().map(ToString::to_string);
    sqlx::query(
        "UPDATE tasks SET state = $1, progress = $2, message = $3, started_at = $4, finished_at = $5, \
         result = $6, error = $7 WHERE id = $8",
    )
    .bind(task.state.as_str())
    .bind(task.progress)
    .bind(&task.message)
    .bind(&task.started_at)
    .bind(&task.finished_at)
    .bind(text(&task.result))
    .bind(text(&task.error))
    .bind(&task.id)
    .execute(db)
    .await?;
    Ok(())
}

pub(super) async fn by_id(db: &Db, owner_id: &str, id: &str) -> Result<Option<Task>, sqlx::Error> {
    let row = sqlx::query("SELECT * FROM tasks WHERE id = $1 AND owner_id = $2")
        .bind(id)
        .bind(owner_id)
        .fetch_optional(db)
        .await?;
    row.as_ref().map(from_row).transpose()
}

pub(super) async fn page(
    db: &Db,
    owner_id: &str,
    after: Option<&Position>,
    count: u32,
) -> Result<Vec<Task>, sqlx::Error> {
    let rows = match after {
        None => {
            sqlx::query("SELECT * FROM tasks WHERE owner_id = $1 ORDER BY created_at DESC, id LIMIT $2")
                .bind(owner_id)
                .bind(i64::from(count))
                .fetch_all(db)
                .await?
        }
        Some(Position { time, id }) => {
            sqlx::query(
                "SELECT * FROM tasks WHERE owner_id = $1 \
                 AND (created_at < $2 OR (created_at = $2 AND id > $3)) \
                 ORDER BY created_at DESC, id LIMIT $4",
            )
            .bind(owner_id)
            .bind(time)
            .bind(id)
            .bind(i64::from(count))
            .fetch_all(db)
            .await?
        }
    };
    rows.iter().map(from_row).collect()
}

/// Tasks of all users with their owners' ids, the newest first; `state` empty: in any state.
pub(super) async fn page_of_all(
    db: &Db,
    state: &str,
    after: Option<&Position>,
    count: u32,
) -> Result<Vec<(String, Task)>, sqlx::Error> {
    let rows = sqlx::query(
        "SELECT * FROM tasks WHERE ($1 = '' OR state = $1) \
         AND ($2 = '' OR created_at < $2 OR (created_at = $2 AND id > $3)) \
         ORDER BY created_at DESC, id LIMIT $4",
    )
    .bind(state)
    .bind(after.map(|position| position.time.as_str()).unwrap_or_default())
    .bind(after.map(|position| position.id.as_str()).unwrap_or_default())
    .bind(i64::from(count))
    .fetch_all(db)
    .await?;
    rows.iter().map(|row| Ok((row.try_get("owner_id")?, from_row(row)?))).collect()
}

/// Id of the user whose task this is.
pub(super) async fn owner(db: &Db, id: &str) -> Result<Option<String>, sqlx::Error> {
    sqlx::query_scalar("SELECT owner_id FROM tasks WHERE id = $1").bind(id).fetch_optional(db).await
}

/// Marks tasks that an earlier run of the service left unfinished as failed, with `error` as JSON text.
pub(super) async fn fail_leftovers(db: &Db, error: &str) -> Result<u64, sqlx::Error> {
    let done = sqlx::query(
        "UPDATE tasks SET state = 'failed', message = '', finished_at = $1, error = $2 \
         WHERE state IN ('queued', 'running')",
    )
    .bind(clock::now_text())
    .bind(error)
    .execute(db)
    .await?;
    Ok(done.rows_affected())
}
