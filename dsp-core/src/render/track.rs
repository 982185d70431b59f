//! Renders one track alone, until its sound ends.

use alloc::boxed::Box;

use super::length::{RenderLength, TailConfig};
use crate::block::{SILENT_BLOCK, TRACK_OUTPUTS, TrackBlock};
use crate::mixer::TrackPlayer;
use crate::session::{Session, Track};
use crate::soundfont::Bank;
use crate::synth::SynthError;

/// Highest magnitude of a track that counts as silence. The limit is 0, because the mix may amplify
/// the track. Voices that have ended produce digital silence.
const TRACK_SILENCE: f32 = 0.0;

/// Renders the notes of one track without its effects, fader, pan and mute, and without the shared
/// effects and the limiter.
pub struct TrackRender {
    player: TrackPlayer,
    length: RenderLength,
    block: Box<TrackBlock>,
}

impl TrackRender {
    /// Creates a render of one track that starts at the first frame of the session.
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

    /// Renders the next block, at most [`crate::block::BLOCK_FRAMES`] frames. Returns left, right,
    /// reverb send and chorus send; `None` after the last block.
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

    /// Returns the number of frames rendered so far.
    pub fn done_frames(&self) -> u64 {
        self.length.rendered_frames
    }

    /// Returns the maximum number of frames of the render. Silence may end the render sooner.
    pub fn max_frames(&self) -> u64 {
        self.length.max_frames
    }
}
