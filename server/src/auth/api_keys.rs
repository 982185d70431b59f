//! API keys. With them, scripts act as the key's owner without a password.

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::api_key_owner::KEY_PREFIX;
use super::secrets;
use super::store::keys::{self, InsertOutcome, KeyRow, NewKey};
use super::user::{LoggedIn, ended_token_error};
use crate::audit::{self, Action};
use crate::error::{ApiError, ApiResult, Problem};
use crate::extract::{Json, Path, Query};
use crate::paging::{Page, PageQuery};
use crate::state::AppState;

/// Number of a key's first characters that are stored, so that its owner can recognize it.
const HINT_CHARS: usize = 8;

/// Maximum length of a key's name, in characters.
const NAME_MAX_CHARS: usize = 64;

/// An API key, without the key itself.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ApiKey {
    /// Id, a UUID.
    id: String,
    /// Name that the owner chose.
    name: String,
    /// First characters of the key.
    hint: String,
    /// When the key was created, RFC 3339.
    created_at: String,
    /// When the key was last used, to the minute, RFC 3339; null if never.
    last_used_at: Option<String>,
}

impl From<KeyRow> for ApiKey {
    fn from(key_row: KeyRow) -> Self {
        let KeyRow { id, name, hint, created_at, last_used_at } = key_row;
        Self { id, name, hint, created_at, last_used_at }
    }
}

/// The caller's API keys.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ApiKeyList {
    /// The keys, the newest first.
    items: Vec<ApiKey>,
    /// Cursor of the next page; null on the last page.
    next_cursor: Option<String>,
    /// Maximum number of keys of an account.
    most: u64,
}

/// A key to create.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewApiKey {
    /// Name of the key, 1 to 64 characters, such as that of the script that will use it.
    #[schema(min_length = 1, max_length = 64)]
    name: String,
}

/// A new key.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct MadeApiKey {
    /// The key: send it as `Authorization: Bearer <key>`. It is never shown again.
    key: String,
    /// Properties of the key that are stored.
    #[serde(flatten)]
    about: ApiKey,
}

/// Lists the caller's API keys, the newest first.
#[utoipa::path(get, path = "/auth/api-keys", tag = "auth", security(("bearer" = ["log_in"])), params(PageQuery),
    responses((status = 200, body = ApiKeyList)))]
pub(super) async fn list(
    State(state): State<AppState>,
    LoggedIn(user): LoggedIn,
    Query(query): Query<PageQuery>,
) -> ApiResult<Json<ApiKeyList>> {
    let api_keys = keys::read_of_user(&state.db, &user.id).await?.into_iter().map(ApiKey::from).collect();
    let Page { items, next_cursor } =
        Page::of_whole(api_keys, &query, |api_key: &ApiKey| api_key.id.clone())?;
    Ok(Json(ApiKeyList { items, next_cursor, most: state.config.accounts.api_keys_max }))
}

/// Creates an API key. With it, a script acts as the key's owner, but may not manage accounts,
/// passwords or keys.
#[utoipa::path(post, path = "/auth/api-keys", tag = "auth", security(("bearer" = ["log_in"])), request_body = NewApiKey,
    responses((status = 201, body = MadeApiKey),
        (status = 409, description = "`too_many_api_keys`", body = Problem,
            content_type = "application/problem+json")))]
pub(super) async fn create(
    State(state): State<AppState>,
    LoggedIn(user): LoggedIn,
    Json(request): Json<NewApiKey>,
) -> ApiResult<(StatusCode, Json<MadeApiKey>)> {
    let name = clean_name(&request.name)?;
    let secret_key = secrets::generate(KEY_PREFIX)?;
    let sha256 = secrets::sha256(&secret_key);
    let new = NewKey { name, sha256: &sha256, hint: secret_key.get(..HINT_CHARS).unwrap_or_default() };
    let max_keys = state.config.accounts.api_keys_max;
    let max = i64::try_from(max_keys).unwrap_or(i64::MAX);
    let key_row = match keys::insert(&state.db, &user.acting(), &new, max).await? {
        InsertOutcome::Stored(key_row) => key_row,
        InsertOutcome::TooMany => {
            return Err(ApiError::Conflict {
                code: "too_many_api_keys",
                detail: format!(
                    "An account may have at most {max_keys} API keys (SF_API_KEYS_MAX); delete one that you do not use."
                ),
            });
        }
        InsertOutcome::AccessEnded => return Err(ended_token_error()),
    };
    audit::record(&state.db, &user.who(), Action::ApiKeyCreated, name, &key_row.hint).await;
    Ok((StatusCode::CREATED, Json(MadeApiKey { key: secret_key, about: key_row.into() })))
}

fn clean_name(name: &str) -> ApiResult<&str> {
    let name = name.trim();
    let chars = name.chars().count();
    if (1..=NAME_MAX_CHARS).contains(&chars) && !name.chars().any(char::is_control) {
        return Ok(name);
    }
    Err(ApiError::bad_request(
        "bad_name",
        format!(
            "The name of a key must have 1 to {NAME_MAX_CHARS} characters, and no control characters; this one has \
             {chars} characters."
        ),
    ))
}

/// Deletes one of the caller's API keys. It becomes invalid immediately.
#[utoipa::path(delete, path = "/auth/api-keys/{id}", tag = "auth", security(("bearer" = ["log_in"])), params(("id", description = "Id of the key")),
    responses((status = 204, description = "Deleted")))]
pub(super) async fn delete(
    State(state): State<AppState>,
    LoggedIn(user): LoggedIn,
    Path(id): Path<String>,
) -> ApiResult<StatusCode> {
    let name = keys::delete(&state.db, &user.id, &id).await?;
    let name = name.ok_or_else(|| ApiError::not_found("API key", &id))?;
    audit::record(&state.db, &user.who(), Action::ApiKeyDeleted, &name, "").await;
    Ok(StatusCode::NO_CONTENT)
}
