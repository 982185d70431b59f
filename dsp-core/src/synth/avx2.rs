//! The kernel that nearly all voices use nearly all the time, in AVX2's own words: the compiler
//! does not find this way to turn rows of a sample into columns. The same operations in the same
//! order as [`Cubic`](super::interpolation::Cubic), so the same bits.

use core::arch::x86_64::{
    __m128i, __m256, __m256i, _mm_cvtepi16_epi32, _mm_cvtsi64_si128, _mm256_add_epi32, _mm256_add_ps,
    _mm256_cvtepi32_ps, _mm256_mul_ps, _mm256_set_m128i, _mm256_set1_epi32, _mm256_set1_ps,
    _mm256_setr_epi32, _mm256_srli_epi32, _mm256_storeu_ps, _mm256_sub_ps, _mm256_unpackhi_epi32,
    _mm256_unpackhi_epi64, _mm256_unpacklo_epi32, _mm256_unpacklo_epi64,
};

use super::interpolation::{FOUR, Pcm16, UNIT_16};
use super::lanes::LANES;

/// From a place to the seven that follow.
struct Steps {
    to_lanes: [u64; LANES],
    below_frame: __m256i,
}

/// Fills `out` from values of 16 bits, of which the first is the one before the voice's place;
/// `fraction` is the place's part below a frame, `step` the distance of places.
#[target_feature(enable = "avx2")]
pub(super) fn cubic_pcm16(values: &[Pcm16], fraction: u32, step: u64, out: &mut [f32]) {
    let mut to_lanes = [0; LANES];
    for (lane, to_lane) in to_lanes.iter_mut().enumerate() {
        *to_lane = step.wrapping_mul(lane as u64);
    }
    let [a, b, c, d, e, f, g, h] = to_lanes.map(|to_lane| to_lane as u32 as i32);
    let steps = Steps {
        // Without this the compiler computes the steps to all places of a chunk beforehand.
        to_lanes: core::hint::black_box(to_lanes),
        below_frame: _mm256_setr_epi32(a, b, c, d, e, f, g, h),
    };
    let mut place = u64::from(fraction);
    let (eights, rest) = out.as_chunks_mut::<LANES>();
    for eight in eights {
        eight_frames(values, place, &steps, eight);
        place = place.wrapping_add(step.wrapping_mul(LANES as u64));
    }
    if !rest.is_empty() {
        let mut eight = [0.0; LANES];
        eight_frames(values, place, &steps, &mut eight);
        for (value, result) in rest.iter_mut().zip(eight) {
            *value = result;
        }
    }
}

/// The four values from a place on, widened.
#[target_feature(enable = "avx2")]
#[inline]
fn row(values: &[Pcm16], place: u64) -> __m128i {
    let index = (place >> 32) as usize;
    // Only places behind the last that is wanted may lie outside.
    let four: Option<&[Pcm16; FOUR]> =
        values.get(index..index.wrapping_add(FOUR)).and_then(<[_]>::first_chunk);
    let bytes = four.and_then(|four| four.as_flattened().first_chunk()).copied().unwrap_or_default();
    _mm_cvtepi16_epi32(_mm_cvtsi64_si128(i64::from_le_bytes(bytes)))
}

#[target_feature(enable = "avx2")]
#[inline]
fn eight_frames(values: &[Pcm16], place: u64, steps: &Steps, out: &mut [f32; LANES]) {
    // Rows 0 to 3 in the lower halves, 4 to 7 in the upper ones.
    let pair = |lane: usize| {
        let at = |lane: usize| place.wrapping_add(steps.to_lanes[lane]);
        _mm256_set_m128i(row(values, at(lane + FOUR)), row(values, at(lane)))
    };
    let (a, b, c, d) = (pair(0), pair(1), pair(2), pair(3));
    let (ab_low, cd_low) = (_mm256_unpacklo_epi32(a, b), _mm256_unpacklo_epi32(c, d));
    let (ab_high, cd_high) = (_mm256_unpackhi_epi32(a, b), _mm256_unpackhi_epi32(c, d));
    let before = _mm256_cvtepi32_ps(_mm256_unpacklo_epi64(ab_low, cd_low));
    let here = _mm256_cvtepi32_ps(_mm256_unpackhi_epi64(ab_low, cd_low));
    let next = _mm256_cvtepi32_ps(_mm256_unpacklo_epi64(ab_high, cd_high));
    let after = _mm256_cvtepi32_ps(_mm256_unpackhi_epi64(ab_high, cd_high));
    let below_frame = _mm256_add_epi32(_mm256_set1_epi32(place as u32 as i32), steps.below_frame);
    let t = _mm256_cvtepi32_ps(_mm256_srli_epi32::<8>(below_frame));
    let t = _mm256_mul_ps(t, _mm256_set1_ps(1.0 / 16_777_216.0));
    let result = _mm256_mul_ps(cubic([before, here, next, after], t), _mm256_set1_ps(UNIT_16));
    #[expect(unsafe_code, reason = "there is no safe way out of a register")]
    // SAFETY: `out` has room for the eight values, and may stand anywhere.
    unsafe {
        _mm256_storeu_ps(out.as_mut_ptr(), result);
    }
}

/// See [`Cubic`](super::interpolation::Cubic).
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
