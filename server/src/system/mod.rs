//! What this installation is and can do.

mod capabilities;

pub use capabilities::{Capabilities, ExportCapabilities, Limits};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::state::AppState;

/// The routes of this slice, relative to `/api/v1`.
pub fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(capabilities::read))
}
