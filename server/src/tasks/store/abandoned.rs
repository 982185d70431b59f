//! Tasks that end while they wait: cancelled, or left over by an earlier run.

use serde_json::Value;
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, Row as _};

use super::bytes;
use crate::clock;
use crate::db::Db;

/// A task that ended without another attempt, and whose kind has something to remove then.
#[derive(Debug)]
pub(in crate::tasks) struct Abandoned {
    /// Name of the kind.
    pub(in crate::tasks) kind: String,
    pub(in crate::tasks) input: Value,
}

/// Asks unfinished tasks of a user to end, one or all, and ends those that wait. Says how many were
/// asked, and which of them ended at once.
pub(in crate::tasks) async fn cancel(
    db: &Db,
    with_files: &[&str],
    owner_id: &str,
    id: Option<&str>,
) -> Result<(u64, Vec<Abandoned>), sqlx::Error> {
    let mut transaction = db.begin().await?;
    let asked = sqlx::query(
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
    let mut ended = Vec::new();
    for row in &asked {
        if row.try_get::<String, _>("state")? == "cancelled" {
            ended.push(row);
        }
    }
    let abandoned = forget_inputs(&mut transaction, with_files, ended).await?;
    transaction.commit().await?;
    Ok((asked.len() as u64, abandoned))
}

/// Marks tasks that an earlier run of the service left unfinished as failed, with `error` as JSON
/// text, and says how many there were. Those that have files are due at once, and none of their
/// attempts lives.
pub(in crate::tasks) async fn end_leftovers(
    db: &Db,
    with_files: &[&str],
    error: &str,
) -> Result<u64, sqlx::Error> {
    let mut transaction = db.begin().await?;
    let left: Vec<(String, String)> =
        sqlx::query_as("SELECT id, kind FROM tasks WHERE state IN ('queued', 'running')")
            .fetch_all(&mut *transaction)
            .await?;
    let mut failed = 0;
    for (id, kind) in left {
        if with_files.contains(&kind.as_str()) {
            sqlx::query("UPDATE tasks SET alive_until_ms = 0, due_ms = 0 WHERE id = $1")
                .bind(&id)
                .execute(&mut *transaction)
                .await?;
            continue;
        }
        failed += 1;
        sqlx::query(
            "UPDATE tasks SET state = 'failed', message = '', finished_at = $1, error = $2, stored_bytes = $3, \
             input = 'null' WHERE id = $4",
        )
        .bind(clock::now_text())
        .bind(error)
        .bind(bytes(error))
        .bind(&id)
        .execute(&mut *transaction)
        .await?;
    }
    transaction.commit().await?;
    Ok(failed)
}

/// What became of a task that an attempt let go.
#[derive(Debug, Default)]
pub(in crate::tasks) struct LetGo {
    /// Whether it waits for another attempt.
    pub(in crate::tasks) waits: bool,
    /// What it leaves to remove if it has ended.
    pub(in crate::tasks) abandoned: Vec<Abandoned>,
}

/// Looks what became of a task, by its id, kind and state after the change; `None` if there was
/// none.
pub(super) async fn let_go(
    connection: &mut AnyConnection,
    with_files: &[&str],
    changed: Option<AnyRow>,
) -> Result<LetGo, sqlx::Error> {
    let Some(row) = changed else { return Ok(LetGo::default()) };
    if row.try_get::<String, _>("state")? == "queued" {
        return Ok(LetGo { waits: true, abandoned: Vec::new() });
    }
    Ok(LetGo { waits: false, abandoned: forget_inputs(connection, with_files, vec![&row]).await? })
}

/// Removes the inputs of tasks that have ended, and returns those of the kinds `with_files`.
async fn forget_inputs(
    connection: &mut AnyConnection,
    with_files: &[&str],
    ended: Vec<&AnyRow>,
) -> Result<Vec<Abandoned>, sqlx::Error> {
    let mut abandoned = Vec::new();
    for row in ended {
        let (id, kind): (String, String) = (row.try_get("id")?, row.try_get("kind")?);
        if with_files.contains(&kind.as_str()) {
            let input: String = sqlx::query_scalar("SELECT input FROM tasks WHERE id = $1")
                .bind(&id)
                .fetch_one(&mut *connection)
                .await?;
            let input = serde_json::from_str(&input).map_err(|error| sqlx::Error::Decode(error.into()))?;
            abandoned.push(Abandoned { kind, input });
        }
        sqlx::query("UPDATE tasks SET input = 'null' WHERE id = $1")
            .bind(&id)
            .execute(&mut *connection)
            .await?;
    }
    Ok(abandoned)
}
