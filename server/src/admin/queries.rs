//! Query parameters of this slice.

use serde::Deserialize;
use utoipa::IntoParams;

use crate::audit::Action;
use crate::tasks::TaskState;

/// Which accounts a list shows.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct UserQuery {
    /// Part of the name, in any case.
    pub(super) search: Option<String>,
}

/// Account or address whose failed log-ins are deleted. One of the two is needed.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct LiftQuery {
    /// Name of an account, in any case.
    pub(super) username: Option<String>,
    /// IP address, or IPv6 network that ends in `/64`.
    pub(super) address: Option<String>,
}

/// Which tasks a list shows.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct TaskQuery {
    /// Only tasks in this state.
    #[param(inline)]
    pub(super) state: Option<TaskState>,
}

/// Which entries a list shows.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct AuditQuery {
    /// Only this action.
    #[param(inline)]
    pub(super) action: Option<Action>,
    /// Only entries with this account as actor or target, by name.
    pub(super) user: Option<String>,
}
