//! Deleted audio files in the database.

use sqlx::{AnyConnection, Row as _};

use crate::audio::search_key::search_key;
use crate::db::Db;

/// Deletes a file. If `is_kept`, the file can be restored later. Returns the SHA-256 of the file,
/// or `None` if there is no such file.
pub(super) async fn delete(
    connection: &mut AnyConnection,
    owner_id: &str,
    id: &str,
    now_ms: i64,
    is_kept: bool,
) -> Result<Option<String>, sqlx::Error> {
    // This update changes nothing. It locks the row.
    let lock_result = sqlx::query("UPDATE audio_files SET name = name WHERE owner_id = $1 AND id = $2")
        .bind(owner_id)
        .bind(id)
        .execute(&mut *connection)
        .await?;
    if lock_result.rows_affected() == 0 {
        return Ok(None);
    }
    if is_kept {
        let tags: Vec<String> =
            sqlx::query_scalar("SELECT tag FROM audio_tags WHERE file_id = $1 ORDER BY tag_key, tag")
                .bind(id)
                .fetch_all(&mut *connection)
                .await?;
        sqlx::query(
            "INSERT INTO audio_deleted_files (id, owner_id, sha256, name, name_key, created_at, tags, deleted_ms) \
             SELECT id, owner_id, sha256, name, name_key, created_at, $1, CAST($2 AS BIGINT) FROM audio_files \
             WHERE owner_id = $3 AND id = $4",
        )
        .bind(serde_json::to_string(&tags).map_err(|error| sqlx::Error::Encode(error.into()))?)
        .bind(now_ms)
        .bind(owner_id)
        .bind(id)
        .execute(&mut *connection)
        .await?;
    }
    sqlx::query_scalar("DELETE FROM audio_files WHERE owner_id = $1 AND id = $2 RETURNING sha256")
        .bind(owner_id)
        .bind(id)
        .fetch_optional(connection)
        .await
}

/// Returns the id and the SHA-256 of each deleted file of a user.
pub(super) async fn read_of_owner(db: &Db, owner_id: &str) -> Result<Vec<(String, String)>, sqlx::Error> {
    sqlx::query_as("SELECT id, sha256 FROM audio_deleted_files WHERE owner_id = $1")
        .bind(owner_id)
        .fetch_all(db)
        .await
}

/// Restores a deleted file. Returns false if there is none with this id, or if the file exists.
pub(super) async fn restore(db: &Db, id: &str) -> Result<bool, sqlx::Error> {
    let mut transaction = db.begin().await?;
    let query_result = sqlx::query(
        "INSERT INTO audio_files (id, owner_id, sha256, name, name_key, created_at) \
         SELECT id, owner_id, sha256, name, name_key, created_at FROM audio_deleted_files WHERE id = $1 \
         ON CONFLICT DO NOTHING",
    )
    .bind(id)
    .execute(&mut *transaction)
    .await?;
    let tags: Option<String> =
        sqlx::query_scalar("DELETE FROM audio_deleted_files WHERE id = $1 RETURNING tags")
            .bind(id)
            .fetch_optional(&mut *transaction)
            .await?;
    if query_result.rows_affected() > 0 {
        let tags: Vec<String> = serde_json::from_str(&tags.unwrap_or_default()).unwrap_or_default();
        for tag in tags {
            sqlx::query("INSERT INTO audio_tags (file_id, tag, tag_key) VALUES ($1, $2, $3)")
                .bind(id)
                .bind(&tag)
                .bind(search_key(&tag))
                .execute(&mut *transaction)
                .await?;
        }
    }
    transaction.commit().await?;
    Ok(query_result.rows_affected() > 0)
}

/// Returns ids and owners of the files that were deleted at `due_ms` or earlier, the oldest first.
pub(super) async fn read_due(db: &Db, due_ms: i64) -> Result<Vec<(String, String)>, sqlx::Error> {
    sqlx::query_as(
        "SELECT id, owner_id FROM audio_deleted_files WHERE deleted_ms <= $1 ORDER BY deleted_ms, id",
    )
    .bind(due_ms)
    .fetch_all(db)
    .await
}

/// Removes a deleted file permanently. Returns its SHA-256, or `None` if there is no such deleted
/// file.
pub(super) async fn remove(connection: &mut AnyConnection, id: &str) -> Result<Option<String>, sqlx::Error> {
    sqlx::query_scalar("DELETE FROM audio_deleted_files WHERE id = $1 RETURNING sha256")
        .bind(id)
        .fetch_optional(connection)
        .await
}

/// Returns a user's deleted files, the oldest first: the id, and the size of the stored audio in
/// bytes.
pub(super) async fn read_sizes(db: &Db, owner_id: &str) -> Result<Vec<(String, u64)>, sqlx::Error> {
    let db_rows = sqlx::query(
        "SELECT d.id, c.size_bytes + c.samples_bytes + c.peaks_bytes AS bytes FROM audio_deleted_files d \
         JOIN audio_contents c ON c.sha256 = d.sha256 WHERE d.owner_id = $1 ORDER BY d.deleted_ms, d.id",
    )
    .bind(owner_id)
    .fetch_all(db)
    .await?;
    db_rows
        .iter()
        .map(|db_row| {
            Ok((db_row.try_get("id")?, u64::try_from(db_row.try_get::<i64, _>("bytes")?).unwrap_or_default()))
        })
        .collect()
}
