//! Presets of users in the database. Every statement selects by owner, so users cannot reach each
//! other's presets.

use schemas::json::JsonText;
use sqlx::Row as _;
use sqlx::any::AnyRow;

use super::preset_body::PresetBody;
use super::queries::PresetQuery;
use super::{PresetKind, PresetSource, PresetSummary, ROW_LIMITS, StoredPreset};
use crate::clock;
use crate::db::{Db, begin_locked};
use crate::error::ApiResult;
use crate::paging::{Position, contains_pattern};

fn parse_kind(text: &str) -> PresetKind {
    match text {
        "instrument" => PresetKind::Instrument,
        "export" => PresetKind::Export,
        _ => PresetKind::EffectChain,
    }
}

fn summary_from_row(db_row: &AnyRow) -> Result<PresetSummary, sqlx::Error> {
    Ok(PresetSummary {
        id: db_row.try_get("id")?,
        kind: parse_kind(&db_row.try_get::<String, _>("kind")?),
        source: PresetSource::User,
        name: db_row.try_get("name")?,
        category: db_row.try_get("category")?,
        description: db_row.try_get("description")?,
        created_at: db_row.try_get("created_at")?,
        updated_at: db_row.try_get("updated_at")?,
    })
}

fn preset_from_row(db_row: &AnyRow) -> Result<StoredPreset, sqlx::Error> {
    let content: String = db_row.try_get("content")?;
    let content = JsonText::read(content.as_bytes()).map_err(|error| sqlx::Error::Decode(error.into()))?;
    Ok(StoredPreset { summary: summary_from_row(db_row)?, content })
}

fn normalize_search_text(body: &PresetBody) -> String {
    format!("{}\n{}\n{}", body.name, body.category, body.description).to_lowercase()
}

/// Stores a new preset.
///
/// # Errors
/// 409 beyond [`LIMITS`], or an error if a query fails.
pub(super) async fn insert(db: &Db, owner_id: &str, body: &PresetBody) -> ApiResult<StoredPreset> {
    let mut transaction = begin_locked(db, &lock_name(owner_id)).await?;
    let db_row = sqlx::query(
        "INSERT INTO presets (id, owner_id, kind, name, category, description, search_key, content, created_at, \
         updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9) RETURNING *",
    )
    .bind(uuid::Uuid::new_v4().to_string())
    .bind(owner_id)
    .bind(body.kind.as_str())
    .bind(&body.name)
    .bind(&body.category)
    .bind(&body.description)
    .bind(normalize_search_text(body))
    .bind(body.content.as_str())
    .bind(clock::now_text())
    .fetch_one(&mut *transaction)
    .await?;
    ROW_LIMITS.commit(transaction, owner_id).await?;
    Ok(preset_from_row(&db_row)?)
}

/// Returns the name of the lock for storing presets of a user.
fn lock_name(owner_id: &str) -> String {
    format!("presets {owner_id}")
}

/// Replaces a preset. Returns `None` if it does not exist.
///
/// # Errors
/// 409 beyond [`LIMITS`], or an error if a query fails.
pub(super) async fn replace(
    db: &Db,
    owner_id: &str,
    id: &str,
    body: &PresetBody,
) -> ApiResult<Option<StoredPreset>> {
    let mut transaction = begin_locked(db, &lock_name(owner_id)).await?;
    let db_row = sqlx::query(
        "UPDATE presets SET kind = $1, name = $2, category = $3, description = $4, search_key = $5, content = $6, \
         updated_at = $7 WHERE owner_id = $8 AND id = $9 RETURNING *",
    )
    .bind(body.kind.as_str())
    .bind(&body.name)
    .bind(&body.category)
    .bind(&body.description)
    .bind(normalize_search_text(body))
    .bind(body.content.as_str())
    .bind(clock::now_text())
    .bind(owner_id)
    .bind(id)
    .fetch_optional(&mut *transaction)
    .await?;
    let Some(db_row) = db_row else {
        transaction.rollback().await?;
        return Ok(None);
    };
    ROW_LIMITS.commit(transaction, owner_id).await?;
    Ok(Some(preset_from_row(&db_row)?))
}

/// Returns the preset with this id.
pub(super) async fn find_by_id(
    db: &Db,
    owner_id: &str,
    id: &str,
) -> Result<Option<StoredPreset>, sqlx::Error> {
    let db_row = sqlx::query("SELECT * FROM presets WHERE owner_id = $1 AND id = $2")
        .bind(owner_id)
        .bind(id)
        .fetch_optional(db)
        .await?;
    db_row.as_ref().map(preset_from_row).transpose()
}

/// Returns at most `count` presets by the time when they were stored, newest first.
pub(super) async fn read_page(
    db: &Db,
    owner_id: &str,
    query: &PresetQuery,
    after: Option<&Position>,
    count: u32,
) -> Result<Vec<PresetSummary>, sqlx::Error> {
    let db_rows = sqlx::query(
        "SELECT id, kind, name, category, description, created_at, updated_at \
         FROM presets WHERE owner_id = $1 AND ($2 = '' OR kind = $2) \
         AND ($3 = '' OR search_key LIKE $3 ESCAPE '\\') AND ($4 = '' OR search_key LIKE $4 ESCAPE '\\') \
         AND ($5 = '' OR created_at < $5 OR (created_at = $5 AND id > $6)) \
         ORDER BY created_at DESC, id LIMIT $7",
    )
    .bind(owner_id)
    .bind(query.kind.map(PresetKind::as_str).unwrap_or_default())
    .bind(query.search_key().map(|text| contains_pattern(&text)).unwrap_or_default())
    // `search_key` consists of name, category and description. Each is on a separate line, because
    // none may contain newlines.
    .bind(query.category_key().map(|text| contains_pattern(&format!("\n{text}\n"))).unwrap_or_default())
    .bind(after.map(|position| position.time.as_str()).unwrap_or_default())
    .bind(after.map(|position| position.id.as_str()).unwrap_or_default())
    .bind(i64::from(count))
    .fetch_all(db)
    .await?;
    db_rows.iter().map(summary_from_row).collect()
}

/// Deletes a preset. Returns false if it does not exist.
pub(super) async fn delete(db: &Db, owner_id: &str, id: &str) -> Result<bool, sqlx::Error> {
    let outcome = sqlx::query("DELETE FROM presets WHERE owner_id = $1 AND id = $2")
        .bind(owner_id)
        .bind(id)
        .execute(db)
        .await?;
    Ok(outcome.rows_affected() > 0)
}
