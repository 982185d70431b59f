//! Cubic interpolation of 16-bit values with AVX2 intrinsics. Most voices use it most of the time.
//!
//! The compiler does not generate this transposition of the taps. The operations and their order
//! are the same as in [`Cubic`](super::polynomial::Cubic), so the results are bit-identical.

use core::arch::x86_64::{
    __m128i, __m256, __m256i, _mm_cvtepi16_epi32, _mm_cvtsi64_si128, _mm256_add_epi32, _mm256_add_ps,
    _mm256_cvtepi32_ps, _mm256_mul_ps, _mm256_set_m128i, _mm256_set1_epi32, _mm256_set1_ps,
    _mm256_setr_epi32, _mm256_srli_epi32, _mm256_storeu_ps, _mm256_sub_ps, _mm256_unpackhi_epi32,
    _mm256_unpackhi_epi64, _mm256_unpacklo_epi32, _mm256_unpacklo_epi64,
};

use super::pcm16::{FOUR, Pcm16, UNIT_16};
use crate::dsp::lanes::LANES;

/// Offsets of eight consecutive positions relative to the first position.
struct Offsets {
    lanes: [u64; LANES],
    /// The lower 32 bits of `lanes`, which are the fractions of a frame.
    fractions: __m256i,
}

/// Interpolates 16-bit values. The first value is the tap before the position. `fraction` is the
/// fraction of the position, and `step` is the distance between positions, both in 2^-32 of a
/// frame.
#[target_feature(enable = "avx2")]
pub(super) fn cubic_pcm16(values: &[Pcm16], fraction: u32, step: u64, out: &mut [f32]) {
    let mut lanes = [0; LANES];
    for (lane, offset) in lanes.iter_mut().enumerate() {
        *offset = step.wrapping_mul(lane as u64);
    }
    let [a, b, c, d, e, f, g, h] = lanes.map(|offset| offset as u32 as i32);
    let offsets = Offsets {
        // Without `black_box`, the compiler would precompute the offsets of a whole chunk.
        lanes: core::hint::black_box(lanes),
        fractions: _mm256_setr_epi32(a, b, c, d, e, f, g, h),
    };
    let mut position = u64::from(fraction);
    let (eights, remainder) = out.as_chunks_mut::<LANES>();
    for eight in eights {
        eight_frames(values, position, &offsets, eight);
        position = position.wrapping_add(step.wrapping_mul(LANES as u64));
    }
    if !remainder.is_empty() {
        let mut eight = [0.0; LANES];
        eight_frames(values, position, &offsets, &mut eight);
        for (value, result) in remainder.iter_mut().zip(eight) {
            *value = result;
        }
    }
}

/// Returns the four values from a position onwards, converted to 32 bits.
#[target_feature(enable = "avx2")]
#[inline]
fn four_taps(values: &[Pcm16], position: u64) -> __m128i {
    let index = (position >> 32) as usize;
    // Only positions after the last requested position may lie outside the values.
    let four: Option<&[Pcm16; FOUR]> =
        values.get(index..index.wrapping_add(FOUR)).and_then(<[_]>::first_chunk);
    let bytes = four.and_then(|four| four.as_flattened().first_chunk()).copied().unwrap_or_default();
    _mm_cvtepi16_epi32(_mm_cvtsi64_si128(i64::from_le_bytes(bytes)))
}

/// Interpolates eight frames from a position onwards.
#[target_feature(enable = "avx2")]
#[inline]
fn eight_frames(values: &[Pcm16], position: u64, offsets: &Offsets, out: &mut [f32; LANES]) {
    // The lower halves of the registers have the taps of frames 0 to 3, the upper halves those of
    // frames 4 to 7.
    let pair = |lane: usize| {
        let lane_position = |lane: usize| position.wrapping_add(offsets.lanes[lane]);
        _mm256_set_m128i(
            four_taps(values, lane_position(lane + FOUR)),
            four_taps(values, lane_position(lane)),
        )
    };
    let (a, b, c, d) = (pair(0), pair(1), pair(2), pair(3));
    let (ab_low, cd_low) = (_mm256_unpacklo_epi32(a, b), _mm256_unpacklo_epi32(c, d));
    let (ab_high, cd_high) = (_mm256_unpackhi_epi32(a, b), _mm256_unpackhi_epi32(c, d));
    let before = _mm256_cvtepi32_ps(_mm256_unpacklo_epi64(ab_low, cd_low));
    let here = _mm256_cvtepi32_ps(_mm256_unpackhi_epi64(ab_low, cd_low));
    let next = _mm256_cvtepi32_ps(_mm256_unpacklo_epi64(ab_high, cd_high));
    let after = _mm256_cvtepi32_ps(_mm256_unpackhi_epi64(ab_high, cd_high));
    let fractions = _mm256_add_epi32(_mm256_set1_epi32(position as u32 as i32), offsets.fractions);
    let t = _mm256_cvtepi32_ps(_mm256_srli_epi32::<8>(fractions));
    let t = _mm256_mul_ps(t, _mm256_set1_ps(1.0 / 16_777_216.0));
    let result = _mm256_mul_ps(cubic([before, here, next, after], t), _mm256_set1_ps(UNIT_16));
    #[expect(unsafe_code, reason = "no safe function stores a register")]
    // SAFETY: `out` has room for the eight values; the store needs no alignment.
    unsafe {
        _mm256_storeu_ps(out.as_mut_ptr(), result);
    }
}

/// Evaluates [`Cubic`](super::polynomial::Cubic).
#[target_feature(enable = "avx2")]
#[inline]
fn cubic([before, here, next, after]: [__m256; FOUR], t: __m256) -> __m256 {
    let half = _mm256_set1_ps(0.5);
    let slope = _mm256_mul_ps(_mm256_sub_ps(next, before), half);
    let cubic = _mm256_add_ps(
        _mm256_mul_ps(_mm256_sub_ps(after, before), half),
        _mm256_mul_ps(_mm256_sub_ps(here, next), _mm256_set1_ps(1.5)),
    );
    let square = _mm256_sub_ps(_mm256_add_ps(_mm256_sub_ps(before, here), slope), cubic);
    let sum = _mm256_add_ps(_mm256_mul_ps(cubic, t), square);
    let sum = _mm256_add_ps(_mm256_mul_ps(sum, t), slope);
    _mm256_add_ps(_mm256_mul_ps(sum, t), here)
}
