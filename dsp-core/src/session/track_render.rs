//! One track by itself, from its first frame to the end of its sound.

use alloc::boxed::Box;

use super::offline::{Length, TailConfig};
use super::strip::{SILENT_BLOCK, TRACK_OUTPUTS, TrackBlock};
use super::{Session, Track, TrackPlayer};
use crate::soundfont::Bank;
use crate::synth::SynthError;

/// A track by itself is louder or softer in its mix, so it must be silent to the last bit. Voices
/// that have ended are.
const TRACK_SILENCE: f32 = 0.0;

/// Renders one track as its instrument sounds it, before fader, pan, mute, the shared effects and
/// the limiter.
pub struct TrackRender {
    player: TrackPlayer,
    length: Length,
    block: Box<TrackBlock>,
}

impl TrackRender {
    /// A render of one track of a session at its first frame.
    ///
    /// # Errors
    ///
    /// [`SynthError`] for a sample rate or polyphony that cannot be played.
    pub fn new(
        session: &Session,
        track: &Track,
        bank: Option<&Bank>,
        tail: TailConfig,
    ) -> Result<Self, SynthError> {
        Ok(Self {
            player: TrackPlayer::new(session, track, bank)?,
            length: Length::new(session.length_frames, tail, TRACK_SILENCE, session.sample_rate_hz),
            block: Box::new(SILENT_BLOCK),
        })
    }

    /// The next block, at most [`crate::block::BLOCK_FRAMES`]: left, right, and what the track
    /// sends to the reverb and to the chorus; `None` after the last.
    pub fn next_block(&mut self) -> Option<[&[f32]; TRACK_OUTPUTS]> {
        let frames = self.length.next_frames();
        if frames == 0 || !self.length.rings() {
            return None;
        }
        self.player.process(self.block.each_mut().map(|output| &mut output[..frames]));
        let outputs = self.block.each_ref().map(|output| &output[..frames]);
        self.length.count(outputs[0], outputs[1]);
        Some(outputs)
    }

    /// Frames rendered so far.
    pub fn done_frames(&self) -> u64 {
        self.length.rendered_frames
    }

    /// Most frames that the render can have; silence may end it sooner.
    pub fn longest_frames(&self) -> u64 {
        self.length.longest_frames
    }
}
