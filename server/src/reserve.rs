//! Makes deletions possible when the disk is full.

use crate::db;
use crate::error::{ApiError, ApiResult};
use crate::state::AppState;

/// Runs an operation that frees disk space. If it fails because the disk is full, releases the
/// reserve file, which frees some space, and runs the operation once more.
///
/// # Errors
/// Those of `operation`.
pub(crate) async fn retry_with_reserve<T, Running>(
    state: &AppState,
    operation: impl Fn() -> Running,
) -> ApiResult<T>
where
    Running: Future<Output = ApiResult<T>>,
{
    match operation().await {
        Err(ApiError::StorageFull) => {
            state.reserve.give_up()?;
            db::truncate_log(&state.db).await;
            let outcome = operation().await;
            db::truncate_log(&state.db).await;
            state.reserve.refill();
            outcome
        }
        outcome => outcome,
    }
}
