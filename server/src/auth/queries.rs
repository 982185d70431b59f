//! Query parameters of this slice.

use serde::Deserialize;
use utoipa::IntoParams;

/// Scope of a log-out.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct LogoutQuery {
    /// `false`, the default: ends this log-in, with all tokens that were issued for it. `true`:
    /// ends every log-in of the account.
    #[serde(default)]
    pub(super) everywhere: bool,
}
