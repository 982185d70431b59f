//! Imports MIDI files as projects, and exports projects as MIDI files.

mod export;
mod import;
mod import_query;
pub mod midi;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::config::Config;
use crate::extract::BodyLimit;
use crate::router::with_body_limit;
use crate::state::AppState;

/// Maximum size of a multipart body's parts other than the file, in bytes.
const MULTIPART_OVERHEAD_MAX_BYTES: u64 = 64 * 1024;

/// Returns the routes of this slice, relative to `/api/v1`.
pub fn routes(config: &Config) -> OpenApiRouter<AppState> {
    let limits = &config.limits;
    let import_limit = BodyLimit {
        form_max_bytes: MULTIPART_OVERHEAD_MAX_BYTES,
        ..BodyLimit::of(limits.midi_max_bytes, "A MIDI file")
    };
    let export_limit = BodyLimit::of(limits.project_max_bytes, "A project to export");
    with_body_limit(OpenApiRouter::new().routes(routes!(import::import)), import_limit)
        .merge(with_body_limit(OpenApiRouter::new().routes(routes!(export::export)), export_limit))
}

#[cfg(test)]
mod tests;
