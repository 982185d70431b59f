//! The length of a render: the session, then a tail until it is silent.

use crate::block::BLOCK_FRAMES;

/// Longest tail of a render, in seconds.
pub const MAX_TAIL_SECS: f64 = 60.0;

/// A tail ends after this much silence, in seconds.
const SILENCE_SECS: f64 = 0.1;

/// The tail of a render, after the last note or clip.
///
/// The tail ends after a tenth of a second of silence, unless an echo may still follow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TailConfig {
    /// Longest tail in seconds, 0 to [`MAX_TAIL_SECS`]; silence ends it sooner.
    pub max_secs: f64,
}

impl Default for TailConfig {
    /// Five seconds.
    fn default() -> Self {
        Self { max_secs: 5.0 }
    }
}

/// Counts the frames of a render.
pub(super) struct RenderLength {
    session_frames: u64,
    pub(super) max_frames: u64,
    /// Highest magnitude that counts as silence.
    silence: f32,
    silence_frames: u64,
    pub(super) rendered_frames: u64,
    /// End of the last block that was not silent.
    sound_end: u64,
}

impl RenderLength {
    pub(super) fn new(session_frames: u64, tail: TailConfig, silence: f32, sample_rate_hz: u32) -> Self {
        let frames = |secs: f64| (secs * f64::from(sample_rate_hz)) as u64;
        Self {
            session_frames,
            max_frames: session_frames.saturating_add(frames(tail.max_secs.clamp(0.0, MAX_TAIL_SECS))),
            silence,
            silence_frames: frames(SILENCE_SECS),
            rendered_frames: 0,
            sound_end: 0,
        }
    }

    fn is_in_tail(&self) -> bool {
        self.rendered_frames >= self.session_frames
    }

    /// Number of frames of the next block; 0 at the end of the longest tail.
    pub(super) fn next_frames(&self) -> usize {
        let limit = if self.is_in_tail() { self.max_frames } else { self.session_frames };
        (limit - self.rendered_frames).min(BLOCK_FRAMES as u64) as usize
    }

    /// Whether the render is in the session, or was audible a tenth of a second ago.
    pub(super) fn is_audible(&self) -> bool {
        !self.is_in_tail() || self.rendered_frames - self.sound_end < self.silence_frames
    }

    /// Whether sound may still follow, for a mix that may be silent for `longest_silence_frames`
    /// frames before an echo. The silence may begin at the end of the session.
    pub(super) fn may_sound_again(&self, longest_silence_frames: usize) -> bool {
        let silent_frames = self.rendered_frames.saturating_sub(self.sound_end.max(self.session_frames));
        silent_frames < self.silence_frames + longest_silence_frames as u64
    }

    /// Counts a block. Returns whether it is audible.
    pub(super) fn count(&mut self, left: &[f32], right: &[f32]) -> bool {
        self.rendered_frames += left.len() as u64;
        let is_audible = left.iter().chain(right).any(|value| value.abs() > self.silence);
        if is_audible {
            self.sound_end = self.rendered_frames;
        }
        is_audible
    }
}
