//! From the first frame to the end of the sound.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use super::desk::Desk;
use super::held_back::HeldBack;
use super::mixer::Slots;
use super::source::Source;
use super::strip::{SILENT_BLOCK, Sounding, TRACK_OUTPUTS, TrackBlock, own};
use super::{Mixer, MixerError, Session};
use crate::block::BLOCK_FRAMES;
use crate::limiter::Reduction;

/// Longest tail that can be asked for, in seconds.
pub const MAX_TAIL_SECS: f64 = 60.0;

/// At or below this level a mix counts as silent: -80 dBFS.
const MIX_SILENCE: f32 = 1e-4;

/// How long it must be silent for a tail to end, in seconds.
const SILENCE_SECS: f64 = 0.1;

/// Blocks that the tracks render at a time, while the desk mixes as many.
const SPAN_BLOCKS: usize = 8;

/// How long a render may ring on after the last item.
///
/// It ends a tenth of a second after the last sound, and where an echo may come yet it is waited
/// for.
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
pub(super) struct Length {
    session_frames: u64,
    pub(super) longest_frames: u64,
    silence: f32,
    silence_frames: u64,
    pub(super) rendered_frames: u64,
    /// End of the last block that sounded.
    sound_end: u64,
}

impl Length {
    pub(super) fn new(session_frames: u64, tail: TailConfig, silence: f32, sample_rate_hz: u32) -> Self {
        let frames = |secs: f64| (secs * f64::from(sample_rate_hz)) as u64;
        Self {
            session_frames,
            longest_frames: session_frames.saturating_add(frames(tail.max_secs.clamp(0.0, MAX_TAIL_SECS))),
            silence,
            silence_frames: frames(SILENCE_SECS),
            rendered_frames: 0,
            sound_end: 0,
        }
    }

    fn is_in_tail(&self) -> bool {
        self.rendered_frames >= self.session_frames
    }

    /// Frames of the next block; 0 where the longest tail ends.
    pub(super) fn next_frames(&self) -> usize {
        let limit = if self.is_in_tail() { self.longest_frames } else { self.session_frames };
        (limit - self.rendered_frames).min(BLOCK_FRAMES as u64) as usize
    }

    /// Whether the session goes on, or has sounded a moment ago.
    pub(super) fn rings(&self) -> bool {
        !self.is_in_tail() || self.rendered_frames - self.sound_end < self.silence_frames
    }

    /// Whether something may come yet, where sound may come after a gap of so many frames. What
    /// went into that gap may have come in at the end of the session, and have been silent from
    /// there on.
    pub(super) fn may_sound_again(&self, gap_frames: usize) -> bool {
        let quiet_frames = self.rendered_frames.saturating_sub(self.sound_end.max(self.session_frames));
        quiet_frames < self.silence_frames + gap_frames as u64
    }

    /// Counts a block, and says whether it sounds.
    pub(super) fn count(&mut self, left: &[f32], right: &[f32]) -> bool {
        self.rendered_frames += left.len() as u64;
        let sounds = left.iter().chain(right).any(|value| value.abs() > self.silence);
        if sounds {
            self.sound_end = self.rendered_frames;
        }
        sounds
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

/// Bytes of a [`TrackSpan`].
pub(super) const SPAN_BYTES: usize = size_of::<TrackSpan>() + SPAN_BLOCKS * size_of::<TrackBlock>();

/// What a track's source makes of a span.
struct TrackSpan {
    blocks: Box<[TrackBlock; SPAN_BLOCKS]>,
    sounding: [Sounding; SPAN_BLOCKS],
}

impl TrackSpan {
    fn new() -> Self {
        Self {
            blocks: Box::new([SILENT_BLOCK; SPAN_BLOCKS]),
            sounding: [[false; TRACK_OUTPUTS]; SPAN_BLOCKS],
        }
    }

    fn fill(&mut self, source: &mut Source) {
        for (block, sounding) in self.blocks.iter_mut().zip(&mut self.sounding) {
            *sounding = source.render(true, block.each_mut().map(|output| &mut output[..]));
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
            desk.begin(true, BLOCK_FRAMES);
            for turn in 0..desk.order.len() {
                let place = desk.order[turn];
                let track = &tracks[place];
                desk.add(place, own(&track.blocks[number], track.sounding[number], BLOCK_FRAMES));
            }
            desk.finish(left, right);
        }
        self.taken = 0;
    }

    fn is_used_up(&self) -> bool {
        self.taken == self.left.len()
    }
}

/// Renders a session block by block, limiter included and its latency and that of all effects taken
/// out.
///
/// The tracks render a span of some blocks while the desk mixes the span before it, so that a
/// [`Crew`] of several threads has work for all; the samples are the same with any crew.
pub struct OfflineRender {
    mixer: Mixer,
    length: Length,
    held_back: HeldBack,
    /// Frames that come before the first that is wanted.
    skipped_frames: u64,
    /// The span that the tracks rendered last, and the one that they render next.
    spans: [Vec<TrackSpan>; 2],
    mix: MixSpan,
    left: [f32; BLOCK_FRAMES],
    right: [f32; BLOCK_FRAMES],
}

impl OfflineRender {
    /// A render of a session at its first frame. `slots` are the session's: its banks alone, or a
    /// [`Slots`].
    ///
    /// # Errors
    ///
    /// [`MixerError`] for a session that cannot be played.
    pub fn new<'a>(
        session: &Session,
        slots: impl Into<Slots<'a>>,
        tail: TailConfig,
    ) -> Result<Self, MixerError> {
        let length = Length::new(session.length_frames, tail, MIX_SILENCE, session.sample_rate_hz);
        Self::with_length(session, slots.into(), 0, length)
    }

    /// A render of some frames of a session, without a tail: the samples that a whole render has
    /// there. All that comes before is rendered, too, and left out: see [`Self::skip_by`].
    ///
    /// # Errors
    ///
    /// [`MixerError`] for a session that cannot be played.
    pub fn of_range<'a>(
        session: &Session,
        slots: impl Into<Slots<'a>>,
        frames: Range<u64>,
    ) -> Result<Self, MixerError> {
        let no_tail = TailConfig { max_secs: 0.0 };
        let length_frames = frames.end.saturating_sub(frames.start);
        let length = Length::new(length_frames, no_tail, MIX_SILENCE, session.sample_rate_hz);
        Self::with_length(session, slots.into(), frames.start, length)
    }

    fn with_length(
        session: &Session,
        slots: Slots<'_>,
        start_frame: u64,
        length: Length,
    ) -> Result<Self, MixerError> {
        let mut mixer = Mixer::new(session, slots)?;
        mixer.play();
        let span = || mixer.sources.iter().map(|_| TrackSpan::new()).collect::<Vec<_>>();
        let mut spans = [span(), span()];
        for (track, source) in spans[0].iter_mut().zip(&mut mixer.sources) {
            track.fill(source);
        }
        let frames = SPAN_BLOCKS * BLOCK_FRAMES;
        Ok(Self {
            length,
            held_back: HeldBack::new(),
            skipped_frames: start_frame.saturating_add(mixer.latency_frames() as u64),
            mixer,
            spans,
            mix: MixSpan { left: vec![0.0; frames], right: vec![0.0; frames], taken: frames },
            left: [0.0; BLOCK_FRAMES],
            right: [0.0; BLOCK_FRAMES],
        })
    }

    /// Renders some of what comes before the first wanted frame, and says whether there is more of
    /// it. Who does not call this waits for all of it in the first [`Self::next_block`].
    pub fn skip_by(&mut self, crew: &dyn Crew) -> bool {
        let frames = self.skipped_frames.min(BLOCK_FRAMES as u64);
        self.take(frames as usize, crew);
        self.skipped_frames -= frames;
        self.skipped_frames > 0
    }

    /// The next block, left and right, at most [`BLOCK_FRAMES`]; `None` after the last.
    pub fn next_block(&mut self) -> Option<(&[f32], &[f32])> {
        self.next_block_by(&Alone)
    }

    /// As [`Self::next_block`], computed by a crew. Where the tail is silent for longer than a
    /// tenth of a second, one call renders on until it sounds again.
    pub fn next_block_by(&mut self, crew: &dyn Crew) -> Option<(&[f32], &[f32])> {
        while self.skipped_frames > 0 {
            self.skip_by(crew);
        }
        if !self.held_back.is_let_go() && !self.render_on(crew) {
            return None;
        }
        Some(self.held_back.give())
    }

    /// Renders the next block; where that is silent and may be left out, all up to the next that
    /// sounds. Says whether there is anything to hand out: not at the end.
    fn render_on(&mut self, crew: &dyn Crew) -> bool {
        loop {
            let frames = self.length.next_frames();
            let rang = self.length.rings();
            if frames == 0 || !rang && !self.length.may_sound_again(self.mixer.gap_frames()) {
                return false;
            }
            self.take(frames, crew);
            let (left, right) = (&self.left[..frames], &self.right[..frames]);
            let sounds = self.length.count(left, right);
            self.held_back.push([left, right]);
            if rang || sounds {
                self.held_back.let_go();
                return true;
            }
        }
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
        let Mixer { sources, desk, .. } = &mut self.mixer;
        let mix = &mut self.mix;
        let mut mixing = || mix.fill(desk, rendered);
        let mut playing: Vec<_> =
            next.iter_mut().zip(sources).map(|(track, source)| move || track.fill(source)).collect();
        let mut jobs: Vec<&mut (dyn FnMut() + Send)> = Vec::with_capacity(playing.len() + 1);
        jobs.push(&mut mixing);
        jobs.extend(playing.iter_mut().map(|job| -> &mut (dyn FnMut() + Send) { job }));
        crew.run(&mut jobs);
        drop(playing);
        self.spans.swap(0, 1);
    }

    /// Frames handed out so far.
    pub fn done_frames(&self) -> u64 {
        self.length.rendered_frames - self.held_back.frames() as u64
    }

    /// Most frames that the render can have; silence may end it sooner.
    pub fn longest_frames(&self) -> u64 {
        self.length.longest_frames
    }

    /// The mix limiter's gain reduction so far, the current span included.
    pub fn limiter_reduction(&self) -> Reduction {
        self.mixer.desk.master.reduction()
    }

    /// See [`Mixer::lets_through`].
    pub fn lets_through(&self, track_place: usize) -> bool {
        self.mixer.lets_through(track_place)
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
