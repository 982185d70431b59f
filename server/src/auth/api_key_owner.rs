//! The account that an API key belongs to.

use super::secrets;
use super::store::{UserRow, keys};
use crate::clock;
use crate::db::store_best_effort;
use crate::error::{ApiError, ApiResult};
use crate::state::AppState;

/// Prefix of every key. It distinguishes keys from tokens, and lets scanners find leaked keys.
pub(super) const KEY_PREFIX: &str = "sfk_";

/// Minimum interval between updates of `last_used_at`, in seconds.
const USE_RECORDED_EVERY_SECS: i64 = 60;

/// Returns the account that owns a key.
///
/// # Errors
/// 401 `api_key_invalid` if the key is unknown or its owner is disabled.
pub(super) async fn find_owner(state: &AppState, api_key: &str) -> ApiResult<UserRow> {
    let owned_key = keys::find(&state.db, &secrets::sha256(api_key))
        .await?
        .filter(|owned_key| !owned_key.owner.is_disabled);
    let owned_key = owned_key.ok_or_else(invalid_key_error)?;
    let recently = clock::text_in(-USE_RECORDED_EVERY_SECS);
    if owned_key.last_used_at.is_none_or(|used_at| used_at < recently) {
        store_best_effort("the use of an API key", keys::set_last_used(&state.db, &owned_key.key_id)).await;
    }
    Ok(owned_key.owner)
}

/// Returns the error for an unknown or deleted key, and for a key of a disabled account.
pub(super) fn invalid_key_error() -> ApiError {
    ApiError::Unauthorized {
        code: "api_key_invalid",
        detail: "The API key is unknown, was deleted, or belongs to a disabled account; use another one."
            .to_owned(),
    }
}
