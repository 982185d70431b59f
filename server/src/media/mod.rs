//! Audio that lies on the service's own machine: folders to look through, files to import without
//! sending them.
//!
//! Administrators only, which on a desktop is whoever sits at it; and only inside the folders that
//! `SF_MEDIA_DIRS` names: `places.rs` lets no `..` and no symbolic link lead out of them.

mod drives;
mod folders;
mod import;
mod listing;
mod places;
mod queries;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::state::AppState;

/// The routes of this slice, relative to `/api/v1`.
pub fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(drives::list))
        .routes(routes!(folders::tree))
        .routes(routes!(listing::list))
        .routes(routes!(import::import))
}

#[cfg(test)]
mod tests;
