//! Individual quotas of users in the database.

use sqlx::Row as _;
use sqlx::any::AnyRow;

use crate::db::Db;

fn read_u64_column(db_row: &AnyRow, column: &str) -> Result<u64, sqlx::Error> {
    db_row.try_get::<i64, _>(column).map(|value| u64::try_from(value).unwrap_or_default())
}

/// Returns all individual quotas in bytes, by user id.
pub(super) async fn read_quotas(db: &Db) -> Result<Vec<(String, u64)>, sqlx::Error> {
    let db_rows = sqlx::query("SELECT owner_id, quota_bytes FROM audio_quotas").fetch_all(db).await?;
    db_rows
        .iter()
        .map(|db_row| Ok((db_row.try_get("owner_id")?, read_u64_column(db_row, "quota_bytes")?)))
        .collect()
}

/// Returns the individual quota of a user in bytes; `None` if the user has the default quota.
pub(super) async fn read_quota(db: &Db, owner_id: &str) -> Result<Option<u64>, sqlx::Error> {
    let db_row = sqlx::query("SELECT quota_bytes FROM audio_quotas WHERE owner_id = $1")
        .bind(owner_id)
        .fetch_optional(db)
        .await?;
    db_row.as_ref().map(|db_row| read_u64_column(db_row, "quota_bytes")).transpose()
}

pub(super) async fn put_quota(db: &Db, owner_id: &str, quota_bytes: u64) -> Result<(), sqlx::Error> {
    sqlx::query(
        "INSERT INTO audio_quotas (owner_id, quota_bytes) VALUES ($1, $2) \
         ON CONFLICT (owner_id) DO UPDATE SET quota_bytes = excluded.quota_bytes",
    )
    .bind(owner_id)
    .bind(i64::try_from(quota_bytes).unwrap_or(i64::MAX))
    .execute(db)
    .await?;
    Ok(())
}

pub(super) async fn delete_quota(db: &Db, owner_id: &str) -> Result<(), sqlx::Error> {
    sqlx::query("DELETE FROM audio_quotas WHERE owner_id = $1").bind(owner_id).execute(db).await?;
    Ok(())
}
