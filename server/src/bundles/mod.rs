//! Exports a project with its audio as one file, and imports such files.
//!
//! A bundle is a zip archive. It contains `bundle.json` (a list of its contents), `project.json`
//! (the stored project) and the uploaded audio files, each once, as `audio/<SHA-256>.<extension>`.
//! A bundle of the same revision always has the same bytes.
//!
//! [`archive`], [`manifest`] and [`audio_ids`] do not depend on the service: `tests/fuzz` compiles
//! them separately.

mod archive;
mod audio_ids;
mod export;
mod import;
mod manifest;

pub(crate) use archive::{LimitedReader, open_zip, shown_name};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::config::Config;
use crate::extract::BodyLimit;
use crate::router::with_body_limit;
use crate::state::AppState;

/// Returns the routes of this slice, relative to `/api/v1`.
pub(crate) fn routes(config: &Config) -> OpenApiRouter<AppState> {
    let limit = BodyLimit::of(config.limits.bundle_max_bytes, "A bundle");
    with_body_limit(OpenApiRouter::new().routes(routes!(import::import)), limit)
        .routes(routes!(export::export))
}

#[cfg(test)]
mod tests;
