//! Helper processes of the service, and files that are saved on a desktop.
//!
//! Both are for administrators (on a desktop, the local user): ending a helper stops the work of
//! other users, and saving writes outside the storage folder.

mod processes;
mod queries;
mod save;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::config::Config;
use crate::extract::BodyLimit;
use crate::router::with_body_limit;
use crate::state::AppState;

/// Returns the routes of this slice, relative to `/api/v1`.
pub fn routes(config: &Config) -> OpenApiRouter<AppState> {
    let limit = BodyLimit::of(config.limits.upload_max_bytes, "A file to save");
    OpenApiRouter::new()
        .routes(routes!(processes::list))
        .routes(routes!(processes::end))
        .merge(with_body_limit(OpenApiRouter::new().routes(routes!(save::save)), limit))
}

#[cfg(test)]
mod tests;
