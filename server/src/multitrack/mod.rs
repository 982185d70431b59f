//! Songs as a whole: MIDI files in and out, mixes, stems and frozen tracks as audio.

mod export;
mod freeze;
mod frozen_track;
mod import;
mod import_query;
pub mod midi;
mod mixdown;
mod render_options;
mod stem_files;
mod stems;

pub(crate) use freeze::FREEZE;
pub(crate) use mixdown::MIXDOWN;
pub(crate) use stem_files::FOLDER as STEMS_FOLDER;
pub(crate) use stem_files::{FILES as STEM_FILES, faults as stem_faults};
pub(crate) use stems::STEMS;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::config::Config;
use crate::extract::BodyLimit;
use crate::router::with_body_limit;
use crate::state::AppState;

/// What a multipart body may have beyond the file in it, in bytes.
const MULTIPART_EXTRA_BYTES: u64 = 64 * 1024;

/// The routes of this slice, relative to `/api/v1`.
pub fn routes(config: &Config) -> OpenApiRouter<AppState> {
    let limits = &config.limits;
    let import_limit = BodyLimit {
        form_max_bytes: MULTIPART_EXTRA_BYTES,
        ..BodyLimit::of(limits.midi_max_bytes, "A MIDI file")
    };
    let export_limit = BodyLimit::of(limits.project_max_bytes, "A project to export");
    let taking_projects = OpenApiRouter::new()
        .routes(routes!(export::export))
        .routes(routes!(mixdown::mixdown))
        .routes(routes!(stems::stems))
        .routes(routes!(freeze::freeze));
    with_body_limit(OpenApiRouter::new().routes(routes!(import::import)), import_limit)
        .merge(with_body_limit(taking_projects, export_limit))
        .routes(routes!(stem_files::read))
}

#[cfg(test)]
mod audio_tests;
#[cfg(test)]
mod tests;
