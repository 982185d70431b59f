//! From the first frame to the end of the sound.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use super::desk::Desk;
use super::strip::{SILENT_BLOCK, TRACK_OUTPUTS, TrackBlock};
use super::track_player::Motion;
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

/// Blocks that the tracks render at a time, while the desk mixes as many.
const SPAN_BLOCKS: usize = 8;

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
            longest_frames: session_frames.saturating_add(frames(tail.max_secs.clamp(0.0, MAX_TAIL_SECS))),
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

/// Somebody who gets jobs done, on as many threads as they like. The engine knows none itself.
pub trait Crew {
    /// Runs every job once, in any order and at the same time or not, and returns when all are
    /// done.
    fn run(&self, jobs: &mut [&mut (dyn FnMut() + Send)]);
}

/// A crew of one: the calling thread.
#[derive(Debug, Clone, Copy, Default)]
pub struct Alone;

impl Crew for Alone {
    fn run(&self, jobs: &mut [&mut (dyn FnMut() + Send)]) {
        jobs.iter_mut().for_each(|job| job());
    }
}

/// What a track's player makes of a span.
struct TrackSpan {
    blocks: Box<[TrackBlock; SPAN_BLOCKS]>,
    sounds: [bool; SPAN_BLOCKS],
}

impl TrackSpan {
    fn new() -> Self {
        Self { blocks: Box::new([SILENT_BLOCK; SPAN_BLOCKS]), sounds: [false; SPAN_BLOCKS] }
    }

    fn fill(&mut self, player: &mut TrackPlayer) {
        for (block, sounds) in self.blocks.iter_mut().zip(&mut self.sounds) {
            *sounds = player.render(Motion::Plays, block.each_mut().map(|output| &mut output[..]));
        }
    }
}

/// The mix of a span.
struct MixSpan {
    left: Vec<f32>,
    right: Vec<f32>,
    /// Frames that have been handed out.
    taken: usize,
}

impl MixSpan {
    fn fill(&mut self, desk: &mut Desk, tracks: &[TrackSpan]) {
        let blocks = self.left.chunks_mut(BLOCK_FRAMES).zip(self.right.chunks_mut(BLOCK_FRAMES));
        for (number, (left, right)) in blocks.enumerate() {
            desk.begin();
            for (place, track) in tracks.iter().enumerate() {
                let own = track.blocks[number].each_ref().map(|output| &output[..]);
                desk.add(place, true, track.sounds[number].then_some(own), BLOCK_FRAMES);
            }
            desk.finish(left, right);
        }
        self.taken = 0;
    }

    fn is_used_up(&self) -> bool {
        self.taken == self.left.len()
    }
}

/// Renders a session block by block, limiter included and its latency taken out.
///
/// The tracks render a span of some blocks while the desk mixes the span before it, so that a
/// [`Crew`] of several threads has work for all; the samples are the same with any crew.
pub struct OfflineRender {
    mixer: Mixer,
    length: Length,
    /// The span that the tracks rendered last, and the one that they render next.
    spans: [Vec<TrackSpan>; 2],
    mix: MixSpan,
    left: [f32; BLOCK_FRAMES],
    right: [f32; BLOCK_FRAMES],
}

impl OfflineRender {
    /// A render of a session at its first frame. `banks` are the session's slots.
    ///
    /// # Errors
    ///
    /// [`MixerError`] for a session that cannot be played.
    pub fn new(session: &Session, banks: &[Option<Bank>], tail: TailConfig) -> Result<Self, MixerError> {
        let mut mixer = Mixer::new(session, banks)?;
        mixer.play();
        let span = || mixer.players.iter().map(|_| TrackSpan::new()).collect::<Vec<_>>();
        let mut spans = [span(), span()];
        for (track, player) in spans[0].iter_mut().zip(&mut mixer.players) {
            track.fill(player);
        }
        let frames = SPAN_BLOCKS * BLOCK_FRAMES;
        let mut render = Self {
            length: Length::new(session.length_frames, tail, MIX_SILENCE, session.sample_rate_hz),
            mixer,
            spans,
            mix: MixSpan { left: vec![0.0; frames], right: vec![0.0; frames], taken: frames },
            left: [0.0; BLOCK_FRAMES],
            right: [0.0; BLOCK_FRAMES],
        };
        let mut latency_frames = render.mixer.latency_frames();
        while latency_frames > 0 {
            let frames = latency_frames.min(BLOCK_FRAMES);
            render.take(frames, &Alone);
            latency_frames -= frames;
        }
        Ok(render)
    }

    /// The next block, left and right, at most [`BLOCK_FRAMES`]; `None` after the last.
    pub fn next_block(&mut self) -> Option<(&[f32], &[f32])> {
        self.next_block_by(&Alone)
    }

    /// As [`Self::next_block`], computed by a crew.
    pub fn next_block_by(&mut self, crew: &dyn Crew) -> Option<(&[f32], &[f32])> {
        let frames = self.length.next_frames();
        if frames == 0 {
            return None;
        }
        self.take(frames, crew);
        let (left, right) = (&self.left[..frames], &self.right[..frames]);
        self.length.count(left, right);
        Some((left, right))
    }

    /// Puts the next frames of the mix into `left` and `right`.
    fn take(&mut self, frames: usize, crew: &dyn Crew) {
        let mut done = 0;
        while done < frames {
            if self.mix.is_used_up() {
                self.render_span(crew);
            }
            let taken = self.mix.taken;
            let part = (frames - done).min(self.mix.left.len() - taken);
            self.left[done..done + part].copy_from_slice(&self.mix.left[taken..taken + part]);
            self.right[done..done + part].copy_from_slice(&self.mix.right[taken..taken + part]);
            self.mix.taken += part;
            done += part;
        }
    }

    fn render_span(&mut self, crew: &dyn Crew) {
        let [rendered, next] = &mut self.spans;
        let Mixer { players, desk, .. } = &mut self.mixer;
        let mix = &mut self.mix;
        let mut mixing = || mix.fill(desk, rendered);
        let mut playing: Vec<_> =
            next.iter_mut().zip(players).map(|(track, player)| move || track.fill(player)).collect();
        let mut jobs: Vec<&mut (dyn FnMut() + Send)> = Vec::with_capacity(playing.len() + 1);
        jobs.push(&mut mixing);
        jobs.extend(playing.iter_mut().map(|job| -> &mut (dyn FnMut() + Send) { job }));
        crew.run(&mut jobs);
        drop(playing);
        self.spans.swap(0, 1);
    }

    /// Frames rendered so far.
    pub fn done_frames(&self) -> u64 {
        self.length.done_frames
    }

    /// Most frames that the render can have; silence may end it sooner.
    pub fn longest_frames(&self) -> u64 {
        self.length.longest_frames
    }

    /// See [`Mixer::take_peaks`].
    pub fn take_peaks(&mut self, peaks: &mut [f32]) {
        self.mixer.take_peaks(peaks);
    }

    /// See [`Mixer::active_voices`]; as of the span that is being rendered.
    pub fn active_voices(&self) -> usize {
        self.mixer.active_voices()
    }
}

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

    /// The next block, at most [`BLOCK_FRAMES`]: left, right, and what the track sends to the reverb
    /// and to the chorus; `None` after the last.
    pub fn next_block(&mut self) -> Option<[&[f32]; TRACK_OUTPUTS]> {
        let frames = self.length.next_frames();
        if frames == 0 {
            return None;
        }
        self.player.process(self.block.each_mut().map(|output| &mut output[..frames]));
        let outputs = self.block.each_ref().map(|output| &output[..frames]);
        self.length.count(outputs[0], outputs[1]);
        Some(outputs)
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
