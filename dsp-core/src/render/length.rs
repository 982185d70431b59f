//! The length of a render: the session, then a tail that ends in silence.

use crate::block::BLOCK_FRAMES;

/// Maximum length of the tail of a render, in seconds.
pub const MAX_TAIL_SECS: f64 = 60.0;

/// Length of the silence that ends a tail, in seconds.
const SILENCE_SECS: f64 = 0.1;

/// Length of the tail: the sound that a render includes after the end of the session.
///
/// A tenth of a second of silence ends the tail, unless an effect can still produce an echo or
/// another sound ([`crate::effects::Effect::longest_silence_frames`]).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TailConfig {
    /// Maximum length of the tail in seconds, 0 to [`MAX_TAIL_SECS`]. Silence ends the tail sooner.
    pub max_secs: f64,
}

impl Default for TailConfig {
    /// Returns a maximum tail of five seconds.
    fn default() -> Self {
        Self { max_secs: 5.0 }
    }
}

/// Counts the rendered frames and decides where the render ends.
pub(super) struct RenderLength {
    session_frames: u64,
    /// Length of the session and the longest tail.
    pub(super) max_frames: u64,
    /// Highest magnitude that counts as silence.
    silent_magnitude: f32,
    /// [`SILENCE_SECS`] in frames.
    silence_frames: u64,
    pub(super) rendered_frames: u64,
    /// Frame number at the end of the last block that was not silent.
    sound_end_frames: u64,
}

impl RenderLength {
    pub(super) fn new(
        session_frames: u64,
        tail: TailConfig,
        silent_magnitude: f32,
        sample_rate_hz: u32,
    ) -> Self {
        let frames = |secs: f64| (secs * f64::from(sample_rate_hz)) as u64;
        Self {
            session_frames,
            max_frames: session_frames.saturating_add(frames(tail.max_secs.clamp(0.0, MAX_TAIL_SECS))),
            silent_magnitude,
            silence_frames: frames(SILENCE_SECS),
            rendered_frames: 0,
            sound_end_frames: 0,
        }
    }

    fn is_in_tail(&self) -> bool {
        self.rendered_frames >= self.session_frames
    }

    /// Returns the number of frames of the next block; 0 at the end of the longest tail.
    pub(super) fn next_frames(&self) -> usize {
        let limit = if self.is_in_tail() { self.max_frames } else { self.session_frames };
        (limit - self.rendered_frames).min(BLOCK_FRAMES as u64) as usize
    }

    /// Whether the render is in the session or was audible within the last tenth of a second.
    pub(super) fn is_audible(&self) -> bool {
        !self.is_in_tail() || self.rendered_frames - self.sound_end_frames < self.silence_frames
    }

    /// Whether sound may still follow. `longest_silence_frames` is the longest silence of the mix
    /// before an echo. This silence may begin at the end of the session.
    pub(super) fn may_sound_again(&self, longest_silence_frames: usize) -> bool {
        let silent_frames =
            self.rendered_frames.saturating_sub(self.sound_end_frames.max(self.session_frames));
        silent_frames < self.silence_frames + longest_silence_frames as u64
    }

    /// Counts a block. Returns whether it is audible.
    pub(super) fn count(&mut self, left: &[f32], right: &[f32]) -> bool {
        self.count_signals(left.len(), [left, right])
    }

    /// Counts a block of any number of signals. Returns whether one of them is audible.
    pub(super) fn count_signals<'s>(
        &mut self,
        frames: usize,
        signals: impl IntoIterator<Item = &'s [f32]>,
    ) -> bool {
        self.rendered_frames += frames as u64;
        let is_audible = signals.into_iter().flatten().any(|value| value.abs() > self.silent_magnitude);
        if is_audible {
            self.sound_end_frames = self.rendered_frames;
        }
        is_audible
    }
}
