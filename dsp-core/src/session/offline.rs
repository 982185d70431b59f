//! From the first frame to the end of the sound.

use super::{Mixer, MixerError, Session, Track, TrackPlayer};
use crate::block::BLOCK_FRAMES;
use crate::soundfont::Bank;
use crate::synth::SynthError;

/// Longest tail that can be asked for, in seconds.
pub const MAX_TAIL_SECS: f64 = 60.0;

/// At or below this level a mix counts as silent: -80 dBFS.
const MIX_SILENCE: f32 = 1e-4;

/// A track by itself is louder or softer in its mix, so it must be silent to the last bit. Voices
/// that have ended are.
const TRACK_SILENCE: f32 = 0.0;

/// How long it must be silent for a tail to end, in seconds.
const SILENCE_SECS: f64 = 0.1;

/// How long a render may ring on after the last item.
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

/// Counts a render out: the session's length, then a tail until it is silent.
struct Length {
    session_frames: u64,
    longest_frames: u64,
    silence: f32,
    silence_frames: u64,
    done_frames: u64,
    quiet_frames: u64,
}

impl Length {
    fn new(session_frames: u64, tail: TailConfig, silence: f32, sample_rate_hz: u32) -> Self {
        let frames = |secs: f64| (secs * f64::from(sample_rate_hz)) as u64;
        Self {
            session_frames,
            longest_frames: session_frames + frames(tail.max_secs.clamp(0.0, MAX_TAIL_SECS)),
            silence,
            silence_frames: frames(SILENCE_SECS),
            done_frames: 0,
            quiet_frames: 0,
        }
    }

    /// Frames of the next block; 0 at the end.
    fn next_frames(&self) -> usize {
        let in_tail = self.done_frames >= self.session_frames;
        if in_tail && self.quiet_frames >= self.silence_frames {
            return 0;
        }
        let limit = if in_tail { self.longest_frames } else { self.session_frames };
        (limit - self.done_frames).min(BLOCK_FRAMES as u64) as usize
    }

    fn count(&mut self, left: &[f32], right: &[f32]) {
        self.done_frames += left.len() as u64;
        let loud = left.iter().chain(right).any(|value| value.abs() > self.silence);
        self.quiet_frames = if loud { 0 } else { self.quiet_frames + left.len() as u64 };
    }
}

/// What an offline render takes its frames from.
pub trait Sound {
    /// Renders the next frames; both slices have the same length.
    fn process(&mut self, left: &mut [f32], right: &mut [f32]);
}

impl Sound for Mixer {
    fn process(&mut self, left: &mut [f32], right: &mut [f32]) {
        Mixer::process(self, left, right);
    }
}

impl Sound for TrackPlayer {
    fn process(&mut self, left: &mut [f32], right: &mut [f32]) {
        TrackPlayer::process(self, left, right);
    }
}

/// Renders a session block by block, limiter included and its latency taken out.
pub type OfflineRender = Render<Mixer>;

/// Renders one track as its instrument sounds it, before fader, pan, mute, the shared effects and
/// the limiter.
pub type TrackRender = Render<TrackPlayer>;

/// A sound from its first frame to its end, block by block.
pub struct Render<S> {
    sound: S,
    length: Length,
    left: [f32; BLOCK_FRAMES],
    right: [f32; BLOCK_FRAMES],
}

impl<S: Sound> Render<S> {
    fn of(sound: S, length: Length) -> Self {
        Self { sound, length, left: [0.0; BLOCK_FRAMES], right: [0.0; BLOCK_FRAMES] }
    }

    /// The next block, left and right, at most [`BLOCK_FRAMES`]; `None` after the last.
    pub fn next_block(&mut self) -> Option<(&[f32], &[f32])> {
        let frames = self.length.next_frames();
        if frames == 0 {
            return None;
        }
        let (left, right) = (&mut self.left[..frames], &mut self.right[..frames]);
        self.sound.process(left, right);
        self.length.count(left, right);
        Some((left, right))
    }

    /// Frames rendered so far.
    pub fn done_frames(&self) -> u64 {
        self.length.done_frames
    }

    /// Most frames that the render can have; silence may end it sooner.
    pub fn longest_frames(&self) -> u64 {
        self.length.longest_frames
    }
}

impl Render<Mixer> {
    /// A render of a session at its first frame. `banks` are the session's slots.
    ///
    /// # Errors
    ///
    /// [`MixerError`] for a session that cannot be played.
    pub fn new(session: &Session, banks: &[Option<Bank>], tail: TailConfig) -> Result<Self, MixerError> {
        let mut mixer = Mixer::new(session, banks)?;
        mixer.play();
        let length = Length::new(session.length_frames, tail, MIX_SILENCE, session.sample_rate_hz);
        let mut render = Self::of(mixer, length);
        let mut latency_frames = render.sound.latency_frames();
        while latency_frames > 0 {
            let frames = latency_frames.min(BLOCK_FRAMES);
            render.sound.process(&mut render.left[..frames], &mut render.right[..frames]);
            latency_frames -= frames;
        }
        Ok(render)
    }

    /// See [`Mixer::take_peaks`].
    pub fn take_peaks(&mut self, peaks: &mut [f32]) {
        self.sound.take_peaks(peaks);
    }
}

impl Render<TrackPlayer> {
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
        let player = TrackPlayer::new(track, bank, session.sample_rate_hz, session.polyphony)?;
        let length = Length::new(session.length_frames, tail, TRACK_SILENCE, session.sample_rate_hz);
        Ok(Self::of(player, length))
    }
}
