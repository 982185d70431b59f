//! Renders one track by itself, to the end of its sound.

use alloc::boxed::Box;

use super::length::{RenderLength, TailConfig};
use crate::block::{SILENT_BLOCK, TRACK_OUTPUTS, TrackBlock};
use crate::mixer::TrackPlayer;
use crate::session::{Session, Track};
use crate::soundfont::Bank;
use crate::synth::SynthError;

/// The mix may raise the level of a track, so its tail ends only at digital silence, which voices
/// that have ended produce.
const TRACK_SILENCE: f32 = 0.0;

/// Renders the notes of one track, before effects, fader, pan, mute, shared effects and limiter.
pub struct TrackRender {
    player: TrackPlayer,
    length: RenderLength,
    block: Box<TrackBlock>,
}

impl TrackRender {
    /// A render of one track of a session, at its first frame.
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
            length: RenderLength::new(session.length_frames, tail, TRACK_SILENCE, session.sample_rate_hz),
            block: Box::new(SILENT_BLOCK),
        })
    }

    /// The next block, at most [`crate::block::BLOCK_FRAMES`] frames: left, right, reverb send and
    /// chorus send; `None` after the last.
    pub fn next_block(&mut self) -> Option<[&[f32]; TRACK_OUTPUTS]> {
        let frames = self.length.next_frames();
        if frames == 0 || !self.length.is_audible() {
            return None;
        }
        self.player.process(self.block.each_mut().map(|output| &mut output[..frames]));
        let outputs = self.block.each_ref().map(|output| &output[..frames]);
        self.length.count(outputs[0], outputs[1]);
        Some(outputs)
    }

    /// Number of frames rendered so far.
    pub fn done_frames(&self) -> u64 {
        self.length.rendered_frames
    }

    /// Maximum number of frames of the render; silence may end it sooner.
    pub fn max_frames(&self) -> u64 {
        self.length.max_frames
    }
}
