//! Query parameters of tasks.

use serde::Deserialize;
use utoipa::IntoParams;

/// Whether a task is kept after its end.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct CancelQuery {
    /// `true`: a task that has ended is removed, so that its result no longer counts for the quota.
    /// One that has not ended is cancelled only.
    #[serde(default)]
    pub(super) remove: bool,
}
