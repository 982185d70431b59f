//! The audit log in the database.

use sqlx::Row as _;
use sqlx::any::AnyRow;

use super::{Action, Entry};
use crate::db::Db;
use crate::paging::Position;

fn from_row(db_row: &AnyRow) -> Result<Entry, sqlx::Error> {
    Ok(Entry {
        id: db_row.try_get("id")?,
        at: db_row.try_get("at")?,
        action: db_row.try_get("action")?,
        actor_id: db_row.try_get("actor_id")?,
        actor: db_row.try_get("actor")?,
        via: db_row.try_get("via")?,
        address: db_row.try_get("address")?,
        target: db_row.try_get("target")?,
        detail: db_row.try_get("detail")?,
    })
}

pub(super) async fn insert(db: &Db, entry: &Entry) -> Result<(), sqlx::Error> {
    sqlx::query(
        "INSERT INTO audit_log (id, at, action, actor_id, actor, via, address, target, detail) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
    )
    .bind(&entry.id)
    .bind(&entry.at)
    .bind(&entry.action)
    .bind(&entry.actor_id)
    .bind(&entry.actor)
    .bind(&entry.via)
    .bind(&entry.address)
    .bind(&entry.target)
    .bind(&entry.detail)
    .execute(db)
    .await?;
    Ok(())
}

/// Filter of the list of entries.
#[derive(Debug, Default)]
pub(crate) struct Filter<'f> {
    /// Only entries with this action.
    pub(crate) action: Option<Action>,
    /// Only entries that have the account with this name as actor or target.
    pub(crate) user: Option<&'f str>,
}

/// Returns entries, the newest first.
pub(crate) async fn read_page(
    db: &Db,
    filter: &Filter<'_>,
    after: Option<&Position>,
    count: u32,
) -> Result<Vec<Entry>, sqlx::Error> {
    let db_rows = sqlx::query(
        "SELECT * FROM audit_log WHERE ($1 = '' OR action = $1) \
         AND ($2 = '' OR actor = $2 OR target = $2) \
         AND ($3 = '' OR at < $3 OR (at = $3 AND id > $4)) \
         ORDER BY at DESC, id LIMIT $5",
    )
    .bind(filter.action.map(Action::as_str).unwrap_or_default())
    .bind(filter.user.unwrap_or_default())
    .bind(after.map(|position| position.time.as_str()).unwrap_or_default())
    .bind(after.map(|position| position.id.as_str()).unwrap_or_default())
    .bind(i64::from(count))
    .fetch_all(db)
    .await?;
    db_rows.iter().map(from_row).collect()
}

/// Deletes entries older than `time`, and returns their number.
pub(super) async fn delete_before(db: &Db, time: &str) -> Result<u64, sqlx::Error> {
    let query_result = sqlx::query("DELETE FROM audit_log WHERE at < $1").bind(time).execute(db).await?;
    Ok(query_result.rows_affected())
}
