//! Query parameters of this slice.

use serde::Deserialize;
use utoipa::IntoParams;

use crate::audit::Action;
use crate::searches;
use crate::tasks::TaskState;

/// Filter of the list of accounts.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct UserQuery {
    /// Part of the user name; upper and lower case count as equal.
    #[serde(default, deserialize_with = "searches::text")]
    #[param(max_length = 100)]
    pub(super) search: Option<String>,
}

/// Account or address whose failed log-ins are deleted. At least one of the two is required.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct LiftQuery {
    /// Name of an account; upper and lower case count as equal.
    pub(super) username: Option<String>,
    /// IP address, or IPv6 network that ends in `/64`.
    pub(super) address: Option<String>,
}

/// Filter of the list of tasks.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct TaskQuery {
    /// Only tasks in this state.
    #[param(inline)]
    pub(super) state: Option<TaskState>,
}

/// Filter of the list of entries.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct AuditQuery {
    /// Only entries with this action.
    #[param(inline)]
    pub(super) action: Option<Action>,
    /// Only entries that have the account with this name as actor or target.
    pub(super) user: Option<String>,
}
