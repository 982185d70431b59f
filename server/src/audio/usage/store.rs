//! Sums of the disk space of audio, by owner, in the database.

use sqlx::Row as _;
use sqlx::any::AnyRow;

use super::AudioUsage;
use crate::db::Db;

fn read_u64_column(db_row: &AnyRow, column: &str) -> Result<u64, sqlx::Error> {
    db_row.try_get::<i64, _>(column).map(|value| u64::try_from(value).unwrap_or_default())
}

/// Returns the disk space of a user's audio files in bytes, with all data derived from the files,
/// and with unfinished uploads.
pub(crate) async fn read_used_bytes(db: &Db, owner_id: &str) -> Result<u64, sqlx::Error> {
    let db_row = sqlx::query(
        "SELECT CAST(COALESCE(SUM(c.size_bytes + c.samples_bytes + c.peaks_bytes + \
         (SELECT COALESCE(SUM(r.size_bytes), 0) FROM audio_renditions r WHERE r.sha256 = c.sha256)), 0) \
         + (SELECT COALESCE(SUM(u.offset_bytes), 0) FROM audio_uploads u \
         WHERE u.owner_id = $1 AND u.state = 'receiving') \
         AS BIGINT) AS used FROM audio_files f JOIN audio_contents c ON c.sha256 = f.sha256 WHERE f.owner_id = $1",
    )
    .bind(owner_id)
    .fetch_one(db)
    .await?;
    read_u64_column(&db_row, "used")
}

/// Returns the usage by complete files, by user id.
pub(super) async fn stored_by_owner(db: &Db) -> Result<Vec<(String, AudioUsage)>, sqlx::Error> {
    let db_rows = sqlx::query(
        "SELECT f.owner_id, CAST(COUNT(*) AS BIGINT) AS files, \
         CAST(SUM(c.size_bytes + c.samples_bytes + c.peaks_bytes + (SELECT COALESCE(SUM(r.size_bytes), 0) \
         FROM audio_renditions r WHERE r.sha256 = c.sha256)) AS BIGINT) AS used \
         FROM audio_files f JOIN audio_contents c ON c.sha256 = f.sha256 GROUP BY f.owner_id",
    )
    .fetch_all(db)
    .await?;
    db_rows
        .iter()
        .map(|db_row| {
            let usage = AudioUsage {
                files: read_u64_column(db_row, "files")?,
                bytes: read_u64_column(db_row, "used")?,
            };
            Ok((db_row.try_get("owner_id")?, usage))
        })
        .collect()
}

/// Returns the total size of unfinished uploads in bytes, by user id.
pub(super) async fn read_receiving_by_owner(db: &Db) -> Result<Vec<(String, u64)>, sqlx::Error> {
    let db_rows = sqlx::query(
        "SELECT owner_id, CAST(SUM(offset_bytes) AS BIGINT) AS used FROM audio_uploads \
         WHERE state = 'receiving' GROUP BY owner_id",
    )
    .fetch_all(db)
    .await?;
    db_rows.iter().map(|db_row| Ok((db_row.try_get("owner_id")?, read_u64_column(db_row, "used")?))).collect()
}
