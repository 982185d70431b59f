//! Limits searches in lists. A search reads all rows of its user, so without a limit, the searches
//! of one user could take all connections to the database.

use std::future::Future;

use tokio::runtime::Handle;

use crate::error::ApiResult;
use crate::permits::{Bounds, Permits};
use crate::state::AppState;

/// Maximum number of searches of one user at the same time.
const PER_USER: u32 = 2;

/// Maximum number of searches that wait.
const WAITING_MAX: u64 = 64;

/// Returns the limit for a pool of `database_connections` connections. Searches use at most half of
/// them.
pub(crate) fn limit(database_connections: u32) -> Permits {
    let running = (database_connections / 2).max(1);
    let bounds = Bounds {
        running,
        min_weight: 1,
        per_user: PER_USER.min(running),
        waiting: u64::MAX,
        requests: WAITING_MAX,
        reserve_for_idle_users: 0,
    };
    Permits::weighted("searches", bounds)
}

/// Reads a list for a user. If the list `is_search`, waits for a permit first.
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
