//! Mixes the signals of voices into the outputs of their track.

use super::chunk::{CHUNK_FRAMES, Chunk, GROUP_VOICES};
use super::gain_ramps::GainRamp;
use super::voice::Voice;
use crate::block::TRACK_OUTPUTS;
use crate::dsp::lanes::{LANES, Lanes};
use crate::simd::on_best_instructions;

/// The contribution of a voice to one output.
#[derive(Clone, Copy)]
struct Contribution {
    /// Index of the voice's chunk.
    chunk_index: usize,
    ramp: GainRamp,
}

/// Start and step of a gain ramp, each repeated in all SIMD lanes.
type RampLanes = (Lanes, Lanes);

/// Offsets of eight consecutive frames. They start at 1, because a ramp makes its first step before
/// the first frame.
const FRAME_OFFSETS: [f32; LANES] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];

on_best_instructions! {
    /// Adds the next frames of the voices to the outputs of their track, in the order of the
    /// voices. All outputs have the same length, at most [`CHUNK_FRAMES`]. `elapsed_frames` is the
    /// time of the ramp clock. An output that is not yet in `written_outputs` may hold any values.
    /// The first voice replaces them.
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
    written_outputs: &mut [bool; TRACK_OUTPUTS],
) {
    for (output, (sums, is_written)) in outputs.iter_mut().zip(written_outputs).enumerate() {
        let contribution = |voice: &Voice| {
            let chunk_index = voice.chunk_index;
            voice.gain_ramps.ramp(output).map(|ramp| Contribution { chunk_index, ramp })
        };
        let mut voices = voices.iter().flatten().filter_map(contribution).fuse();
        // Mixing four voices at a time reads and writes the sums less often.
        while let Some(a) = voices.next() {
            match (voices.next(), voices.next(), voices.next()) {
                (Some(b), Some(c), Some(d)) => mix(&[a, b, c, d], chunks, elapsed_frames, sums, is_written),
                (Some(b), Some(c), None) => mix(&[a, b, c], chunks, elapsed_frames, sums, is_written),
                (Some(b), None, _) => mix(&[a, b], chunks, elapsed_frames, sums, is_written),
                (None, ..) => mix(&[a], chunks, elapsed_frames, sums, is_written),
            }
        }
    }
}

/// Adds voices to an output, or replaces the values of an output that is not yet written.
#[inline(always)]
fn mix<const N: usize>(
    voices: &[Contribution; N],
    chunks: &[Chunk; GROUP_VOICES],
    elapsed_frames: u32,
    sums: &mut [f32],
    is_written: &mut bool,
) {
    if core::mem::replace(is_written, true) {
        mix_into::<N, true>(voices, chunks, elapsed_frames, sums);
    } else {
        mix_into::<N, false>(voices, chunks, elapsed_frames, sums);
    }
}

/// Adds voices to `sums` if `WRITTEN` is true. Otherwise replaces the values of `sums`.
#[inline(always)]
fn mix_into<const N: usize, const WRITTEN: bool>(
    voices: &[Contribution; N],
    chunks: &[Chunk; GROUP_VOICES],
    elapsed_frames: u32,
    sums: &mut [f32],
) {
    let chunks = voices.map(|voice| chunks[voice.chunk_index % GROUP_VOICES].as_chunks::<LANES>().0);
    let ramps = voices.map(|voice| (Lanes::splat(voice.ramp.start), Lanes::splat(voice.ramp.step)));
    let mut frames = Lanes::new(FRAME_OFFSETS) + Lanes::splat(elapsed_frames as f32);
    let (eights, remainder) = sums.as_chunks_mut::<LANES>();
    let eight_count = eights.len();
    for (index, sums) in eights.iter_mut().take(CHUNK_FRAMES / LANES).enumerate() {
        let written_values = if WRITTEN { Lanes::new(*sums) } else { Lanes::zero() };
        *sums = add_with_gains(written_values, chunks.map(|chunk| Lanes::new(chunk[index])), &ramps, frames)
            .to_array();
        frames = frames + Lanes::splat(LANES as f32);
    }
    if !remainder.is_empty() && eight_count < CHUNK_FRAMES / LANES {
        let mut written_values = [0.0; LANES];
        if WRITTEN {
            written_values[..remainder.len()].copy_from_slice(remainder);
        }
        let values = chunks.map(|chunk| Lanes::new(chunk[eight_count]));
        let sums = add_with_gains(Lanes::new(written_values), values, &ramps, frames).to_array();
        remainder.copy_from_slice(&sums[..remainder.len()]);
    }
}

/// Multiplies the values of each voice by its gain and adds the products to `sums`.
#[inline(always)]
fn add_with_gains<const N: usize>(
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
