//! Version, runtime and capabilities of this installation, and the last lines of its log.

mod capabilities;
mod log;
mod queries;
mod runtime;
mod version;

pub use capabilities::{Capabilities, ExportCapabilities, Limits};
pub use log::LogLines;
pub use queries::Level;
pub use runtime::Runtime;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
pub use version::Version;

use crate::state::AppState;

/// Returns the routes of this slice, relative to `/api/v1`.
pub fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(capabilities::read))
        .routes(routes!(version::version))
        .routes(routes!(runtime::runtime))
        .routes(routes!(log::read))
}

#[cfg(test)]
mod tests;
