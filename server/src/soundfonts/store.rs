//! SoundFonts of users in the database.
//!
//! Every statement for a user selects by owner, so it never finds SoundFonts of other users.

use std::collections::HashMap;

use sqlx::Row as _;
use sqlx::any::AnyRow;

use super::{BankFile, Preset, SkippedParts, SoundFont, SoundFontFormat, SoundFontSource, SoundFontSummary};
use crate::clock;
use crate::db::Db;
use crate::error::{ApiError, ApiResult};
use crate::storage::{BlobKey, FileKind};

/// The stored files of uploaded SoundFonts.
pub(crate) const FILE_KIND: FileKind = FileKind { folder: "soundfonts", extensions: &["sf2", "sf3"] };

/// A SoundFont that a user has uploaded.
#[derive(Debug, Clone)]
pub(super) struct UploadedBank {
    pub(super) soundfont_id: String,
    pub(super) name: String,
    pub(super) content_id: ContentId,
    pub(super) format: SoundFontFormat,
    pub(super) presets: Vec<Preset>,
    pub(super) skipped_parts: SkippedParts,
}

/// Identity of the bytes of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ContentId {
    /// SHA-256 of the bytes in hexadecimal.
    pub(super) sha256: String,
    pub(super) size_bytes: u64,
}

/// Storage that a user's SoundFonts use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SoundFontUsage {
    /// Number of files. Files with identical bytes count only once.
    pub(crate) files: u64,
    /// Total size of these files in bytes.
    pub(crate) bytes: u64,
}

/// Returns the key of the stored file with this hash.
pub(super) fn blob_key_of(sha256: &str, format: SoundFontFormat) -> ApiResult<BlobKey> {
    BlobKey::new(FILE_KIND.folder, sha256, format.extension()).map_err(ApiError::internal)
}

impl UploadedBank {
    /// Returns the key of the upload's stored file.
    pub(super) fn blob_key(&self) -> ApiResult<BlobKey> {
        blob_key_of(&self.content_id.sha256, self.format)
    }

    /// Returns the upload's entry in the catalogue of its owner.
    pub(super) fn soundfont(&self, owner_id: &str) -> ApiResult<SoundFont> {
        Ok(SoundFont {
            summary: SoundFontSummary {
                soundfont_id: self.soundfont_id.clone(),
                name: self.name.clone(),
                source: SoundFontSource::Upload,
                format: self.format,
                size_bytes: self.content_id.size_bytes,
                content_hash: Some(self.content_id.sha256.clone()),
                default: false,
                usable: true,
                problem: None,
                skipped: self.skipped_parts.clone(),
                others: Vec::new(),
            },
            presets: self.presets.clone(),
            file: BankFile::Stored { blob_key: self.blob_key()?, owner_id: owner_id.into() },
        })
    }

    fn from_row(db_row: &AnyRow) -> Result<Self, sqlx::Error> {
        let (presets, skipped_parts): (String, String) =
            (db_row.try_get("presets")?, db_row.try_get("skipped")?);
        let decode_error = |error: serde_json::Error| sqlx::Error::Decode(error.into());
        Ok(Self {
            soundfont_id: db_row.try_get("soundfont_id")?,
            name: db_row.try_get("name")?,
            content_id: ContentId::from_row(db_row)?,
            format: read_format(db_row)?,
            presets: serde_json::from_str(&presets).map_err(decode_error)?,
            skipped_parts: serde_json::from_str(&skipped_parts).map_err(decode_error)?,
        })
    }
}

impl ContentId {
    fn from_row(db_row: &AnyRow) -> Result<Self, sqlx::Error> {
        Ok(Self { sha256: db_row.try_get("sha256")?, size_bytes: read_u64_column(db_row, "size_bytes")? })
    }
}

fn read_format(db_row: &AnyRow) -> Result<SoundFontFormat, sqlx::Error> {
    let text: String = db_row.try_get("format")?;
    SoundFontFormat::of_extension(&text).ok_or_else(|| {
        sqlx::Error::Decode(format!("`{text}` is not a SoundFont format; expected sf2 or sf3").into())
    })
}

fn read_u64_column(db_row: &AnyRow, column: &str) -> Result<u64, sqlx::Error> {
    db_row.try_get::<i64, _>(column).map(|value| u64::try_from(value).unwrap_or_default())
}

/// Returns a user's SoundFonts sorted by id, with SF2 before SF3.
pub(super) async fn read_of_owner(db: &Db, owner_id: &str) -> Result<Vec<UploadedBank>, sqlx::Error> {
    let db_rows =
        sqlx::query("SELECT * FROM soundfonts WHERE owner_id = $1").bind(owner_id).fetch_all(db).await?;
    let mut uploads = db_rows.iter().map(UploadedBank::from_row).collect::<Result<Vec<_>, _>>()?;
    // The database does not sort the rows, because it may use the sorting order of a language.
    uploads.sort_by(|a, b| (&a.soundfont_id, a.format).cmp(&(&b.soundfont_id, b.format)));
    Ok(uploads)
}

/// Stores a SoundFont of a user. Replaces the one with the same id and format.
pub(super) async fn insert(db: &Db, owner_id: &str, upload: &UploadedBank) -> Result<(), sqlx::Error> {
    let encode_error = |error: serde_json::Error| sqlx::Error::Encode(error.into());
    sqlx::query(
        "INSERT INTO soundfonts (owner_id, soundfont_id, format, sha256, size_bytes, name, presets, skipped, \
         uploaded_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) \
         ON CONFLICT (owner_id, soundfont_id, format) DO UPDATE SET sha256 = excluded.sha256, \
         size_bytes = excluded.size_bytes, name = excluded.name, presets = excluded.presets, \
         skipped = excluded.skipped, uploaded_at = excluded.uploaded_at",
    )
    .bind(owner_id)
    .bind(&upload.soundfont_id)
    .bind(upload.format.extension())
    .bind(&upload.content_id.sha256)
    .bind(i64::try_from(upload.content_id.size_bytes).unwrap_or(i64::MAX))
    .bind(&upload.name)
    .bind(serde_json::to_string(&upload.presets).map_err(encode_error)?)
    .bind(serde_json::to_string(&upload.skipped_parts).map_err(encode_error)?)
    .bind(clock::now_text())
    .execute(db)
    .await?;
    Ok(())
}

/// Deletes a user's uploads with an id. Returns the hash and the format of each.
pub(super) async fn delete(
    db: &Db,
    owner_id: &str,
    soundfont_id: &str,
) -> Result<Vec<(String, SoundFontFormat)>, sqlx::Error> {
    let db_rows = sqlx::query(
        "DELETE FROM soundfonts WHERE owner_id = $1 AND soundfont_id = $2 RETURNING sha256, format",
    )
    .bind(owner_id)
    .bind(soundfont_id)
    .fetch_all(db)
    .await?;
    db_rows.iter().map(|db_row| Ok((db_row.try_get("sha256")?, read_format(db_row)?))).collect()
}

/// Whether a SoundFont of any user has this hash.
pub(super) async fn is_used(db: &Db, sha256: &str) -> Result<bool, sqlx::Error> {
    let query = sqlx::query("SELECT sha256 FROM soundfonts WHERE sha256 = $1 LIMIT 1").bind(sha256);
    Ok(query.fetch_optional(db).await?.is_some())
}

/// Returns all stored files. Files with identical bytes are returned only once.
pub(super) async fn read_contents(db: &Db) -> Result<Vec<(ContentId, SoundFontFormat)>, sqlx::Error> {
    let db_rows =
        sqlx::query("SELECT DISTINCT sha256, format, size_bytes FROM soundfonts").fetch_all(db).await?;
    db_rows.iter().map(|db_row| Ok((ContentId::from_row(db_row)?, read_format(db_row)?))).collect()
}

/// Returns the total size of a user's SoundFonts in bytes. Files with identical bytes count only
/// once.
///
/// # Errors
/// The query fails.
pub(crate) async fn read_used_bytes(db: &Db, owner_id: &str) -> Result<u64, sqlx::Error> {
    let db_row = sqlx::query(
        "SELECT CAST(COALESCE(SUM(size_bytes), 0) AS BIGINT) AS used \
         FROM (SELECT DISTINCT sha256, size_bytes FROM soundfonts WHERE owner_id = $1) AS contents",
    )
    .bind(owner_id)
    .fetch_one(db)
    .await?;
    read_u64_column(&db_row, "used")
}

/// Returns the storage that SoundFonts use, by user id. A file that several users have counts for
/// each of them.
///
/// # Errors
/// The query fails.
pub(crate) async fn read_usage_of_all(db: &Db) -> ApiResult<HashMap<String, SoundFontUsage>> {
    let db_rows = sqlx::query(
        "SELECT owner_id, CAST(COUNT(*) AS BIGINT) AS files, CAST(SUM(size_bytes) AS BIGINT) AS used \
         FROM (SELECT DISTINCT owner_id, sha256, size_bytes FROM soundfonts) AS contents GROUP BY owner_id",
    )
    .fetch_all(db)
    .await?;
    let mut usage = HashMap::with_capacity(db_rows.len());
    for db_row in &db_rows {
        let user_usage = SoundFontUsage {
            files: read_u64_column(db_row, "files")?,
            bytes: read_u64_column(db_row, "used")?,
        };
        usage.insert(db_row.try_get("owner_id")?, user_usage);
    }
    Ok(usage)
}
