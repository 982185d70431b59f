//! The part of the request body that all exports share, and its validation.

use schemas::json::JsonText;
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::sound_options::SoundOptions;
use crate::error::{ApiError, ApiResult};
use crate::projects::ProjectDocument;
use crate::rendering::selection::{Selection, TickRange};

/// Default of the longest tail, in seconds.
pub(super) const TAIL_DEFAULT_SECS: f64 = 5.0;

/// The project of an export, and how its audio is written.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[schema(as = RenderOptions)]
pub(super) struct ExportRequest {
    /// Id of a stored project. A request must have either this or `project`.
    pub(super) project_id: Option<String>,
    /// A project document.
    #[schema(value_type = Option<ProjectDocument>)]
    pub(super) project: Option<JsonText>,
    /// Sample format, dither, loudness and sample rate of the file.
    #[serde(flatten)]
    pub(super) sound: SoundOptions,
    /// Longest tail after the last item of the song, in seconds; 5 by default.
    #[schema(minimum = 0, maximum = 60)]
    pub(super) tail_secs: Option<f64>,
    /// Options that this version does not know.
    #[serde(flatten)]
    #[schema(ignore)]
    pub(super) unknown_fields: Map<String, Value>,
}

/// The part of a song that an export renders.
#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct SelectionOptions {
    /// A range of the song, without a tail; by default the whole song. Notes and
    /// tails that begin before the range continue in it.
    range: Option<TickRange>,
    /// Ids of the only tracks to play, through the buses and the master, even if they are muted; by
    /// default all tracks.
    #[schema(max_items = 1000)]
    tracks: Option<Vec<String>>,
}

impl SelectionOptions {
    /// Returns the checked selection.
    ///
    /// # Errors
    /// 400 `bad_range` or `bad_tracks`.
    pub(super) fn check(self) -> ApiResult<Selection> {
        let Self { range, tracks } = self;
        check_range(range)?;
        if let Some(count) = tracks.as_ref().map(Vec::len)
            && !(1..=TRACKS_MAX).contains(&count)
        {
            return Err(ApiError::bad_request(
                "bad_tracks",
                format!(
                    "`tracks` has {count} entries; expected 1 to {TRACKS_MAX}, or leave it out for all tracks."
                ),
            ));
        }
        Ok(Selection { range, tracks })
    }
}

/// Checks that a range is not empty.
///
/// # Errors
/// 400 `bad_range`.
pub(super) fn check_range(range: Option<TickRange>) -> ApiResult<()> {
    let Some(TickRange { start_tick, end_tick }) = range.filter(|range| range.end_tick <= range.start_tick)
    else {
        return Ok(());
    };
    let detail =
        format!("The range ends at tick {end_tick}, which is not after its start at tick {start_tick}.");
    Err(ApiError::bad_request("bad_range", detail))
}

/// Maximum number of selected tracks: that of the tracks of a project.
const TRACKS_MAX: usize = 1_000;

/// Returns a tail within the limit. If `tail_secs` is `None`, returns the default, or the limit if
/// that is shorter.
pub(super) fn checked_tail(tail_secs: Option<f64>, default_secs: f64, limit_secs: u64) -> ApiResult<f64> {
    let tail_secs = tail_secs.unwrap_or(default_secs.min(limit_secs as f64));
    if (0.0..=limit_secs as f64).contains(&tail_secs) {
        return Ok(tail_secs);
    }
    Err(ApiError::bad_request(
        "bad_tail",
        format!("The tail of {tail_secs:?} seconds is outside 0 to {limit_secs} seconds (SF_TAIL_MAX_SECS)."),
    ))
}
