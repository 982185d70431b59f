//! Renders a session offline, until its sound ends.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use super::length::{RenderLength, TailConfig};
use super::lookahead::LookaheadBuffer;
use super::threads::{RenderThreads, SingleThread};
use crate::block::{
    ActiveOutputs, BLOCK_FRAMES, RENDER_SPAN_BLOCKS, SILENT_BLOCK, TRACK_OUTPUTS, TrackBlock, track_signal,
};
use crate::limiter::Reduction;
use crate::mixer::{EffectRack, MixGraph, Mixer, MixerError, Slots, TrackSource};
use crate::session::Session;

/// Highest magnitude of a mix that counts as silence: -80 dBFS.
const MIX_SILENCE: f32 = 1e-4;

/// The signal of a track in a span of [`RENDER_SPAN_BLOCKS`] blocks.
struct TrackSpan {
    blocks: Box<[TrackBlock; RENDER_SPAN_BLOCKS]>,
    /// Outputs that are not silent, for each block.
    active: [ActiveOutputs; RENDER_SPAN_BLOCKS],
}

impl TrackSpan {
    fn new() -> Self {
        Self {
            blocks: Box::new([SILENT_BLOCK; RENDER_SPAN_BLOCKS]),
            active: [[false; TRACK_OUTPUTS]; RENDER_SPAN_BLOCKS],
        }
    }

    /// Renders the next span of the track.
    fn fill(&mut self, source: &mut TrackSource, rack: Option<&mut EffectRack>) {
        let mut rack = rack;
        for (block, active) in self.blocks.iter_mut().zip(&mut self.active) {
            let outputs = block.each_mut().map(|output| &mut output[..]);
            *active = source.render(true, outputs, rack.as_deref_mut());
        }
    }
}

/// The mix of a span of [`RENDER_SPAN_BLOCKS`] blocks.
struct MixSpan {
    left: Vec<f32>,
    right: Vec<f32>,
    /// Number of frames that [`OfflineRender::read_mix`] has copied.
    returned_frames: usize,
}

impl MixSpan {
    /// Mixes the spans of the tracks.
    fn fill(&mut self, graph: &mut MixGraph, racks: &mut [Option<&mut EffectRack>], tracks: &[TrackSpan]) {
        let blocks = self.left.chunks_mut(BLOCK_FRAMES).zip(self.right.chunks_mut(BLOCK_FRAMES));
        for (number, (left, right)) in blocks.enumerate() {
            graph.begin(true, BLOCK_FRAMES);
            for position in 0..graph.order.len() {
                let index = graph.order[position];
                let track = &tracks[index];
                let signal = track_signal(&track.blocks[number], track.active[number], BLOCK_FRAMES);
                graph.process_strip(index, signal, racks[index].as_deref_mut());
            }
            graph.finish(left, right);
        }
        self.returned_frames = 0;
    }

    fn is_used_up(&self) -> bool {
        self.returned_frames == self.left.len()
    }
}

/// Renders a session block by block, through its effects and the limiter. The render drops their
/// latency.
///
/// While the tracks render a span of blocks, the mixer processes the previous span, so that several
/// threads have work. The samples do not depend on the number of threads.
pub struct OfflineRender {
    mixer: Mixer,
    length: RenderLength,
    lookahead: LookaheadBuffer,
    /// Number of frames to render and drop before the first frame that is returned.
    skipped_frames: u64,
    /// The last span that the tracks have rendered, then the next span. Each has all tracks.
    spans: [Vec<TrackSpan>; 2],
    mix: MixSpan,
    left: [f32; BLOCK_FRAMES],
    right: [f32; BLOCK_FRAMES],
}

impl OfflineRender {
    /// Creates a render that starts at the first frame of a session. `slots` are the session's
    /// SoundFont banks, or a [`Slots`].
    ///
    /// # Errors
    ///
    /// [`MixerError`] for a session that cannot be played.
    pub fn new<'a>(
        session: &Session,
        slots: impl Into<Slots<'a>>,
        tail: TailConfig,
    ) -> Result<Self, MixerError> {
        let length = RenderLength::new(session.length_frames, tail, MIX_SILENCE, session.sample_rate_hz);
        Self::with_length(session, slots.into(), 0, length)
    }

    /// Creates a render of a range of frames of a session, without a tail. The samples are those of
    /// a whole render. The frames before the range are rendered and dropped: see
    /// [`Self::skip_block`].
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
        let length = RenderLength::new(length_frames, no_tail, MIX_SILENCE, session.sample_rate_hz);
        Self::with_length(session, slots.into(), frames.start, length)
    }

    fn with_length(
        session: &Session,
        slots: Slots<'_>,
        start_frame: u64,
        length: RenderLength,
    ) -> Result<Self, MixerError> {
        let mut mixer = Mixer::new(session, slots)?;
        mixer.play();
        let span = || mixer.tracks.iter().map(|_| TrackSpan::new()).collect::<Vec<_>>();
        let mut spans = [span(), span()];
        for ((track, source), rack) in spans[0].iter_mut().zip(&mut mixer.tracks).zip(&mut mixer.racks) {
            track.fill(source, (!rack.runs_in_mix).then_some(rack));
        }
        let frames = RENDER_SPAN_BLOCKS * BLOCK_FRAMES;
        Ok(Self {
            length,
            lookahead: LookaheadBuffer::new(),
            skipped_frames: start_frame.saturating_add(mixer.latency_frames() as u64),
            mixer,
            spans,
            mix: MixSpan { left: vec![0.0; frames], right: vec![0.0; frames], returned_frames: frames },
            left: [0.0; BLOCK_FRAMES],
            right: [0.0; BLOCK_FRAMES],
        })
    }

    /// Renders and drops one block before the first frame that is returned. Returns whether more
    /// frames must be dropped. The first [`Self::next_block`] drops all that remain.
    pub fn skip_block(&mut self, threads: &dyn RenderThreads) -> bool {
        let frames = self.skipped_frames.min(BLOCK_FRAMES as u64);
        self.read_mix(frames as usize, threads);
        self.skipped_frames -= frames;
        self.skipped_frames > 0
    }

    /// Renders left and right of the next block, at most [`BLOCK_FRAMES`] frames. Returns `None`
    /// after the last block.
    pub fn next_block(&mut self) -> Option<(&[f32], &[f32])> {
        self.next_block_on(&SingleThread)
    }

    /// Like [`Self::next_block`], but on several threads. If the tail is silent for longer than a
    /// tenth of a second, the call renders until sound follows.
    pub fn next_block_on(&mut self, threads: &dyn RenderThreads) -> Option<(&[f32], &[f32])> {
        while self.skipped_frames > 0 {
            self.skip_block(threads);
        }
        if !self.lookahead.has_released_frames() && !self.render_next(threads) {
            return None;
        }
        Some(self.lookahead.next_block())
    }

    /// Renders the next block. In a silent tail, it renders all blocks up to the next audible
    /// block. Returns false at the end of the render.
    fn render_next(&mut self, threads: &dyn RenderThreads) -> bool {
        loop {
            let frames = self.length.next_frames();
            let was_audible = self.length.is_audible();
            if frames == 0
                || !was_audible && !self.length.may_sound_again(self.mixer.longest_silence_frames())
            {
                return false;
            }
            self.read_mix(frames, threads);
            let (left, right) = (&self.left[..frames], &self.right[..frames]);
            let is_audible = self.length.count(left, right);
            self.lookahead.push([left, right]);
            if was_audible || is_audible {
                self.lookahead.release();
                return true;
            }
        }
    }

    /// Copies the next frames of the mix into `left` and `right`.
    fn read_mix(&mut self, frames: usize, threads: &dyn RenderThreads) {
        let mut filled_frames = 0;
        while filled_frames < frames {
            if self.mix.is_used_up() {
                self.render_span(threads);
            }
            let start = self.mix.returned_frames;
            let chunk_frames = (frames - filled_frames).min(self.mix.left.len() - start);
            self.left[filled_frames..filled_frames + chunk_frames]
                .copy_from_slice(&self.mix.left[start..start + chunk_frames]);
            self.right[filled_frames..filled_frames + chunk_frames]
                .copy_from_slice(&self.mix.right[start..start + chunk_frames]);
            self.mix.returned_frames += chunk_frames;
            filled_frames += chunk_frames;
        }
    }

    /// Mixes the last span of the tracks, and renders their next span at the same time.
    fn render_span(&mut self, threads: &dyn RenderThreads) {
        let [rendered_span, next_span] = &mut self.spans;
        let Mixer { tracks, racks, graph, .. } = &mut self.mixer;
        // Each effect rack runs either in the job of its track or in the job of the mix.
        let (mut track_racks, mut mix_racks) = (Vec::new(), Vec::new());
        for rack in racks {
            let (of_track, of_mix) = if rack.runs_in_mix { (None, Some(rack)) } else { (Some(rack), None) };
            track_racks.push(of_track);
            mix_racks.push(of_mix);
        }
        let mix = &mut self.mix;
        let mut mix_job = || mix.fill(graph, &mut mix_racks, rendered_span);
        let track_parts = next_span.iter_mut().zip(tracks).zip(track_racks);
        let mut track_jobs: Vec<_> = track_parts
            .map(|((track, source), mut rack)| move || track.fill(source, rack.as_deref_mut()))
            .collect();
        let mut jobs: Vec<&mut (dyn FnMut() + Send)> = Vec::with_capacity(track_jobs.len() + 1);
        jobs.push(&mut mix_job);
        jobs.extend(track_jobs.iter_mut().map(|job| -> &mut (dyn FnMut() + Send) { job }));
        threads.run(&mut jobs);
        drop(track_jobs);
        self.spans.swap(0, 1);
    }

    /// Returns the number of frames returned so far.
    pub fn done_frames(&self) -> u64 {
        self.length.rendered_frames - self.lookahead.frames() as u64
    }

    /// Returns the maximum number of frames of the render. Silence may end the render sooner.
    pub fn max_frames(&self) -> u64 {
        self.length.max_frames
    }

    /// Returns the gain reduction of the limiter since the last call, including the current span.
    pub fn take_limiter_reduction(&mut self) -> Reduction {
        self.mixer.take_limiter_reduction()
    }

    /// See [`Mixer::lets_through`].
    pub fn lets_through(&self, track: usize) -> bool {
        self.mixer.lets_through(track)
    }

    /// See [`Mixer::take_peaks`].
    pub fn take_peaks(&mut self, peaks: &mut [f32]) {
        self.mixer.take_peaks(peaks);
    }

    /// See [`Mixer::active_voice_count`]. The number is that of the last span that the tracks have
    /// rendered.
    pub fn active_voice_count(&self) -> usize {
        self.mixer.active_voice_count()
    }
}
