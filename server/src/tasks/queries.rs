//! Query parameters of tasks.

use serde::Deserialize;
use utoipa::IntoParams;

/// Whether to remove a task that has ended.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct CancelQuery {
    /// If `true`, a task that has ended is removed, and its result no longer counts towards the
    /// quota. A task that has not ended is only cancelled.
    #[serde(default)]
    pub(super) remove: bool,
}
