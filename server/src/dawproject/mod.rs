//! Exports projects as DAWproject files, and imports such files from other programs.
//!
//! DAWproject is an open exchange format: a zip archive with `project.xml`, `metadata.xml` and the
//! audio files. Its definition is <https://github.com/bitwig/dawproject>.
//!
//! An export writes the XML in one pass over the project (`project_writer`). An import reads the
//! XML into a tree of bounded size (`element_tree`), then the mixer, the tempo and the nested
//! timelines (`project_reader`). Then it imports the audio files in the same way as uploads.

mod archive;
mod audio_reader;
mod content;
mod element_tree;
mod entry_names;
mod export;
mod expressions;
mod import;
mod import_query;
mod item_writer;
mod level;
mod metadata_reader;
mod mixer_reader;
mod mixer_writer;
mod points_reader;
mod project_reader;
mod project_writer;
mod refusal;
mod scope;
mod tempo_reader;
mod time_scale;
mod timeline_reader;
mod values;
mod warnings;
mod xml_writer;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::config::Config;
use crate::extract::BodyLimit;
use crate::router::with_body_limit;
use crate::state::AppState;

/// Returns the routes of this slice, relative to `/api/v1`.
pub(crate) fn routes(config: &Config) -> OpenApiRouter<AppState> {
    let limit = BodyLimit::of(config.limits.bundle_max_bytes, "A DAWproject file");
    with_body_limit(OpenApiRouter::new().routes(routes!(import::import)), limit)
        .routes(routes!(export::export))
}

#[cfg(test)]
mod tests;
