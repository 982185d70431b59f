//! Prompt templates in the database. Every statement selects by owner, so that users cannot reach
//! each other's templates.

use sqlx::Row as _;
use sqlx::any::AnyRow;

use super::queries::TemplateQuery;
use super::template_body::TemplateBody;
use super::{PromptTemplate, ROW_LIMITS, template};
use crate::clock;
use crate::db::{Db, begin_locked};
use crate::error::ApiResult;
use crate::paging::{Position, contains_pattern};

fn from_row(db_row: &AnyRow) -> Result<PromptTemplate, sqlx::Error> {
    let body: String = db_row.try_get("body")?;
    let keywords: String = db_row.try_get("keywords")?;
    Ok(PromptTemplate {
        id: db_row.try_get("id")?,
        title: db_row.try_get("title")?,
        variables: template::variables(&body),
        body,
        keywords: keywords.lines().map(str::to_owned).collect(),
        favourite: db_row.try_get::<i64, _>("favourite")? != 0,
        created_at: db_row.try_get("created_at")?,
        updated_at: db_row.try_get("updated_at")?,
    })
}

/// Returns the keywords in lower case, each between two newlines.
fn normalize_keywords(keywords: &[String]) -> String {
    format!("\n{}\n", keywords.join("\n").to_lowercase())
}

fn normalize_search_text(body: &TemplateBody) -> String {
    format!("{}\n{}\n{}", body.title, body.body, body.keywords.join("\n")).to_lowercase()
}

/// Stores a new template.
///
/// # Errors
/// 409 beyond [`LIMITS`], or an error if a query fails.
pub(super) async fn insert(db: &Db, owner_id: &str, body: &TemplateBody) -> ApiResult<PromptTemplate> {
    let mut transaction = begin_locked(db, &lock_name(owner_id)).await?;
    let db_row = sqlx::query(
        "INSERT INTO ai_presets (id, owner_id, title, body, keywords, keywords_key, search_key, favourite, \
         created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9) RETURNING *",
    )
    .bind(uuid::Uuid::new_v4().to_string())
    .bind(owner_id)
    .bind(&body.title)
    .bind(&body.body)
    .bind(body.keywords.join("\n"))
    .bind(normalize_keywords(&body.keywords))
    .bind(normalize_search_text(body))
    .bind(i64::from(body.favourite))
    .bind(clock::now_text())
    .fetch_one(&mut *transaction)
    .await?;
    ROW_LIMITS.commit(transaction, owner_id).await?;
    Ok(from_row(&db_row)?)
}

/// Returns the name of the lock for storing templates of a user.
fn lock_name(owner_id: &str) -> String {
    format!("AI presets {owner_id}")
}

/// Replaces a template. Returns `None` if it does not exist.
///
/// # Errors
/// 409 beyond [`LIMITS`], or an error if a query fails.
pub(super) async fn replace(
    db: &Db,
    owner_id: &str,
    id: &str,
    body: &TemplateBody,
) -> ApiResult<Option<PromptTemplate>> {
    let mut transaction = begin_locked(db, &lock_name(owner_id)).await?;
    let db_row = sqlx::query(
        "UPDATE ai_presets SET title = $1, body = $2, keywords = $3, keywords_key = $4, search_key = $5, \
         favourite = $6, updated_at = $7 WHERE owner_id = $8 AND id = $9 RETURNING *",
    )
    .bind(&body.title)
    .bind(&body.body)
    .bind(body.keywords.join("\n"))
    .bind(normalize_keywords(&body.keywords))
    .bind(normalize_search_text(body))
    .bind(i64::from(body.favourite))
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
    Ok(Some(from_row(&db_row)?))
}

/// Sets whether a template is a favourite. Returns `None` if the template does not exist.
pub(super) async fn set_favourite(
    db: &Db,
    owner_id: &str,
    id: &str,
    is_favourite: bool,
) -> Result<Option<PromptTemplate>, sqlx::Error> {
    let db_row =
        sqlx::query("UPDATE ai_presets SET favourite = $1 WHERE owner_id = $2 AND id = $3 RETURNING *")
            .bind(i64::from(is_favourite))
            .bind(owner_id)
            .bind(id)
            .fetch_optional(db)
            .await?;
    db_row.as_ref().map(from_row).transpose()
}

/// Returns the template with this id.
pub(super) async fn find_by_id(
    db: &Db,
    owner_id: &str,
    id: &str,
) -> Result<Option<PromptTemplate>, sqlx::Error> {
    let db_row = sqlx::query("SELECT * FROM ai_presets WHERE owner_id = $1 AND id = $2")
        .bind(owner_id)
        .bind(id)
        .fetch_optional(db)
        .await?;
    db_row.as_ref().map(from_row).transpose()
}

/// Returns at most `count` templates, the most recently created first.
pub(super) async fn read_page(
    db: &Db,
    owner_id: &str,
    query: &TemplateQuery,
    after: Option<&Position>,
    count: u32,
) -> Result<Vec<PromptTemplate>, sqlx::Error> {
    let normalize = |text: &Option<String>| {
        text.as_deref().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let keyword = normalize(&query.keyword).map(|text| contains_pattern(&format!("\n{text}\n")));
    let db_rows = sqlx::query(
        "SELECT * FROM ai_presets WHERE owner_id = $1 AND ($2 = '' OR keywords_key LIKE $2 ESCAPE '\\') \
         AND ($3 = '' OR search_key LIKE $3 ESCAPE '\\') AND ($4 = -1 OR favourite = $4) \
         AND ($5 = '' OR created_at < $5 OR (created_at = $5 AND id > $6)) \
         ORDER BY created_at DESC, id LIMIT $7",
    )
    .bind(owner_id)
    .bind(keyword.unwrap_or_default())
    .bind(normalize(&query.search).map(|text| contains_pattern(&text)).unwrap_or_default())
    .bind(query.favourite.map_or(-1, i64::from))
    .bind(after.map(|position| position.time.as_str()).unwrap_or_default())
    .bind(after.map(|position| position.id.as_str()).unwrap_or_default())
    .bind(i64::from(count))
    .fetch_all(db)
    .await?;
    db_rows.iter().map(from_row).collect()
}

/// Deletes a template. Returns false if it does not exist.
pub(super) async fn delete(db: &Db, owner_id: &str, id: &str) -> Result<bool, sqlx::Error> {
    let outcome = sqlx::query("DELETE FROM ai_presets WHERE owner_id = $1 AND id = $2")
        .bind(owner_id)
        .bind(id)
        .execute(db)
        .await?;
    Ok(outcome.rows_affected() > 0)
}
