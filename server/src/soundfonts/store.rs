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
pub(crate) const FILES: FileKind = FileKind { folder: "soundfonts", extensions: &["sf2", "sf3"] };

/// A SoundFont that a user has uploaded.
#[derive(Debug, Clone)]
pub(super) struct UploadedBank {
    pub(super) soundfont_id: String,
    pub(super) name: String,
    pub(super) content: ContentId,
    pub(super) format: SoundFontFormat,
    pub(super) presets: Vec<Preset>,
    pub(super) skipped: SkippedParts,
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
pub(super) fn key(sha256: &str, format: SoundFontFormat) -> ApiResult<BlobKey> {
    BlobKey::new(FILES.folder, sha256, format.extension()).map_err(ApiError::internal)
}

impl UploadedBank {
    /// Returns the key of the upload's stored file.
    pub(super) fn key(&self) -> ApiResult<BlobKey> {
        key(&self.content.sha256, self.format)
    }

    /// Returns the upload's entry in the catalogue of its owner.
    pub(super) fn soundfont(&self, owner_id: &str) -> ApiResult<SoundFont> {
        Ok(SoundFont {
            summary: SoundFontSummary {
                soundfont_id: self.soundfont_id.clone(),
                name: self.name.clone(),
                source: SoundFontSource::Upload,
                format: self.format,
                size_bytes: self.content.size_bytes,
                content_hash: Some(self.content.sha256.clone()),
                default: false,
                usable: true,
                problem: None,
                skipped: self.skipped.clone(),
                others: Vec::new(),
            },
            presets: self.presets.clone(),
            file: BankFile::Stored { key: self.key()?, owner_id: owner_id.into() },
        })
    }

    fn from_row(row: &AnyRow) -> Result<Self, sqlx::Error> {
        let (presets, skipped): (String, String) = (row.try_get("presets")?, row.try_get("skipped")?);
        let decode_error = |error: serde_json::Error| sqlx::Error::Decode(error.into());
        Ok(Self {
            soundfont_id: row.try_get("soundfont_id")?,
            name: row.try_get("name")?,
            content: ContentId::from_row(row)?,
            format: format(row)?,
            presets: serde_json::from_str(&presets).map_err(decode_error)?,
            skipped: serde_json::from_str(&skipped).map_err(decode_error)?,
        })
    }
}

impl ContentId {
    fn from_row(row: &AnyRow) -> Result<Self, sqlx::Error> {
        Ok(Self { sha256: row.try_get("sha256")?, size_bytes: count(row, "size_bytes")? })
    }
}

fn format(row: &AnyRow) -> Result<SoundFontFormat, sqlx::Error> {
    let text: String = row.try_get("format")?;
    SoundFontFormat::of_extension(&text).ok_or_else(|| {
        sqlx::Error::Decode(format!("`{text}` is not a SoundFont format; expected sf2 or sf3").into())
    })
}

fn count(row: &AnyRow, column: &str) -> Result<u64, sqlx::Error> {
    row.try_get::<i64, _>(column).map(|value| u64::try_from(value).unwrap_or_default())
}

/// Returns a user's SoundFonts sorted by id, with SF2 before SF3.
pub(super) async fn of_owner(db: &Db, owner_id: &str) -> Result<Vec<UploadedBank>, sqlx::Error> {
    let rows =
        sqlx::query("SELECT * FROM soundfonts WHERE owner_id = $1").bind(owner_id).fetch_all(db).await?;
    let mut uploads = rows.iter().map(UploadedBank::from_row).collect::<Result<Vec<_>, _>>()?;
    // The database does not sort the rows, because it may use the sorting order of a language.
    uploads.sort_by(|a, b| (&a.soundfont_id, a.format).cmp(&(&b.soundfont_id, b.format)));
    Ok(uploads)
}

/// Stores a SoundFont of a user. Replaces the one with the same id and format.
pub(super) async fn put(db: &Db, owner_id: &str, upload: &UploadedBank) -> Result<(), sqlx::Error> {
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
    .bind(&upload.content.sha256)
    .bind(i64::try_from(upload.content.size_bytes).unwrap_or(i64::MAX))
    .bind(&upload.name)
    .bind(serde_json::to_string(&upload.presets).map_err(encode_error)?)
    .bind(serde_json::to_string(&upload.skipped).map_err(encode_error)?)
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
    let rows = sqlx::query(
        "DELETE FROM soundfonts WHERE owner_id = $1 AND soundfont_id = $2 RETURNING sha256, format",
    )
    .bind(owner_id)
    .bind(soundfont_id)
    .fetch_all(db)
    .await?;
    rows.iter().map(|row| Ok((row.try_get("sha256")?, format(row)?))).collect()
}

/// Whether a SoundFont of any user has this hash.
pub(super) async fn is_used(db: &Db, sha256: &str) -> Result<bool, sqlx::Error> {
    let query = sqlx::query("SELECT sha256 FROM soundfonts WHERE sha256 = $1 LIMIT 1").bind(sha256);
    Ok(query.fetch_optional(db).await?.is_some())
}

/// Returns all stored files. Files with identical bytes are returned only once.
pub(super) async fn contents(db: &Db) -> Result<Vec<(ContentId, SoundFontFormat)>, sqlx::Error> {
    let rows =
        sqlx::query("SELECT DISTINCT sha256, format, size_bytes FROM soundfonts").fetch_all(db).await?;
    rows.iter().map(|row| Ok((ContentId::from_row(row)?, format(row)?))).collect()
}

/// Returns the total size of a user's SoundFonts in bytes. Files with identical bytes count only
/// once.
///
/// # Errors
/// The query fails.
pub(crate) async fn used_bytes(db: &Db, owner_id: &str) -> Result<u64, sqlx::Error> {
    let row = sqlx::query(
        "SELECT CAST(COALESCE(SUM(size_bytes), 0) AS BIGINT) AS used \
         FROM (SELECT DISTINCT sha256, size_bytes FROM soundfonts WHERE owner_id = $1) AS contents",
    )
    .bind(owner_id)
    .fetch_one(db)
    .await?;
    count(&row, "used")
}

/// Returns the storage that SoundFonts use, by user id. A file that several users have counts for
/// each of them.
///
/// # Errors
/// The query fails.
pub(crate) async fn usage_of_all(db: &Db) -> ApiResult<HashMap<String, SoundFontUsage>> {
    let rows = sqlx::query(
        "SELECT owner_id, CAST(COUNT(*) AS BIGINT) AS files, CAST(SUM(size_bytes) AS BIGINT) AS used \
         FROM (SELECT DISTINCT owner_id, sha256, size_bytes FROM soundfonts) AS contents GROUP BY owner_id",
    )
    .fetch_all(db)
    .await?;
    let mut usage = HashMap::with_capacity(rows.len());
    for row in &rows {
        let user_usage = SoundFontUsage { files: count(row, "files")?, bytes: count(row, "used")? };
        usage.insert(row.try_get("owner_id")?, user_usage);
    }
    Ok(usage)
}
