//! Query parameters of this slice.

use serde::Deserialize;
use utoipa::IntoParams;

/// How much a log-out ends.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct LogoutQuery {
    /// `false`, the default: the log-in that was sent, with every token it was renewed from and to.
    /// `true`: every log-in of the account.
    #[serde(default)]
    pub(super) everywhere: bool,
}
