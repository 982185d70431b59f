//! Audio on the machine of the service: browses its folders, and imports files without an upload.
//!
//! Only administrators (which includes local callers) may use these routes, and only inside the
//! folders of `SF_MEDIA_DIRS`: `roots.rs` refuses `..`, and symbolic links that lead out of these
//! folders.

mod drives;
mod folders;
mod import;
mod listing;
mod queries;
mod roots;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::state::AppState;

/// Returns the routes of this slice, relative to `/api/v1`.
pub fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(drives::list))
        .routes(routes!(folders::tree))
        .routes(routes!(listing::list))
        .routes(routes!(import::import))
}

#[cfg(test)]
mod tests;
