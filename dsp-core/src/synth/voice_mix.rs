//! Mixes the signals of voices into the outputs of their track.

use super::chunk::{CHUNK_FRAMES, Chunk, GROUP_VOICES};
use super::gain_ramps::GainRamp;
use super::voice::Voice;
use crate::block::TRACK_OUTPUTS;
use crate::dsp::lanes::{LANES, Lanes};
use crate::simd::on_best_instructions;

/// A voice's contribution to one output.
#[derive(Clone, Copy)]
struct Contribution {
    /// Index of the voice's chunk.
    chunk: usize,
    ramp: GainRamp,
}

/// The gain ramp of a voice in all lanes: start and step.
type RampLanes = (Lanes, Lanes);

/// Offsets of eight consecutive frames; a ramp makes its first step before the first frame.
const FRAME_OFFSETS: [f32; LANES] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];

on_best_instructions! {
    /// Adds the next frames of voices, in their order, to the outputs of their track. All outputs
    /// have the same length, at most a chunk. `elapsed_frames` is the time of the ramp clock. An
    /// output that is not yet `written` may hold arbitrary values, which the first voice replaces.
    pub(super) fn mix_voices(
        voices: &[Option<Voice>],
        chunks: &[Chunk; GROUP_VOICES],
        elapsed_frames: u32,
        outputs: &mut [&mut [f32]; TRACK_OUTPUTS],
        written: &mut [bool; TRACK_OUTPUTS],
    ) = mix_voices_inline;
}

#[inline(always)]
fn mix_voices_inline(
    voices: &[Option<Voice>],
    chunks: &[Chunk; GROUP_VOICES],
    elapsed_frames: u32,
    outputs: &mut [&mut [f32]; TRACK_OUTPUTS],
    written: &mut [bool; TRACK_OUTPUTS],
) {
    for (output, (sums, written)) in outputs.iter_mut().zip(written).enumerate() {
        let contribution = |voice: &Voice| {
            let chunk = voice.chunk_index;
            voice.gain_ramps.ramp(output).map(|ramp| Contribution { chunk, ramp })
        };
        let mut voices = voices.iter().flatten().filter_map(contribution).fuse();
        // Mixing four voices at a time reads and writes the sums less often.
        while let Some(a) = voices.next() {
            match (voices.next(), voices.next(), voices.next()) {
                (Some(b), Some(c), Some(d)) => mix(&[a, b, c, d], chunks, elapsed_frames, sums, written),
                (Some(b), Some(c), None) => mix(&[a, b, c], chunks, elapsed_frames, sums, written),
                (Some(b), None, _) => mix(&[a, b], chunks, elapsed_frames, sums, written),
                (None, ..) => mix(&[a], chunks, elapsed_frames, sums, written),
            }
        }
    }
}

#[inline(always)]
fn mix<const N: usize>(
    voices: &[Contribution; N],
    chunks: &[Chunk; GROUP_VOICES],
    elapsed_frames: u32,
    sums: &mut [f32],
    written: &mut bool,
) {
    if core::mem::replace(written, true) {
        mix_into::<N, true>(voices, chunks, elapsed_frames, sums);
    } else {
        mix_into::<N, false>(voices, chunks, elapsed_frames, sums);
    }
}

/// Adds voices to `sums`, or replaces these unless they are `WRITTEN`.
#[inline(always)]
fn mix_into<const N: usize, const WRITTEN: bool>(
    voices: &[Contribution; N],
    chunks: &[Chunk; GROUP_VOICES],
    elapsed_frames: u32,
    sums: &mut [f32],
) {
    let chunks = voices.map(|voice| chunks[voice.chunk % GROUP_VOICES].as_chunks::<LANES>().0);
    let ramps = voices.map(|voice| (Lanes::splat(voice.ramp.start), Lanes::splat(voice.ramp.step)));
    let mut frames = Lanes::new(FRAME_OFFSETS) + Lanes::splat(elapsed_frames as f32);
    let (eights, remainder) = sums.as_chunks_mut::<LANES>();
    let whole = eights.len();
    for (index, sums) in eights.iter_mut().take(CHUNK_FRAMES / LANES).enumerate() {
        let before = if WRITTEN { Lanes::new(*sums) } else { Lanes::zero() };
        *sums = with_gains(before, chunks.map(|chunk| Lanes::new(chunk[index])), &ramps, frames).to_array();
        frames = frames + Lanes::splat(LANES as f32);
    }
    if !remainder.is_empty() && whole < CHUNK_FRAMES / LANES {
        let mut before = [0.0; LANES];
        if WRITTEN {
            before[..remainder.len()].copy_from_slice(remainder);
        }
        let values = chunks.map(|chunk| Lanes::new(chunk[whole]));
        let sums = with_gains(Lanes::new(before), values, &ramps, frames).to_array();
        remainder.copy_from_slice(&sums[..remainder.len()]);
    }
}

/// Adds the values of voices, each times its gain, to `sums`.
#[inline(always)]
fn with_gains<const N: usize>(
    mut sums: Lanes,
    values: [Lanes; N],
    ramps: &[RampLanes; N],
    frames: Lanes,
) -> Lanes {
    for (values, (start, step)) in values.into_iter().zip(ramps) {
        sums = sums + values * (*start + *step * frames);
    }
    sums
}
