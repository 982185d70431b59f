//! Query parameters of this slice.

use serde::Deserialize;
use utoipa::IntoParams;

/// How much a log-out ends.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct LogoutQuery {
    /// `true`, the default: every token of the account. `false`: only the one that was sent, with those it was renewed from and to.
    #[serde(default = "everywhere")]
    pub(super) everywhere: bool,
}

fn everywhere() -> bool {
    true
}
