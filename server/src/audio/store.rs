//! Audio files and stored audio in the database.
//!
//! Every query for files filters by owner, so other users' files are reported as not found.

use std::collections::HashSet;

use sqlx::Row as _;
use sqlx::any::AnyRow;

use super::AudioFile;
use super::decode::Report;
use super::search_key::search_key;
use crate::clock;
use crate::db::Db;
use crate::error::{ApiError, ApiResult};
use crate::paging::{Position, contains_pattern};
use crate::state::AppState;

/// Returns the user's file with this id, or a 404.
pub(super) async fn find(state: &AppState, owner_id: &str, id: &str) -> ApiResult<StoredFile> {
    find_by_id(&state.db, owner_id, id).await?.ok_or_else(|| ApiError::not_found("audio file", id))
}

/// Stored audio: one audio content (see [`super`]) with its decoded copy and its peaks.
#[derive(Debug, Clone)]
pub(super) struct Content {
    pub(super) sha256: String,
    /// Size of the original file, in bytes.
    pub(super) size_bytes: u64,
    /// Size of the decoded copy, in bytes.
    pub(super) samples_bytes: u64,
    /// Size of the peaks, in bytes.
    pub(super) peaks_bytes: u64,
    /// SHA-256 of the decoded copy and of the peaks, in hexadecimal. Empty if an older version of
    /// the service stored the audio, without these hashes.
    pub(super) samples_sha256: String,
    pub(super) peaks_sha256: String,
    /// Whether a check found the original missing or damaged.
    pub(super) is_original_damaged: bool,
    pub(super) report: Report,
}

impl Content {
    /// Whether an older version of the service stored the audio, without hashes of samples and
    /// peaks.
    pub(super) fn has_no_hashes(&self) -> bool {
        self.samples_sha256.is_empty() || self.peaks_sha256.is_empty()
    }

    /// Returns the size of the original, the decoded copy and the peaks in bytes, without copies at
    /// other rates.
    pub(super) fn stored_bytes(&self) -> u64 {
        self.size_bytes + self.samples_bytes + self.peaks_bytes
    }

    fn from_row(db_row: &AnyRow) -> Result<Self, sqlx::Error> {
        let warnings: String = db_row.try_get("warnings")?;
        Ok(Self {
            sha256: db_row.try_get("sha256")?,
            size_bytes: read_u64_column(db_row, "size_bytes")?,
            samples_bytes: read_u64_column(db_row, "samples_bytes")?,
            peaks_bytes: read_u64_column(db_row, "peaks_bytes")?,
            samples_sha256: db_row.try_get("samples_sha256")?,
            peaks_sha256: db_row.try_get("peaks_sha256")?,
            is_original_damaged: db_row.try_get::<i64, _>("original_damaged")? != 0,
            report: Report {
                container: db_row.try_get("container")?,
                codec: db_row.try_get("codec")?,
                sample_rate_hz: read_u32_column(db_row, "sample_rate_hz")?,
                source_channels: read_u32_column(db_row, "source_channels")?,
                channels: read_u32_column(db_row, "channels")?,
                frames: read_u64_column(db_row, "frames")?,
                warnings: warnings.lines().map(str::to_owned).collect(),
            },
        })
    }
}

fn read_u64_column(db_row: &AnyRow, column: &str) -> Result<u64, sqlx::Error> {
    db_row.try_get::<i64, _>(column).map(|value| u64::try_from(value).unwrap_or_default())
}

fn read_u32_column(db_row: &AnyRow, column: &str) -> Result<u32, sqlx::Error> {
    db_row.try_get::<i64, _>(column).map(|value| u32::try_from(value).unwrap_or_default())
}

pub(super) fn to_i64(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// A file and its stored audio.
#[derive(Debug, Clone)]
pub(super) struct StoredFile {
    pub(super) file: AudioFile,
    pub(super) content: Content,
}

/// The query for audio files, followed by `$clauses`.
macro_rules! select_files {
    ($clauses:literal) => {
        concat!(
            "SELECT f.id, f.name, f.created_at, c.*, CAST((SELECT COALESCE(SUM(r.size_bytes), 0) \
             FROM audio_renditions r WHERE r.sha256 = c.sha256) AS BIGINT) AS renditions_bytes \
             FROM audio_files f JOIN audio_contents c ON c.sha256 = f.sha256 ",
            $clauses
        )
    };
}

fn stored_from_row(db_row: &AnyRow) -> Result<StoredFile, sqlx::Error> {
    let content = Content::from_row(db_row)?;
    let (id, name): (String, String) = (db_row.try_get("id")?, db_row.try_get("name")?);
    let file = AudioFile::new(
        id,
        name,
        db_row.try_get("created_at")?,
        &content,
        read_u64_column(db_row, "renditions_bytes")?,
    );
    Ok(StoredFile { file, content })
}

/// Returns the ids of a user's files.
pub(crate) async fn ids(db: &Db, owner_id: &str) -> Result<HashSet<String>, sqlx::Error> {
    let db_rows = sqlx::query_scalar("SELECT id FROM audio_files WHERE owner_id = $1").bind(owner_id);
    Ok(db_rows.fetch_all(db).await?.into_iter().collect())
}

/// Returns the user's file with this id.
pub(super) async fn find_by_id(db: &Db, owner_id: &str, id: &str) -> Result<Option<StoredFile>, sqlx::Error> {
    let db_row = sqlx::query(select_files!("WHERE f.owner_id = $1 AND f.id = $2"))
        .bind(owner_id)
        .bind(id)
        .fetch_optional(db)
        .await?;
    with_tags(db, db_row.as_ref().map(stored_from_row).transpose()?).await
}

/// Returns the user's file with this hash.
pub(super) async fn find_by_content(
    db: &Db,
    owner_id: &str,
    sha256: &str,
) -> Result<Option<StoredFile>, sqlx::Error> {
    let db_row = sqlx::query(select_files!("WHERE f.owner_id = $1 AND f.sha256 = $2"))
        .bind(owner_id)
        .bind(sha256)
        .fetch_optional(db)
        .await?;
    with_tags(db, db_row.as_ref().map(stored_from_row).transpose()?).await
}

async fn with_tags(db: &Db, stored_file: Option<StoredFile>) -> Result<Option<StoredFile>, sqlx::Error> {
    let Some(mut stored_file) = stored_file else { return Ok(None) };
    stored_file.file.tags = read_tags(db, &stored_file.file.id).await?;
    Ok(Some(stored_file))
}

async fn read_tags(db: &Db, file_id: &str) -> Result<Vec<String>, sqlx::Error> {
    sqlx::query_scalar("SELECT tag FROM audio_tags WHERE file_id = $1 ORDER BY tag_key, tag")
        .bind(file_id)
        .fetch_all(db)
        .await
}

/// Returns the stored audio with this hash, regardless of which users have it.
pub(super) async fn find_content(db: &Db, sha256: &str) -> Result<Option<Content>, sqlx::Error> {
    let db_row =
        sqlx::query("SELECT * FROM audio_contents WHERE sha256 = $1").bind(sha256).fetch_optional(db).await?;
    db_row.as_ref().map(Content::from_row).transpose()
}

/// Stores a file and, if it is new, its stored audio. Returns false if the user already has a file
/// with the same bytes.
pub(super) async fn insert(
    db: &Db,
    owner_id: &str,
    name: &str,
    content: &Content,
) -> Result<bool, sqlx::Error> {
    let report = &content.report;
    let mut transaction = db.begin().await?;
    sqlx::query(
        "INSERT INTO audio_contents (sha256, container, codec, size_bytes, samples_bytes, peaks_bytes, \
         sample_rate_hz, source_channels, channels, frames, warnings, samples_sha256, peaks_sha256) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) ON CONFLICT (sha256) DO NOTHING",
    )
    .bind(&content.sha256)
    .bind(&report.container)
    .bind(&report.codec)
    .bind(to_i64(content.size_bytes))
    .bind(to_i64(content.samples_bytes))
    .bind(to_i64(content.peaks_bytes))
    .bind(i64::from(report.sample_rate_hz))
    .bind(i64::from(report.source_channels))
    .bind(i64::from(report.channels))
    .bind(to_i64(report.frames))
    .bind(report.warnings.join("\n"))
    .bind(&content.samples_sha256)
    .bind(&content.peaks_sha256)
    .execute(&mut *transaction)
    .await?;
    // A file that the user had deleted gets its old id again, because projects refer to it.
    let insert_result = sqlx::query(
        "INSERT INTO audio_files (id, owner_id, sha256, name, name_key, created_at) \
         VALUES (COALESCE((SELECT d.id FROM audio_deleted_files d WHERE d.owner_id = $2 AND d.sha256 = $3), $1), \
         $2, $3, $4, $5, $6) ON CONFLICT (owner_id, sha256) DO NOTHING",
    )
    .bind(uuid::Uuid::new_v4().to_string())
    .bind(owner_id)
    .bind(&content.sha256)
    .bind(name)
    .bind(search_key(name))
    .bind(clock::now_text())
    .execute(&mut *transaction)
    .await?;
    sqlx::query("DELETE FROM audio_deleted_files WHERE owner_id = $1 AND sha256 = $2")
        .bind(owner_id)
        .bind(&content.sha256)
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await?;
    Ok(insert_result.rows_affected() > 0)
}

/// Returns the stored analysis of stored audio, as JSON.
pub(super) async fn read_analysis(db: &Db, sha256: &str) -> Result<Option<String>, sqlx::Error> {
    let analysis_column: Option<Option<String>> =
        sqlx::query_scalar("SELECT analysis FROM audio_contents WHERE sha256 = $1")
            .bind(sha256)
            .fetch_optional(db)
            .await?;
    Ok(analysis_column.flatten())
}

/// Stores the analysis of stored audio.
pub(super) async fn set_analysis(db: &Db, sha256: &str, text: &str) -> Result<(), sqlx::Error> {
    sqlx::query("UPDATE audio_contents SET analysis = $1 WHERE sha256 = $2")
        .bind(text)
        .bind(sha256)
        .execute(db)
        .await?;
    Ok(())
}

/// Stores whether the original of stored audio is missing or damaged.
pub(super) async fn set_original_damaged(db: &Db, sha256: &str, is_damaged: bool) -> Result<(), sqlx::Error> {
    sqlx::query("UPDATE audio_contents SET original_damaged = $1 WHERE sha256 = $2")
        .bind(i64::from(is_damaged))
        .bind(sha256)
        .execute(db)
        .await?;
    Ok(())
}

/// Stores the result of decoding an intact original again.
pub(super) async fn set_decoded(db: &Db, content: &Content) -> Result<(), sqlx::Error> {
    sqlx::query(
        "UPDATE audio_contents SET samples_bytes = $1, peaks_bytes = $2, samples_sha256 = $3, peaks_sha256 = $4, \
         channels = $5, frames = $6, warnings = $7, original_damaged = 0 WHERE sha256 = $8",
    )
    .bind(to_i64(content.samples_bytes))
    .bind(to_i64(content.peaks_bytes))
    .bind(&content.samples_sha256)
    .bind(&content.peaks_sha256)
    .bind(i64::from(content.report.channels))
    .bind(to_i64(content.report.frames))
    .bind(content.report.warnings.join("\n"))
    .bind(&content.sha256)
    .execute(db)
    .await?;
    Ok(())
}

/// A copy of stored audio at another sample rate.
#[derive(Debug, Clone)]
pub(super) struct Rendition {
    /// SHA-256 of the original file, which identifies the stored audio.
    pub(super) sha256: String,
    pub(super) sample_rate_hz: u32,
    pub(super) size_bytes: u64,
    /// SHA-256 of the copy in hexadecimal. Empty if the copy was stored by an older version of the
    /// service, without it.
    pub(super) file_sha256: String,
}

/// Stores a copy at another rate.
pub(super) async fn insert_rendition(db: &Db, rendition: &Rendition) -> Result<(), sqlx::Error> {
    sqlx::query(
        "INSERT INTO audio_renditions (sha256, sample_rate_hz, size_bytes, file_sha256) VALUES ($1, $2, $3, $4) \
         ON CONFLICT (sha256, sample_rate_hz) DO UPDATE SET size_bytes = excluded.size_bytes, \
         file_sha256 = excluded.file_sha256",
    )
    .bind(&rendition.sha256)
    .bind(i64::from(rendition.sample_rate_hz))
    .bind(to_i64(rendition.size_bytes))
    .bind(&rendition.file_sha256)
    .execute(db)
    .await?;
    Ok(())
}

/// Deletes a copy at another rate.
pub(super) async fn delete_rendition(db: &Db, sha256: &str, sample_rate_hz: u32) -> Result<(), sqlx::Error> {
    sqlx::query("DELETE FROM audio_renditions WHERE sha256 = $1 AND sample_rate_hz = $2")
        .bind(sha256)
        .bind(i64::from(sample_rate_hz))
        .execute(db)
        .await?;
    Ok(())
}

/// Returns the copies at other sample rates of all stored audio that any user's file uses.
pub(super) async fn read_all_renditions(db: &Db) -> Result<Vec<Rendition>, sqlx::Error> {
    let db_rows = sqlx::query(
        "SELECT * FROM audio_renditions r WHERE EXISTS (SELECT 1 FROM audio_files f WHERE f.sha256 = r.sha256)",
    )
    .fetch_all(db)
    .await?;
    db_rows
        .iter()
        .map(|db_row| {
            Ok(Rendition {
                sha256: db_row.try_get("sha256")?,
                sample_rate_hz: read_u32_column(db_row, "sample_rate_hz")?,
                size_bytes: read_u64_column(db_row, "size_bytes")?,
                file_sha256: db_row.try_get("file_sha256")?,
            })
        })
        .collect()
}

/// Selects the files of a list.
#[derive(Debug, Default)]
pub(super) struct Filter {
    /// Part of the name, in the form of [`search_key`].
    pub(super) search: Option<String>,
    /// A tag that the file has, in the form of [`search_key`].
    pub(super) tag: Option<String>,
}

/// Returns files, the most recently uploaded first.
pub(super) async fn read_page(
    db: &Db,
    owner_id: &str,
    filter: &Filter,
    after: Option<&Position>,
    limit: u32,
) -> Result<Vec<AudioFile>, sqlx::Error> {
    let db_rows = sqlx::query(select_files!(
        "WHERE f.owner_id = $1 AND ($2 = '' OR f.name_key LIKE $2 ESCAPE '\\') \
         AND ($3 = '' OR EXISTS (SELECT 1 FROM audio_tags t WHERE t.file_id = f.id AND t.tag_key = $3)) \
         AND ($4 = '' OR f.created_at < $4 OR (f.created_at = $4 AND f.id > $5)) \
         ORDER BY f.created_at DESC, f.id LIMIT $6"
    ))
    .bind(owner_id)
    .bind(filter.search.as_deref().map(contains_pattern).unwrap_or_default())
    .bind(filter.tag.as_deref().unwrap_or_default())
    .bind(after.map(|position| position.time.as_str()).unwrap_or_default())
    .bind(after.map(|position| position.id.as_str()).unwrap_or_default())
    .bind(i64::from(limit))
    .fetch_all(db)
    .await?;
    let mut files = Vec::with_capacity(db_rows.len());
    for db_row in &db_rows {
        let mut file = stored_from_row(db_row)?.file;
        file.tags = read_tags(db, &file.id).await?;
        files.push(file);
    }
    Ok(files)
}

/// Sample rates in hertz.
pub(super) type Rates = Vec<u32>;

/// Returns the sample rates of the converted copies of stored audio.
pub(super) async fn read_rates(db: &Db, sha256: &str) -> Result<Rates, sqlx::Error> {
    let db_rows = sqlx::query("SELECT sample_rate_hz FROM audio_renditions WHERE sha256 = $1")
        .bind(sha256)
        .fetch_all(db)
        .await?;
    db_rows.iter().map(|db_row| read_u32_column(db_row, "sample_rate_hz")).collect()
}

/// Whether any user has a file with this hash.
pub(super) async fn has_any_file(db: &Db, sha256: &str) -> Result<bool, sqlx::Error> {
    let file_id = sqlx::query("SELECT id FROM audio_files WHERE sha256 = $1 LIMIT 1").bind(sha256);
    Ok(file_id.fetch_optional(db).await?.is_some())
}

/// Deletes stored audio if no file or deleted file refers to it. Returns whether it was deleted.
pub(super) async fn delete_unneeded(db: &Db, sha256: &str) -> Result<bool, sqlx::Error> {
    let query_result = sqlx::query(
        "DELETE FROM audio_contents WHERE sha256 = $1 \
         AND NOT EXISTS (SELECT 1 FROM audio_files f WHERE f.sha256 = $1) \
         AND NOT EXISTS (SELECT 1 FROM audio_deleted_files d WHERE d.sha256 = $1)",
    )
    .bind(sha256)
    .execute(db)
    .await?;
    Ok(query_result.rows_affected() > 0)
}

/// Deletes all stored audio that no file or deleted file refers to.
pub(super) async fn delete_unowned(db: &Db) -> Result<(), sqlx::Error> {
    sqlx::query(
        "DELETE FROM audio_contents WHERE NOT EXISTS \
         (SELECT 1 FROM audio_files f WHERE f.sha256 = audio_contents.sha256) AND NOT EXISTS \
         (SELECT 1 FROM audio_deleted_files d WHERE d.sha256 = audio_contents.sha256)",
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Returns all stored audio that any user's file uses.
pub(super) async fn read_contents(db: &Db) -> Result<Vec<Content>, sqlx::Error> {
    let db_rows = sqlx::query(
        "SELECT * FROM audio_contents c WHERE EXISTS (SELECT 1 FROM audio_files f WHERE f.sha256 = c.sha256)",
    )
    .fetch_all(db)
    .await?;
    db_rows.iter().map(Content::from_row).collect()
}

/// Replaces a file's tags. Returns false if there is no such file.
pub(super) async fn set_tags(
    db: &Db,
    owner_id: &str,
    id: &str,
    tags: &[String],
) -> Result<bool, sqlx::Error> {
    let mut transaction = db.begin().await?;
    // This update changes nothing. It locks the row, so that concurrent replacements of the tags
    // run one after the other.
    let lock_result = sqlx::query("UPDATE audio_files SET name = name WHERE owner_id = $1 AND id = $2")
        .bind(owner_id)
        .bind(id)
        .execute(&mut *transaction)
        .await?;
    if lock_result.rows_affected() == 0 {
        return Ok(false);
    }
    sqlx::query("DELETE FROM audio_tags WHERE file_id = $1").bind(id).execute(&mut *transaction).await?;
    for tag in tags {
        sqlx::query("INSERT INTO audio_tags (file_id, tag, tag_key) VALUES ($1, $2, $3)")
            .bind(id)
            .bind(tag)
            .bind(search_key(tag))
            .execute(&mut *transaction)
            .await?;
    }
    transaction.commit().await?;
    Ok(true)
}
