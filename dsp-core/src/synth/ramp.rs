//! The way of voices into the mix: gains that go straight from where they are to where they are
//! aimed.

use super::interpolation::{CHUNK_FRAMES, Chunk};
use super::lanes::{LANES, Lanes};
use super::voice::Voice;
use super::voices::GROUP;
use crate::session::TRACK_OUTPUTS;
use crate::simd::on_best_instructions;

/// Where voices that are aimed stand in the time that all count together.
#[derive(Debug, Clone, Copy)]
pub(super) struct Offset {
    /// Frames since the count began.
    pub(super) passed: u32,
    /// Whether it begins anew, with all voices.
    pub(super) restarts: bool,
}

/// The gains of a voice on the outputs of its track.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ramps {
    /// At the start of the count, had they gone as they go now.
    starts: [f32; TRACK_OUTPUTS],
    steps: [f32; TRACK_OUTPUTS],
}

impl Ramps {
    pub(super) const SILENT: Self = Self { starts: [0.0; TRACK_OUTPUTS], steps: [0.0; TRACK_OUTPUTS] };

    /// Lets the gains reach their targets in `1 / per_frame` frames, from where they are.
    pub(super) fn aim(&mut self, targets: [f32; TRACK_OUTPUTS], per_frame: f32, offset: Offset) {
        let passed = offset.passed as f32;
        let counted = if offset.restarts { 0.0 } else { passed };
        for ((start, step), target) in self.starts.iter_mut().zip(&mut self.steps).zip(targets) {
            let here = *start + *step * passed;
            *step = (target - here) * per_frame;
            *start = here - *step * counted;
        }
    }

    /// Lets the gains begin at 0 and be a share of what they would have been in so many frames.
    /// `passed` frames have been counted.
    pub(super) fn rise(&mut self, passed: u32, frames: u32, share: f32) {
        let passed = passed as f32;
        for (start, step) in self.starts.iter_mut().zip(&mut self.steps) {
            let end = (*start + *step * (passed + frames as f32)) * share;
            *step = end / frames.max(1) as f32;
            *start = -*step * passed;
        }
    }

    /// The way to an output, unless nothing is heard there.
    fn way(&self, output: usize, lane: usize) -> Option<Way> {
        let (start, step) = (self.starts[output], self.steps[output]);
        (start != 0.0 || step != 0.0).then_some(Way { lane, start, step })
    }
}

/// The way of a voice to one output.
#[derive(Clone, Copy)]
struct Way {
    /// Of its chunk.
    lane: usize,
    start: f32,
    step: f32,
}

/// The numbers of eight frames that follow each other.
const COUNT: Lanes = Lanes([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);

on_best_instructions! {
    /// Adds the next frames of voices, in their order, to the outputs of their track, which all
    /// have the same length, at most that of a chunk. `passed` frames have been counted. Outputs
    /// that are not yet `written` hold anything.
    pub(super) fn add(
        voices: &[Option<Voice>],
        chunks: &[Chunk; GROUP],
        passed: u32,
        outputs: &mut [&mut [f32]; TRACK_OUTPUTS],
        written: &mut [bool; TRACK_OUTPUTS],
    ) = add_inline;
}

#[inline(always)]
fn add_inline(
    voices: &[Option<Voice>],
    chunks: &[Chunk; GROUP],
    passed: u32,
    outputs: &mut [&mut [f32]; TRACK_OUTPUTS],
    written: &mut [bool; TRACK_OUTPUTS],
) {
    for (output, (sums, written)) in outputs.iter_mut().zip(written).enumerate() {
        let mut ways = voices.iter().flatten().filter_map(|voice| voice.ramps.way(output, voice.lane)).fuse();
        // Four at a time, so that the sums are read and written less often.
        while let Some(a) = ways.next() {
            match (ways.next(), ways.next(), ways.next()) {
                (Some(b), Some(c), Some(d)) => add_ways(&[a, b, c, d], chunks, passed, sums, written),
                (Some(b), Some(c), None) => add_ways(&[a, b, c], chunks, passed, sums, written),
                (Some(b), None, _) => add_ways(&[a, b], chunks, passed, sums, written),
                (None, ..) => add_ways(&[a], chunks, passed, sums, written),
            }
        }
    }
}

#[inline(always)]
fn add_ways<const N: usize>(
    ways: &[Way; N],
    chunks: &[Chunk; GROUP],
    passed: u32,
    sums: &mut [f32],
    written: &mut bool,
) {
    if core::mem::replace(written, true) {
        add_ways_to::<N, true>(ways, chunks, passed, sums);
    } else {
        add_ways_to::<N, false>(ways, chunks, passed, sums);
    }
}

#[inline(always)]
fn add_ways_to<const N: usize, const WRITTEN: bool>(
    ways: &[Way; N],
    chunks: &[Chunk; GROUP],
    passed: u32,
    sums: &mut [f32],
) {
    let chunks = ways.map(|way| chunks[way.lane % GROUP].as_chunks::<LANES>().0);
    let gains = ways.map(|way| (Lanes::all(way.start), Lanes::all(way.step)));
    let mut count = COUNT + Lanes::all(passed as f32);
    let (eights, rest) = sums.as_chunks_mut::<LANES>();
    let whole = eights.len();
    for (number, sums) in eights.iter_mut().take(CHUNK_FRAMES / LANES).enumerate() {
        let before = if WRITTEN { Lanes(*sums) } else { Lanes::ZERO };
        *sums = added(before, chunks.map(|chunk| Lanes(chunk[number])), &gains, count).0;
        count = count + Lanes::all(LANES as f32);
    }
    if !rest.is_empty() && whole < CHUNK_FRAMES / LANES {
        let mut before = Lanes::ZERO;
        if WRITTEN {
            before.0[..rest.len()].copy_from_slice(rest);
        }
        let sums = added(before, chunks.map(|chunk| Lanes(chunk[whole])), &gains, count);
        rest.copy_from_slice(&sums.0[..rest.len()]);
    }
}

/// Sums with the values of some voices, each with its gain: where it starts, and its step.
#[inline(always)]
fn added<const N: usize>(
    mut sums: Lanes,
    values: [Lanes; N],
    gains: &[(Lanes, Lanes); N],
    count: Lanes,
) -> Lanes {
    for (values, (start, step)) in values.into_iter().zip(gains) {
        sums = sums + values * (*start + *step * count);
    }
    sums
}
