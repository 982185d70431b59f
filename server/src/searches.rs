//! Limits searches in lists. A search reads all rows of its user, so without a limit, the searches
//! of one user could take all connections to the database.

use std::future::Future;

use serde::de::{Deserialize, Deserializer, Error as _};
use tokio::runtime::Handle;

use crate::error::ApiResult;
use crate::permits::{Bounds, Permits};
use crate::state::AppState;

/// Maximum length of a search text in characters. The time of a search is proportional to this
/// length: a text of many equal letters is compared at each letter of each row.
const TEXT_MAX_CHARS: usize = 100;

/// Deserializes the text of a search.
///
/// # Errors
/// The text is longer than [`TEXT_MAX_CHARS`].
pub(crate) fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    match text.as_ref().map(|text| text.chars().count()) {
        Some(length) if length > TEXT_MAX_CHARS => Err(D::Error::custom(format!(
            "a search text has at most {TEXT_MAX_CHARS} characters, and this one has {length}"
        ))),
        _ => Ok(text),
    }
}

/// Maximum number of searches of one user at the same time.
const PER_USER: u32 = 2;

/// Maximum number of searches that wait.
const WAITING_MAX: u64 = 64;

/// Returns the limit for a pool of `database_connections` connections. Searches use at most half of
/// them, of which one is reserved for users without a running search.
pub(crate) fn limit(database_connections: u32) -> Permits {
    let running = (database_connections / 2).saturating_sub(1).max(1);
    let bounds = Bounds {
        running,
        min_weight: 1,
        per_user: PER_USER.min(running),
        waiting_weight_max: u64::MAX,
        waiting_requests_max: WAITING_MAX,
        reserve_for_idle_users: 1,
    };
    Permits::weighted("searches", bounds)
}

/// Reads a list for a user. If `is_search` is true, waits for a permit first.
///
/// # Errors
/// Those of `reading`; 503 `busy` if too many searches are waiting.
pub(crate) async fn read_list<T: Send + 'static>(
    state: &AppState,
    user_id: &str,
    is_search: bool,
    reading: impl Future<Output = ApiResult<T>> + Send + 'static,
) -> ApiResult<T> {
    if !is_search {
        return reading.await;
    }
    let runtime = Handle::current();
    state.searches.run_for(user_id, 1, move |_| runtime.block_on(reading)).await
}
