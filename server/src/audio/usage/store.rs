//! Sums of audio by owner, and quotas, in the database.

use sqlx::Row as _;
use sqlx::any::AnyRow;

use super::AudioUsage;
use crate::db::Db;

fn count(row: &AnyRow, column: &str) -> Result<u64, sqlx::Error> {
    row.try_get::<i64, _>(column).map(|value| u64::try_from(value).unwrap_or_default())
}

/// Bytes that a user's audio takes on the disk: each content once, with everything made from it,
/// and the uploads that are under way.
pub(in crate::audio) async fn used_bytes(db: &Db, owner_id: &str) -> Result<u64, sqlx::Error> {
    let row = sqlx::query(
        "SELECT CAST(COALESCE(SUM(c.size_bytes + c.samples_bytes + c.peaks_bytes + \
         (SELECT COALESCE(SUM(r.size_bytes), 0) FROM audio_renditions r WHERE r.sha256 = c.sha256)), 0) \
         + (SELECT COALESCE(SUM(u.offset_bytes), 0) FROM audio_uploads u \
         WHERE u.owner_id = $1 AND u.state = 'receiving') \
         AS BIGINT) AS used FROM audio_files f JOIN audio_contents c ON c.sha256 = f.sha256 WHERE f.owner_id = $1",
    )
    .bind(owner_id)
    .fetch_one(db)
    .await?;
    count(&row, "used")
}

/// What users have in whole files, by their ids.
pub(super) async fn stored_by_owner(db: &Db) -> Result<Vec<(String, AudioUsage)>, sqlx::Error> {
    let rows = sqlx::query(
        "SELECT f.owner_id, CAST(COUNT(*) AS BIGINT) AS files, \
         CAST(SUM(c.size_bytes + c.samples_bytes + c.peaks_bytes + (SELECT COALESCE(SUM(r.size_bytes), 0) \
         FROM audio_renditions r WHERE r.sha256 = c.sha256)) AS BIGINT) AS used \
         FROM audio_files f JOIN audio_contents c ON c.sha256 = f.sha256 GROUP BY f.owner_id",
    )
    .fetch_all(db)
    .await?;
    rows.iter()
        .map(|row| {
            let usage = AudioUsage { files: count(row, "files")?, bytes: count(row, "used")? };
            Ok((row.try_get("owner_id")?, usage))
        })
        .collect()
}

/// Bytes of users' uploads that are under way, by their ids.
pub(super) async fn receiving_by_owner(db: &Db) -> Result<Vec<(String, u64)>, sqlx::Error> {
    let rows = sqlx::query(
        "SELECT owner_id, CAST(SUM(offset_bytes) AS BIGINT) AS used FROM audio_uploads \
         WHERE state = 'receiving' GROUP BY owner_id",
    )
    .fetch_all(db)
    .await?;
    rows.iter().map(|row| Ok((row.try_get("owner_id")?, count(row, "used")?))).collect()
}

/// All quotas of single users, by their ids.
pub(super) async fn quotas(db: &Db) -> Result<Vec<(String, u64)>, sqlx::Error> {
    let rows = sqlx::query("SELECT owner_id, quota_bytes FROM audio_quotas").fetch_all(db).await?;
    rows.iter().map(|row| Ok((row.try_get("owner_id")?, count(row, "quota_bytes")?))).collect()
}

/// A user's own quota.
pub(super) async fn quota(db: &Db, owner_id: &str) -> Result<Option<u64>, sqlx::Error> {
    let row = sqlx::query("SELECT quota_bytes FROM audio_quotas WHERE owner_id = $1")
        .bind(owner_id)
        .fetch_optional(db)
        .await?;
    row.as_ref().map(|row| count(row, "quota_bytes")).transpose()
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
