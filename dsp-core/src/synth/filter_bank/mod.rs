//! Applies the filters of several voices together.
//!
//! Each output of a filter depends on its previous output. Successive frames of a voice can
//! therefore not be computed together, but different voices can. Four voices (a quad) share a SIMD
//! register. Two quads are interleaved if there are more than four voices: one quad computes while
//! the results of the other are pending.

#[cfg(all(feature = "std", target_arch = "x86_64"))]
mod avx2;

use wide::f32x4;

use super::chunk::{CHUNK_FRAMES, Chunk, GROUP_VOICES};
use super::filter::Coefficients;
use crate::simd::{on_best_instructions, transpose};

/// Number of voices that share a SIMD register.
const QUAD_VOICES: usize = 4;

/// Number of voices of two quads.
pub(super) const QUAD_PAIR: usize = 2 * QUAD_VOICES;

/// Number of quad pairs in a group.
pub(super) const QUAD_PAIRS: usize = GROUP_VOICES / QUAD_PAIR;

/// Number of values of a filter, rounded up to whole SIMD registers.
const VALUE_COUNT: usize = 16;

// Indices of the values of a filter: five coefficients, their steps per frame, the last two inputs
// and the last two outputs. The most recent input and output are first.
const FIRST_STEP: usize = 5;
const FIRST_INPUT: usize = 10;
const FIRST_OUTPUT: usize = 12;
const VALUES_END: usize = 14;

/// Past inputs and outputs below this magnitude (-300 dBFS) become 0. Subnormal numbers, which are
/// slow to compute, thus never occur.
const SILENT_MAGNITUDE: f32 = 1e-15;

/// Past inputs and outputs from this magnitude on (80 dBFS) become 0. The highest resonance
/// amplifies a sample at full scale to less than 50 dBFS (section 8.1.2, generator 9).
const MAGNITUDE_MAX: f32 = 1e4;

/// The filter of a voice: coefficients and their linear ramps, past inputs and past outputs.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(16))]
pub(super) struct VoiceFilter {
    values: [f32; VALUE_COUNT],
}

impl VoiceFilter {
    /// A filter in silence that leaves its input unchanged.
    pub(super) const OPEN: Self = {
        let mut values = [0.0; VALUE_COUNT];
        values[0] = 1.0;
        Self { values }
    };

    /// Creates a filter in silence with constant coefficients.
    pub(super) fn new(coefficients: Coefficients) -> Self {
        let mut filter = Self::OPEN;
        filter.hold(coefficients);
        filter
    }

    /// Whether the output stays below -96 dBFS if the input is silent.
    pub(super) fn has_decayed(&self) -> bool {
        const DECAYED_MAGNITUDE: f64 = 1.6e-5;
        let values = self.values.map(f64::from);
        if values[FIRST_INPUT..FIRST_OUTPUT].iter().any(|value| value.abs() >= DECAYED_MAGNITUDE) {
            return false;
        }
        let [a1, a2] = [values[FIRST_STEP - 2], values[FIRST_STEP - 1]];
        let [last, previous] = [values[FIRST_OUTPUT], values[FIRST_OUTPUT + 1]];
        // With poles of radius r and angle w, the output is A r^n cos(w n + p). For an output y and
        // the previous output z, y^2 + a1 y z + a2 z^2 is A^2 sin^2 w. It does not depend on the
        // phase.
        let square_of_sine = 1.0 - a1 * a1 / (4.0 * a2);
        if a2 > 0.0 && square_of_sine > 0.0 {
            let energy = last * last + a1 * last * previous + a2 * previous * previous;
            energy < DECAYED_MAGNITUDE * DECAYED_MAGNITUDE * square_of_sine
        } else {
            last.abs() < DECAYED_MAGNITUDE && previous.abs() < DECAYED_MAGNITUDE
        }
    }

    /// Ramps the coefficients to a target in `1 / per_frame` frames. If a filter is stable at both
    /// ends of a linear ramp of its coefficients, it is stable during the ramp.
    pub(super) fn set_target(&mut self, target: Coefficients, per_frame: f32) {
        let (coefficients, steps) = self.values.split_at_mut(FIRST_STEP);
        for ((step, coefficient), target) in steps.iter_mut().zip(coefficients).zip(target.to_array()) {
            *step = (target - *coefficient) * per_frame;
        }
    }

    /// Advances the ramps of the coefficients by some frames.
    pub(super) fn skip(&mut self, frames: f32) {
        let (coefficients, steps) = self.values.split_at_mut(FIRST_STEP);
        for (coefficient, step) in coefficients.iter_mut().zip(steps) {
            *coefficient += *step * frames;
        }
    }

    /// Returns the current coefficients.
    pub(super) fn coefficients(&self) -> Coefficients {
        Coefficients::from_array(core::array::from_fn(|index| self.values[index]))
    }

    /// Sets the coefficients and stops their ramps.
    pub(super) fn hold(&mut self, coefficients: Coefficients) {
        self.values[..FIRST_STEP].copy_from_slice(&coefficients.to_array());
        self.values[FIRST_STEP..FIRST_INPUT].fill(0.0);
    }

    /// Stores the last two values as past inputs and past outputs. In an open filter these are
    /// equal.
    pub(super) fn bypass(&mut self, values: &[f32]) {
        for value in &values[values.len().saturating_sub(2)..] {
            for past_value in [FIRST_INPUT, FIRST_OUTPUT] {
                self.values[past_value + 1] = self.values[past_value];
                self.values[past_value] = *value;
            }
        }
    }

    /// Sets inaudible past inputs and outputs to 0, and also those that a stable filter never
    /// reaches. A high resonance can make the output grow without limit while the cutoff moves.
    pub(super) fn bound_state(&mut self) {
        for value in &mut self.values[FIRST_INPUT..VALUES_END] {
            *value = if (SILENT_MAGNITUDE..MAGNITUDE_MAX).contains(&value.abs()) { *value } else { 0.0 };
        }
    }
}

/// The filters of the voices of a group. They start at index 0 and have no gaps.
pub(super) type Filters<'a> = [Option<&'a mut VoiceFilter>; GROUP_VOICES];

/// Filters the first `frames` frames of the first `count` chunks in place. Each chunk uses the
/// filter with the same index. `ramping` says whether any coefficient of a quad pair ramps.
pub(super) fn filter(
    filters: &mut Filters<'_>,
    chunks: &mut [Chunk; GROUP_VOICES],
    count: usize,
    ramping: [bool; QUAD_PAIRS],
    frames: usize,
) {
    #[cfg(all(feature = "std", target_arch = "x86_64"))]
    if count > QUAD_VOICES && crate::simd::has_avx2() {
        #[expect(unsafe_code, reason = "the only way to call code for a feature found at run time")]
        // SAFETY: `avx2` has just found the one feature that the function needs.
        return unsafe { avx2::filter(filters, chunks, count, ramping, frames) };
    }
    filter_by_quads(filters, chunks, count, ramping, frames);
}

on_best_instructions! {
    fn filter_by_quads(
        filters: &mut Filters<'_>,
        chunks: &mut [Chunk; GROUP_VOICES],
        count: usize,
        ramping: [bool; QUAD_PAIRS],
        frames: usize,
    ) = filter_by_quads_inline;
}

#[inline(always)]
fn filter_by_quads_inline(
    filters: &mut Filters<'_>,
    chunks: &mut [Chunk; GROUP_VOICES],
    count: usize,
    ramping: [bool; QUAD_PAIRS],
    frames: usize,
) {
    let pairs = filters.as_chunks_mut().0.iter_mut().zip(chunks.as_chunks_mut().0);
    for (((filters, chunks), ramping), first) in pairs.zip(ramping).zip((0..count).step_by(QUAD_PAIR)) {
        match (ramping, count - first <= QUAD_VOICES) {
            (false, true) => filter_quads::<1, false>(filters, chunks, frames),
            (true, true) => filter_quads::<1, true>(filters, chunks, frames),
            (false, false) => filter_quads::<2, false>(filters, chunks, frames),
            (true, false) => filter_quads::<2, true>(filters, chunks, frames),
        }
    }
}

/// The filters of a quad, one voice per lane.
#[derive(Clone, Copy)]
struct QuadFilter {
    coefficients: [f32x4; 5],
    steps: [f32x4; 5],
    inputs: [f32x4; 2],
    outputs: [f32x4; 2],
}

impl QuadFilter {
    const ZERO: Self = Self {
        coefficients: [f32x4::ZERO; 5],
        steps: [f32x4::ZERO; 5],
        inputs: [f32x4::ZERO; 2],
        outputs: [f32x4::ZERO; 2],
    };

    #[inline(always)]
    fn load(filters: &[Option<&mut VoiceFilter>; QUAD_VOICES]) -> Self {
        // Loads the values 4 n to 4 n + 3 of all voices into one register per value.
        let four_values = |n: usize| {
            let of_voice = |voice: usize| {
                let filter = filters[voice].as_deref().unwrap_or(&VoiceFilter::OPEN);
                f32x4::from(filter.values.as_chunks().0[n])
            };
            transpose([of_voice(0), of_voice(1), of_voice(2), of_voice(3)])
        };
        let ([a, b, c, d], [e, f, g, h]) = (four_values(0), four_values(1));
        let ([i, j, k, l], [m, n, ..]) = (four_values(2), four_values(3));
        Self { coefficients: [a, b, c, d, e], steps: [f, g, h, i, j], inputs: [k, l], outputs: [m, n] }
    }

    #[inline(always)]
    fn store(&self, filters: &mut [Option<&mut VoiceFilter>; QUAD_VOICES]) {
        let Self { coefficients: [a, b, c, d, e], steps: [f, g, h, i, j], .. } = *self;
        let ([k, l], [m, n]) = (self.inputs, self.outputs);
        let groups_of_four = [[a, b, c, d], [e, f, g, h], [i, j, k, l], [m, n, f32x4::ZERO, f32x4::ZERO]];
        for (n, four_values) in groups_of_four.into_iter().enumerate() {
            for (filter, values) in filters.iter_mut().zip(transpose(four_values)) {
                if let Some(filter) = filter {
                    filter.values.as_chunks_mut().0[n] = values.to_array();
                }
            }
        }
    }

    #[inline(always)]
    fn next<const RAMPING: bool>(&mut self, input: f32x4) -> f32x4 {
        if RAMPING {
            for (coefficient, step) in self.coefficients.iter_mut().zip(self.steps) {
                *coefficient += step;
            }
        }
        let [b0, b1, b2, a1, a2] = self.coefficients;
        let forward = b0 * input + (b1 * self.inputs[0] + b2 * self.inputs[1]);
        let output = (forward - a2 * self.outputs[1]) - a1 * self.outputs[0];
        self.inputs = [input, self.inputs[0]];
        self.outputs = [output, self.outputs[0]];
        output
    }
}

/// Filters four frames of four voices at a time. The values are transposed in registers, from one
/// voice per register to one frame per register and back.
#[inline(always)]
fn filter_quads<const QUADS: usize, const RAMPING: bool>(
    filters: &mut [Option<&mut VoiceFilter>; QUAD_PAIR],
    chunks: &mut [Chunk; QUAD_PAIR],
    frames: usize,
) {
    let (filters, chunks) =
        (filters.as_chunks_mut::<QUAD_VOICES>().0, chunks.as_chunks_mut::<QUAD_VOICES>().0);
    let mut quads = [QuadFilter::ZERO; QUADS];
    for (quad, filters) in quads.iter_mut().zip(&*filters) {
        *quad = QuadFilter::load(filters);
    }
    let frames = frames.min(CHUNK_FRAMES);
    let whole_frames = frames - frames % QUAD_VOICES;
    for first in (0..whole_frames).step_by(QUAD_VOICES) {
        let mut blocks = [[f32x4::ZERO; QUAD_VOICES]; QUADS];
        for (block, chunks) in blocks.iter_mut().zip(&*chunks) {
            for (voice, chunk) in block.iter_mut().zip(chunks) {
                let mut values = [0.0; QUAD_VOICES];
                values.copy_from_slice(&chunk[first..first + QUAD_VOICES]);
                *voice = f32x4::from(values);
            }
            *block = transpose(*block);
        }
        for frame in 0..QUAD_VOICES {
            for (quad, block) in quads.iter_mut().zip(&mut blocks) {
                block[frame] = quad.next::<RAMPING>(block[frame]);
            }
        }
        for (block, chunks) in blocks.iter().zip(&mut *chunks) {
            for (voice, chunk) in transpose(*block).iter().zip(chunks) {
                chunk[first..first + QUAD_VOICES].copy_from_slice(&voice.to_array());
            }
        }
    }
    for (quad, chunks) in quads.iter_mut().zip(chunks) {
        for frame in whole_frames..frames {
            let inputs = chunks.each_ref().map(|chunk| chunk[frame]);
            let outputs = quad.next::<RAMPING>(f32x4::from(inputs)).to_array();
            for (chunk, output) in chunks.iter_mut().zip(outputs) {
                chunk[frame] = output;
            }
        }
    }
    for (quad, filters) in quads.iter().zip(filters) {
        quad.store(filters);
    }
}
