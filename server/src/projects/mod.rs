//! Projects.
use utoipa_axum::router::OpenApiRouter;

use crate::config::Config;
use crate::state::AppState;

/// Revisions of a project that are kept.
pub const REVISIONS_KEPT: u32 = 50;

/// The routes of this slice, relative to `/api/v1`.
pub fn routes(_: &Config) -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
}

/// Demo.
pub async fn seed_demo(_: &AppState) -> anyhow::Result<()> {
    Ok(())
}
