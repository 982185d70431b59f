//! Audio on the machine of the service: folders to browse, and files to import without an upload.
//!
//! For administrators only, including local callers, and only inside the folders of
//! `SF_MEDIA_DIRS`: `roots.rs` refuses `..` and symbolic links that lead out of them.

mod drives;
mod folders;
mod import;
mod listing;
mod queries;
mod roots;

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
