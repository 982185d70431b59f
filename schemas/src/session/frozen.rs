//! Compiles the recordings of frozen tracks.

use dsp_core::session::Clip;

use super::Builder;
use super::media::{ProjectIssueReason, ResolvedAudio};
use crate::project::{FrozenSound, Project};

/// Returns a project without the parts that the recordings of its frozen tracks replace. The result
/// compiles to the same session, but needs no banks, plugins and audio files for these parts.
#[must_use]
pub fn without_frozen_parts(mut project: Project) -> Project {
    for track in project.tracks.iter_mut().filter(|track| track.frozen.is_some()) {
        *track = track.without_frozen_parts().into_owned();
    }
    project
}

impl Builder<'_> {
    /// Returns the clip of a frozen track; `None` if its recording is missing. The song ends with
    /// the items of the track, not with the tail of the recording. `pointer` is the JSON pointer to
    /// the recording.
    pub(super) fn frozen_clip(&mut self, frozen: &FrozenSound, pointer: String) -> Option<Clip> {
        let FrozenSound { server_file_id, length_frames, sample_rate_hz, .. } = frozen;
        match self.media.audio(server_file_id) {
            Some(audio) => {
                self.extend_to(self.clock.frames_of_file(*length_frames, audio.file_rate_hz));
                Some(whole_clip(audio))
            }
            None => {
                let rate_hz = sample_rate_hz.unwrap_or(self.project.sample_rate_hz);
                self.extend_to(self.clock.frames_of_file(*length_frames, rate_hz));
                let id = server_file_id.clone();
                self.report_issue(pointer, ProjectIssueReason::MissingAudio { id });
                None
            }
        }
    }
}

/// Returns a clip that plays a whole recording from the start of the song.
pub(super) fn whole_clip(audio: ResolvedAudio) -> Clip {
    Clip {
        frame: 0,
        offset_frames: 0,
        length_frames: audio.frames,
        gain: 1.0,
        fade_in_frames: 0,
        fade_out_frames: 0,
        looped: false,
        audio_slot: audio.slot,
    }
}
