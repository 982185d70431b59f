//! The part of a song that is rendered: a range of its length, and some of its tracks.

use std::ops::Range;

use dsp_core::session::Session;
use schemas::Project;
use schemas::project::{Track, TrackKind};
use schemas::session::tempo_map;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::RenderError;
use super::length::check_secs;

/// The part of a song that is rendered. The default is the whole song.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selection {
    /// A range of the song; the file then has no tail.
    pub range: Option<TickRange>,
    /// Ids of the only tracks to play.
    pub tracks: Option<Vec<String>>,
}

/// A range of a song in ticks (960 per quarter note).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TickRange {
    /// First tick.
    pub start_tick: u32,
    /// First tick after the range.
    pub end_tick: u32,
}

impl Selection {
    /// Returns the id of the first selected track that the project does not have. Ids of buses and
    /// groups count as missing, because these cannot be selected.
    #[must_use]
    pub fn missing_track(&self, project: &Project) -> Option<&str> {
        let is_known = |id: &String| {
            let plays = |kind| matches!(kind, TrackKind::Instrument | TrackKind::Audio);
            project.tracks.iter().any(|track| track.id == *id && plays(track.kind))
        };
        self.tracks.iter().flatten().find(|id| !is_known(id)).map(String::as_str)
    }

    /// Returns the range in frames of the session.
    ///
    /// # Errors
    /// The tempo map cannot be used, or the range ends beyond the longest song.
    pub(super) fn frames(
        &self,
        project: &Project,
        session: &Session,
    ) -> Result<Option<Range<u64>>, RenderError> {
        let Some(TickRange { start_tick, end_tick }) = self.range else { return Ok(None) };
        let tempo = tempo_map(project)?;
        let frame_at = |tick: u32| tempo.frame_at(u64::from(tick), session.sample_rate_hz);
        let range = frame_at(start_tick)..frame_at(end_tick);
        check_secs(range.end / u64::from(session.sample_rate_hz))?;
        Ok(Some(range))
    }

    /// Whether a track can be audible: it is selected, or neither muted nor left out.
    pub(super) fn plays(&self, track: &Track) -> bool {
        self.tracks.as_ref().map_or(!track.mute, |ids| ids.contains(&track.id))
    }

    /// Makes the selected tracks of a session the only ones that play, even if they are muted.
    pub(super) fn apply(&self, session: &mut Session) {
        let Some(ids) = &self.tracks else { return };
        for track in &mut session.tracks {
            track.solo = ids.contains(&track.id);
            track.mute &= !track.solo;
        }
    }
}
