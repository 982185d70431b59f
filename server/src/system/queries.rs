//! Query parameters of `/system/log`.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Level of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Single steps of the program.
    Trace,
    /// Details for debugging.
    Debug,
    /// Normal events.
    Info,
    /// Warnings.
    Warn,
    /// Errors.
    Error,
}

/// Selects the lines of the log to return.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct LogQuery {
    /// Maximum number of lines, 1 to 1000; 200 by default. The newest lines are returned.
    #[param(minimum = 1, maximum = 1000)]
    pub(super) limit: Option<usize>,
    /// Lowest level of the lines to return.
    #[param(inline)]
    pub(super) level: Option<Level>,
}
