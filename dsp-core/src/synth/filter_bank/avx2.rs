//! Applies the filters of more than four voices with AVX2 intrinsics. Eight voices share a
//! register.
//!
//! The operations and their order are the same as in [`QuadFilter`](super::QuadFilter), so the
//! results are bit-identical.

use core::arch::x86_64::{
    __m128, __m256, _mm_loadu_ps, _mm_storeu_ps, _mm256_add_ps, _mm256_castps256_ps128,
    _mm256_extractf128_ps, _mm256_loadu_ps, _mm256_mul_ps, _mm256_set_m128, _mm256_setzero_ps,
    _mm256_shuffle_ps, _mm256_storeu_ps, _mm256_sub_ps, _mm256_unpackhi_ps, _mm256_unpacklo_ps,
};

use super::{Filters, QUAD_PAIRS, QUAD_VOICES, VoiceFilter};
use crate::dsp::lanes::LANES;
use crate::synth::chunk::{CHUNK_FRAMES, Chunk, GROUP_VOICES};

/// See [`super::filter`].
#[target_feature(enable = "avx2")]
pub(super) fn filter(
    filters: &mut Filters<'_>,
    chunks: &mut [Chunk; GROUP_VOICES],
    count: usize,
    is_ramping: [bool; QUAD_PAIRS],
    frames: usize,
) {
    match (count <= LANES, is_ramping) {
        (true, [false, _]) => filter_octets::<1, false, false>(filters, chunks, frames),
        (true, [true, _]) => filter_octets::<1, true, false>(filters, chunks, frames),
        (false, [false, false]) => filter_octets::<2, false, false>(filters, chunks, frames),
        (false, [true, false]) => filter_octets::<2, true, false>(filters, chunks, frames),
        (false, [false, true]) => filter_octets::<2, false, true>(filters, chunks, frames),
        (false, [true, true]) => filter_octets::<2, true, true>(filters, chunks, frames),
    }
}

/// Filters the first `OCTETS` octets of voices. The constants say whether any coefficient of the
/// first and of the second octet ramps.
#[target_feature(enable = "avx2")]
#[inline]
fn filter_octets<const OCTETS: usize, const FIRST_RAMPS: bool, const SECOND_RAMPS: bool>(
    filters: &mut Filters<'_>,
    chunks: &mut [Chunk; GROUP_VOICES],
    frames: usize,
) {
    let (filters, chunks) = (filters.as_chunks_mut::<LANES>().0, chunks.as_chunks_mut::<LANES>().0);
    let mut octets = [OctetFilter::zero(); OCTETS];
    for (octet, filters) in octets.iter_mut().zip(&*filters) {
        *octet = OctetFilter::load(filters);
    }
    let is_ramping = [FIRST_RAMPS, SECOND_RAMPS];
    let frames = frames.min(CHUNK_FRAMES);
    let whole_frames = frames - frames % QUAD_VOICES;
    for first in (0..whole_frames).step_by(QUAD_VOICES) {
        let mut blocks = [[_mm256_setzero_ps(); QUAD_VOICES]; OCTETS];
        for (block, chunks) in blocks.iter_mut().zip(&*chunks) {
            for (voice, row) in block.iter_mut().enumerate() {
                let four = |voice: usize| &chunks[voice].as_chunks().0[first / QUAD_VOICES];
                *row = row_of(four(voice), four(voice + QUAD_VOICES));
            }
            *block = transposed(*block);
        }
        for frame in 0..QUAD_VOICES {
            for ((octet, block), is_ramping) in octets.iter_mut().zip(&mut blocks).zip(is_ramping) {
                block[frame] = octet.next(block[frame], is_ramping);
            }
        }
        for (block, chunks) in blocks.iter().zip(&mut *chunks) {
            let (low, high) = chunks.split_at_mut(QUAD_VOICES);
            for ((row, low), high) in transposed(*block).into_iter().zip(low).zip(high) {
                let (low, high) = (low.as_chunks_mut().0, high.as_chunks_mut().0);
                store_row(row, Some(&mut low[first / QUAD_VOICES]), Some(&mut high[first / QUAD_VOICES]));
            }
        }
    }
    for ((octet, chunks), is_ramping) in octets.iter_mut().zip(chunks).zip(is_ramping) {
        for frame in whole_frames..frames {
            let mut values = [0.0; LANES];
            for (value, chunk) in values.iter_mut().zip(&*chunks) {
                *value = chunk[frame];
            }
            let values = to_array(octet.next(from_array(&values), is_ramping));
            for (chunk, value) in chunks.iter_mut().zip(values) {
                chunk[frame] = value;
            }
        }
    }
    for (octet, filters) in octets.iter().zip(filters) {
        octet.store(filters);
    }
}

/// The filters of eight voices, one voice per lane.
#[derive(Clone, Copy)]
struct OctetFilter {
    coefficients: [__m256; 5],
    steps: [__m256; 5],
    inputs: [__m256; 2],
    outputs: [__m256; 2],
}

impl OctetFilter {
    #[target_feature(enable = "avx2")]
    #[inline]
    fn zero() -> Self {
        let zero = _mm256_setzero_ps();
        Self { coefficients: [zero; 5], steps: [zero; 5], inputs: [zero; 2], outputs: [zero; 2] }
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn load(filters: &[Option<&mut VoiceFilter>; LANES]) -> Self {
        let mut values = [[_mm256_setzero_ps(); QUAD_VOICES]; 4];
        for (n, rows) in values.iter_mut().enumerate() {
            for (voice, row) in rows.iter_mut().enumerate() {
                let four = |voice: usize| {
                    let filter = filters[voice].as_deref().unwrap_or(&VoiceFilter::OPEN);
                    &filter.values.as_chunks().0[n]
                };
                *row = row_of(four(voice), four(voice + QUAD_VOICES));
            }
            *rows = transposed(*rows);
        }
        let [[a, b, c, d], [e, f, g, h], [i, j, k, l], [m, n, ..]] = values;
        Self { coefficients: [a, b, c, d, e], steps: [f, g, h, i, j], inputs: [k, l], outputs: [m, n] }
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn store(&self, filters: &mut [Option<&mut VoiceFilter>; LANES]) {
        let Self { coefficients: [a, b, c, d, e], steps: [f, g, h, i, j], .. } = *self;
        let ([k, l], [m, n], zero) = (self.inputs, self.outputs, _mm256_setzero_ps());
        let groups_of_four = [[a, b, c, d], [e, f, g, h], [i, j, k, l], [m, n, zero, zero]];
        for (n, four_values) in groups_of_four.into_iter().enumerate() {
            let (low, high) = filters.split_at_mut(QUAD_VOICES);
            for ((row, low), high) in transposed(four_values).into_iter().zip(low).zip(high) {
                let low = low.as_mut().map(|filter| &mut filter.values.as_chunks_mut().0[n]);
                store_row(row, low, high.as_mut().map(|filter| &mut filter.values.as_chunks_mut().0[n]));
            }
        }
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn next(&mut self, input: __m256, is_ramping: bool) -> __m256 {
        if is_ramping {
            for (coefficient, step) in self.coefficients.iter_mut().zip(self.steps) {
                *coefficient = _mm256_add_ps(*coefficient, step);
            }
        }
        let [b0, b1, b2, a1, a2] = self.coefficients;
        let past = _mm256_add_ps(_mm256_mul_ps(b1, self.inputs[0]), _mm256_mul_ps(b2, self.inputs[1]));
        let forward = _mm256_add_ps(_mm256_mul_ps(b0, input), past);
        let before_last = _mm256_sub_ps(forward, _mm256_mul_ps(a2, self.outputs[1]));
        let output = _mm256_sub_ps(before_last, _mm256_mul_ps(a1, self.outputs[0]));
        self.inputs = [input, self.inputs[0]];
        self.outputs = [output, self.outputs[0]];
        output
    }
}

/// Transposes the 4 x 4 matrices in the two halves of four registers.
#[target_feature(enable = "avx2")]
#[inline]
fn transposed([a, b, c, d]: [__m256; QUAD_VOICES]) -> [__m256; QUAD_VOICES] {
    const LOW: i32 = 0b01_00_01_00;
    const HIGH: i32 = 0b11_10_11_10;
    let (ab_low, cd_low) = (_mm256_unpacklo_ps(a, b), _mm256_unpacklo_ps(c, d));
    let (ab_high, cd_high) = (_mm256_unpackhi_ps(a, b), _mm256_unpackhi_ps(c, d));
    [
        _mm256_shuffle_ps::<LOW>(ab_low, cd_low),
        _mm256_shuffle_ps::<HIGH>(ab_low, cd_low),
        _mm256_shuffle_ps::<LOW>(ab_high, cd_high),
        _mm256_shuffle_ps::<HIGH>(ab_high, cd_high),
    ]
}

/// Returns a register with `low` in its lower half and `high` in its upper half.
#[target_feature(enable = "avx2")]
#[inline]
fn row_of(low: &[f32; QUAD_VOICES], high: &[f32; QUAD_VOICES]) -> __m256 {
    #[expect(unsafe_code, reason = "no safe function loads a register")]
    // SAFETY: each array has the four values that a load reads; the loads need no alignment.
    let (low, high) = unsafe { (_mm_loadu_ps(low.as_ptr()), _mm_loadu_ps(high.as_ptr())) };
    _mm256_set_m128(high, low)
}

/// Stores the two halves of a register.
#[target_feature(enable = "avx2")]
#[inline]
fn store_row(row: __m256, low: Option<&mut [f32; QUAD_VOICES]>, high: Option<&mut [f32; QUAD_VOICES]>) {
    store_half(_mm256_castps256_ps128(row), low);
    store_half(_mm256_extractf128_ps::<1>(row), high);
}

#[target_feature(enable = "avx2")]
#[inline]
fn store_half(half: __m128, destination: Option<&mut [f32; QUAD_VOICES]>) {
    let Some(destination) = destination else { return };
    #[expect(unsafe_code, reason = "no safe function stores a register")]
    // SAFETY: the array has room for the four values; the store needs no alignment.
    unsafe {
        _mm_storeu_ps(destination.as_mut_ptr(), half);
    }
}

#[target_feature(enable = "avx2")]
#[inline]
fn from_array(values: &[f32; LANES]) -> __m256 {
    #[expect(unsafe_code, reason = "no safe function loads a register")]
    // SAFETY: the array has the eight values that the load reads; it needs no alignment.
    unsafe {
        _mm256_loadu_ps(values.as_ptr())
    }
}

#[target_feature(enable = "avx2")]
#[inline]
fn to_array(register: __m256) -> [f32; LANES] {
    let mut values = [0.0; LANES];
    #[expect(unsafe_code, reason = "no safe function stores a register")]
    // SAFETY: the array has room for the eight values; the store needs no alignment.
    unsafe {
        _mm256_storeu_ps(values.as_mut_ptr(), register);
    }
    values
}
