//! Resumable uploads in the database.

use sqlx::Row as _;
use sqlx::any::AnyRow;

use crate::audio::store::to_i64;
use crate::clock;
use crate::db::Db;
use crate::error::{ApiError, ApiResult};
use crate::paging::Position;

/// State of an upload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum UploadState {
    /// Bytes are missing.
    Receiving,
    /// All bytes have been received. A task decodes them, unless it could not be started; then the
    /// client may retry.
    Decoding,
    /// The audio file is stored.
    Done,
    /// The file was refused. The task's error says why.
    Refused,
}

impl UploadState {
    fn as_str(self) -> &'static str {
        match self {
            Self::Receiving => "receiving",
            Self::Decoding => "decoding",
            Self::Done => "done",
            Self::Refused => "refused",
        }
    }

    fn from_stored(text: &str) -> Self {
        match text {
            "receiving" => Self::Receiving,
            "decoding" => Self::Decoding,
            "done" => Self::Done,
            _ => Self::Refused,
        }
    }
}

/// An upload as stored.
#[derive(Debug, Clone)]
pub(super) struct UploadRow {
    pub(super) id: String,
    pub(super) owner_id: String,
    pub(super) name: String,
    pub(super) metadata: String,
    /// Length of the file; while it is deferred, the largest length that the file may get.
    pub(super) length_bytes: u64,
    /// Whether the client has not yet announced the length.
    pub(super) is_length_deferred: bool,
    pub(super) offset_bytes: u64,
    pub(super) expires_secs: i64,
    pub(super) state: UploadState,
    pub(super) task_id: Option<String>,
    pub(super) file_id: Option<String>,
}

fn upload_from_row(db_row: &AnyRow) -> Result<UploadRow, sqlx::Error> {
    let bytes =
        |column| db_row.try_get::<i64, _>(column).map(|value| u64::try_from(value).unwrap_or_default());
    let state: String = db_row.try_get("state")?;
    Ok(UploadRow {
        id: db_row.try_get("id")?,
        owner_id: db_row.try_get("owner_id")?,
        name: db_row.try_get("name")?,
        metadata: db_row.try_get("metadata")?,
        length_bytes: bytes("length_bytes")?,
        is_length_deferred: bytes("is_length_deferred")? != 0,
        offset_bytes: bytes("offset_bytes")?,
        expires_secs: db_row.try_get("expires_secs")?,
        state: UploadState::from_stored(&state),
        task_id: db_row.try_get("task_id")?,
        file_id: db_row.try_get("file_id")?,
    })
}

/// Stores a new upload.
pub(super) async fn insert(db: &Db, upload_row: &UploadRow) -> Result<(), sqlx::Error> {
    sqlx::query(
        "INSERT INTO audio_uploads (id, owner_id, name, metadata, length_bytes, offset_bytes, expires_secs, is_length_deferred) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
    )
    .bind(&upload_row.id)
    .bind(&upload_row.owner_id)
    .bind(&upload_row.name)
    .bind(&upload_row.metadata)
    .bind(to_i64(upload_row.length_bytes))
    .bind(to_i64(upload_row.offset_bytes))
    .bind(upload_row.expires_secs)
    .bind(i64::from(upload_row.is_length_deferred))
    .execute(db)
    .await?;
    Ok(())
}

/// Returns the user's upload with this id, unless it has expired.
pub(super) async fn find_by_id(db: &Db, owner_id: &str, id: &str) -> Result<Option<UploadRow>, sqlx::Error> {
    let db_row =
        sqlx::query("SELECT * FROM audio_uploads WHERE owner_id = $1 AND id = $2 AND expires_secs > $3")
            .bind(owner_id)
            .bind(id)
            .bind(clock::now_unix_secs())
            .fetch_optional(db)
            .await?;
    db_row.as_ref().map(upload_from_row).transpose()
}

/// Returns the user's upload with this id, expired or not: a complete upload does not expire while
/// a task decodes it.
pub(super) async fn find_by_id_even_expired(
    db: &Db,
    owner_id: &str,
    id: &str,
) -> Result<Option<UploadRow>, sqlx::Error> {
    let db_row = sqlx::query("SELECT * FROM audio_uploads WHERE owner_id = $1 AND id = $2")
        .bind(owner_id)
        .bind(id)
        .fetch_optional(db)
        .await?;
    db_row.as_ref().map(upload_from_row).transpose()
}

/// Returns incomplete uploads of a user. Those that expire last come first.
///
/// # Errors
/// 400 `bad_cursor` if the position comes from another list, or an error if the query fails.
pub(super) async fn read_page(
    db: &Db,
    owner_id: &str,
    after: Option<&Position>,
    limit: u32,
) -> ApiResult<Vec<UploadRow>> {
    let expires_secs = match after.map(|position| position.time.parse::<i64>()) {
        None => i64::MAX,
        Some(Ok(expires_secs)) => expires_secs,
        Some(Err(_)) => {
            return Err(ApiError::bad_request(
                "bad_cursor",
                "`cursor` does not come from this list; request the first page without it.",
            ));
        }
    };
    let db_rows = sqlx::query(
        "SELECT * FROM audio_uploads WHERE owner_id = $1 AND state = 'receiving' AND expires_secs > $2 \
         AND (expires_secs < $3 OR (expires_secs = $3 AND id > $4)) \
         ORDER BY expires_secs DESC, id LIMIT $5",
    )
    .bind(owner_id)
    .bind(clock::now_unix_secs())
    .bind(expires_secs)
    .bind(after.map(|position| position.id.as_str()).unwrap_or_default())
    .bind(i64::from(limit))
    .fetch_all(db)
    .await?;
    Ok(db_rows.iter().map(upload_from_row).collect::<Result<_, _>>()?)
}

/// Returns the number of incomplete uploads of a user.
pub(super) async fn count_unfinished(db: &Db, owner_id: &str) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar("SELECT COUNT(*) FROM audio_uploads WHERE owner_id = $1 AND state = 'receiving'")
        .bind(owner_id)
        .fetch_one(db)
        .await
}

/// Returns all uploads that are still to be decoded.
pub(super) async fn read_uploads_to_decode(db: &Db) -> Result<Vec<UploadRow>, sqlx::Error> {
    let db_rows = sqlx::query("SELECT * FROM audio_uploads WHERE state = 'decoding'").fetch_all(db).await?;
    db_rows.iter().map(upload_from_row).collect()
}

/// Stores the length of an upload whose length was deferred.
pub(super) async fn set_length(db: &Db, id: &str, length_bytes: u64) -> Result<(), sqlx::Error> {
    sqlx::query("UPDATE audio_uploads SET length_bytes = $1, is_length_deferred = 0 WHERE id = $2")
        .bind(to_i64(length_bytes))
        .bind(id)
        .execute(db)
        .await?;
    Ok(())
}

/// Stores the offset and the expiry time.
pub(super) async fn set_offset(
    db: &Db,
    id: &str,
    offset_bytes: u64,
    expires_secs: i64,
) -> Result<(), sqlx::Error> {
    sqlx::query("UPDATE audio_uploads SET offset_bytes = $1, expires_secs = $2 WHERE id = $3")
        .bind(to_i64(offset_bytes))
        .bind(expires_secs)
        .bind(id)
        .execute(db)
        .await?;
    Ok(())
}

/// Stores the state of an upload and the id of its audio file.
pub(super) async fn set_state(
    db: &Db,
    id: &str,
    state: UploadState,
    file_id: Option<&str>,
) -> Result<(), sqlx::Error> {
    sqlx::query("UPDATE audio_uploads SET state = $1, file_id = $2 WHERE id = $3")
        .bind(state.as_str())
        .bind(file_id)
        .bind(id)
        .execute(db)
        .await?;
    Ok(())
}

/// Stores which task decodes an upload.
pub(super) async fn set_task(db: &Db, id: &str, task_id: &str) -> Result<(), sqlx::Error> {
    sqlx::query("UPDATE audio_uploads SET task_id = $1 WHERE id = $2")
        .bind(task_id)
        .bind(id)
        .execute(db)
        .await?;
    Ok(())
}

/// Leases an upload to a process, or extends its lease. Returns false while another process has a
/// lease. A lease that ends more than twice `lease_ms` from now is ignored, because it means that
/// the clock was set back.
pub(super) async fn take_lease(db: &Db, id: &str, process: &str, lease_ms: i64) -> Result<bool, sqlx::Error> {
    let now_ms = clock::now_unix_ms();
    let query_result = sqlx::query(
        "UPDATE audio_uploads SET held_by = $1, held_until_ms = $2 \
         WHERE id = $3 AND (held_by = $1 OR held_until_ms < $4 OR held_until_ms > $5)",
    )
    .bind(process)
    .bind(now_ms + lease_ms)
    .bind(id)
    .bind(now_ms)
    .bind(now_ms + 2 * lease_ms)
    .execute(db)
    .await?;
    Ok(query_result.rows_affected() > 0)
}

/// Releases a lease.
pub(super) async fn release_lease(db: &Db, id: &str, process: &str) -> Result<(), sqlx::Error> {
    sqlx::query("UPDATE audio_uploads SET held_until_ms = 0 WHERE id = $1 AND held_by = $2")
        .bind(id)
        .bind(process)
        .execute(db)
        .await?;
    Ok(())
}

/// Removes an upload.
pub(super) async fn delete(db: &Db, id: &str) -> Result<(), sqlx::Error> {
    sqlx::query("DELETE FROM audio_uploads WHERE id = $1").bind(id).execute(db).await?;
    Ok(())
}

/// Returns ids and offsets of all uploads whose bytes are still needed.
pub(in crate::audio) async fn read_part_offsets(db: &Db) -> Result<Vec<(String, u64)>, sqlx::Error> {
    let db_rows =
        sqlx::query("SELECT id, offset_bytes FROM audio_uploads WHERE state IN ('receiving', 'decoding')")
            .fetch_all(db)
            .await?;
    db_rows
        .iter()
        .map(|db_row| {
            let offset_bytes = db_row.try_get::<i64, _>("offset_bytes")?;
            Ok((db_row.try_get("id")?, u64::try_from(offset_bytes).unwrap_or_default()))
        })
        .collect()
}

/// Deletes the rows of expired uploads, unless a task decodes them. Returns their ids.
pub(super) async fn delete_expired(db: &Db, now_secs: i64) -> Result<Vec<String>, sqlx::Error> {
    sqlx::query_scalar(
        "DELETE FROM audio_uploads WHERE expires_secs <= $1 AND (state <> 'decoding' OR NOT EXISTS \
         (SELECT 1 FROM tasks t WHERE t.id = audio_uploads.task_id AND t.state IN ('queued', 'running'))) \
         RETURNING id",
    )
    .bind(now_secs)
    .fetch_all(db)
    .await
}
