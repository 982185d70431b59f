//! The account that an API key belongs to.

use super::secrets;
use super::store::{UserRow, keys};
use crate::clock;
use crate::db::note;
use crate::error::{ApiError, ApiResult};
use crate::state::AppState;

/// How every key begins, so that it is told from a token, and found where it should not be.
pub(super) const KEY_PREFIX: &str = "sfk_";

/// How exact `last_used_at` is, in seconds: so often at most it is written.
const USED_EVERY_SECS: i64 = 60;

/// Whose key this is.
///
/// # Errors
/// 401 `api_key_invalid` for an unknown key, and one whose owner is switched off.
pub(super) async fn owner(state: &AppState, key: &str) -> ApiResult<UserRow> {
    let found = keys::find(&state.db, &secrets::sha256(key)).await?.filter(|found| !found.owner.disabled);
    let found = found.ok_or_else(|| ApiError::Unauthorized {
        code: "api_key_invalid",
        detail: "The API key is not known, or was deleted; make another one.".to_owned(),
    })?;
    let fresh = clock::text_in(-USED_EVERY_SECS);
    if found.last_used_at.is_none_or(|used_at| used_at < fresh) {
        note("the use of an API key", keys::touch(&state.db, &found.key_id)).await;
    }
    Ok(found.owner)
}
