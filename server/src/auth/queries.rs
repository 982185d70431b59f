//! Query parameters of this slice.

use serde::Deserialize;
use utoipa::IntoParams;

/// Scope of a log-out.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct LogoutQuery {
    /// `false`, the default: this log-in, with every token that it was renewed from and to.
    /// `true`: every log-in of the account.
    #[serde(default)]
    pub(super) everywhere: bool,
}
