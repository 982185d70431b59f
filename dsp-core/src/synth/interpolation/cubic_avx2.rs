//! Cubic interpolation of 16-bit values with AVX2 intrinsics. Most voices use it most of the time.
//!
//! The compiler does not generate these permutations of the taps. The results are bit-identical to
//! those of [`Cubic`](super::polynomial::Cubic).

use core::arch::x86_64::{
    __m256, __m256i, _mm_cvtsi64_si128, _mm_unpacklo_epi64, _mm256_add_epi32, _mm256_add_epi64,
    _mm256_add_ps, _mm256_blendv_ps, _mm256_castps_si256, _mm256_castsi256_ps, _mm256_cvtepi32_ps,
    _mm256_loadu_si256, _mm256_madd_epi16, _mm256_mul_ps, _mm256_permutevar8x32_epi32, _mm256_set_epi64x,
    _mm256_set_m128i, _mm256_set1_epi32, _mm256_set1_epi64x, _mm256_set1_ps, _mm256_shuffle_ps,
    _mm256_slli_epi32, _mm256_srli_epi32, _mm256_storeu_ps, _mm256_sub_epi32,
};

use super::pcm16::{Pcm16, READ_AHEAD, UNIT_16, VECTOR_LANES};
use crate::dsp::lanes::LANES;

/// Number of values in two overlapping registers of 16 values. The second register begins one value
/// later, so the two registers hold all pairs of neighbours.
const NEAR_VALUES: usize = VECTOR_LANES + READ_AHEAD;

/// Highest step at which the taps of eight positions are among [`NEAR_VALUES`] values: the eighth
/// position is less than 14 frames after the first frame.
const NEAR_STEP: u64 = (13 << 32) / 7;

/// Selects the first and third, or the second and fourth of the 32-bit values in each half of two
/// registers.
const EVEN_LANES: i32 = 0b10_00_10_00;
const ODD_LANES: i32 = 0b11_01_11_01;

/// Interpolates 16-bit values. The first value is the tap before the position. `fraction` is the
/// fraction of the position, and `step` is the distance between positions, both in 2^-32 of a
/// frame.
#[target_feature(enable = "avx2")]
pub(super) fn cubic_pcm16(values: &[Pcm16], fraction: u32, step: u64, out: &mut [f32]) {
    let mut position = u64::from(fraction);
    let lane = |lane: u64| position.wrapping_add(step.wrapping_mul(lane)).cast_signed();
    // `ODD_LANES` and `EVEN_LANES` bring the halves of these positions into the order of the
    // frames.
    let mut positions = [
        _mm256_set_epi64x(lane(5), lane(4), lane(1), lane(0)),
        _mm256_set_epi64x(lane(7), lane(6), lane(3), lane(2)),
    ];
    let eight_steps = step.wrapping_mul(LANES as u64);
    let (eights, remainder) = out.as_chunks_mut::<LANES>();
    for eight in eights {
        eight_frames(values, position, step, positions, eight);
        position = position.wrapping_add(eight_steps);
        let eight_steps = _mm256_set1_epi64x(eight_steps.cast_signed());
        positions =
            [_mm256_add_epi64(positions[0], eight_steps), _mm256_add_epi64(positions[1], eight_steps)];
    }
    if !remainder.is_empty() {
        let mut eight = [0.0; LANES];
        eight_frames(values, position, step, positions, &mut eight);
        for (value, result) in remainder.iter_mut().zip(eight) {
            *value = result;
        }
    }
}

/// Interpolates eight frames from a position onwards. `positions` are the positions of frames 0, 1,
/// 4 and 5, and those of frames 2, 3, 6 and 7.
#[target_feature(enable = "avx2")]
#[inline]
fn eight_frames(
    values: &[Pcm16],
    position_fixed: u64,
    step: u64,
    positions: [__m256i; 2],
    out: &mut [f32; LANES],
) {
    let [a, b] = positions.map(|positions| _mm256_castsi256_ps(positions));
    let first_index = (position_fixed >> 32) as usize;
    let near_values =
        values.get(first_index..first_index.wrapping_add(NEAR_VALUES)).and_then(<[_]>::first_chunk);
    let taps = match near_values {
        Some(near_values) if step <= NEAR_STEP => {
            let frames = _mm256_castps_si256(_mm256_shuffle_ps::<ODD_LANES>(a, b));
            near_taps(near_values, _mm256_sub_epi32(frames, _mm256_set1_epi32(first_index as i32)))
        }
        _ => far_taps(values, position_fixed, step),
    };
    let fractions = _mm256_castps_si256(_mm256_shuffle_ps::<EVEN_LANES>(a, b));
    // A float represents the upper 24 bits of a fraction exactly.
    let t = _mm256_cvtepi32_ps(_mm256_srli_epi32::<8>(fractions));
    let result = cubic(taps, _mm256_mul_ps(t, _mm256_set1_ps(1.0 / 16_777_216.0)));
    #[expect(unsafe_code, reason = "no safe function stores a register")]
    // SAFETY: `out` has room for the eight values; the store needs no alignment.
    unsafe {
        _mm256_storeu_ps(out.as_mut_ptr(), result);
    }
}

/// The four taps of eight frames: the first two in one register, the others in the second one. Each
/// 32-bit lane has two 16-bit values.
type Taps = [__m256i; 2];

/// Returns the taps of eight frames that are at most 13 frames after the first value.
#[target_feature(enable = "avx2")]
#[inline]
fn near_taps(values: &[Pcm16; NEAR_VALUES], frames: __m256i) -> Taps {
    let pointer = values.as_ptr();
    #[expect(unsafe_code, reason = "no safe function loads a register")]
    // SAFETY: there are 17 values, of which each load reads 16; the loads need no alignment.
    let (from_0, from_1) =
        unsafe { (_mm256_loadu_si256(pointer.cast()), _mm256_loadu_si256(pointer.add(1).cast())) };
    // Two values that begin at an even frame are one lane of `from_0`, others one of `from_1`.
    let is_odd = _mm256_castsi256_ps(_mm256_slli_epi32::<31>(frames));
    let pair = |lanes: __m256i| {
        let even = _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(from_0, lanes));
        let odd = _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(from_1, lanes));
        _mm256_castps_si256(_mm256_blendv_ps(even, odd, is_odd))
    };
    let lanes = _mm256_srli_epi32::<1>(frames);
    [pair(lanes), pair(_mm256_add_epi32(lanes, _mm256_set1_epi32(1)))]
}

/// Returns the taps of eight frames with any step. The function is not inlined, which keeps the
/// loop over the frames short.
#[target_feature(enable = "avx2")]
#[inline(never)]
fn far_taps(values: &[Pcm16], position_fixed: u64, step: u64) -> Taps {
    let taps = |lane: u64| {
        let index = (position_fixed.wrapping_add(step.wrapping_mul(lane)) >> 32) as usize;
        // Only positions after the last requested position may lie outside the values.
        let four: Option<&[Pcm16; VECTOR_LANES]> =
            values.get(index..index.wrapping_add(VECTOR_LANES)).and_then(<[_]>::first_chunk);
        let bytes = four.and_then(|four| four.as_flattened().first_chunk()).copied().unwrap_or_default();
        _mm_cvtsi64_si128(i64::from_le_bytes(bytes))
    };
    let two_frames = |lane: u64| _mm_unpacklo_epi64(taps(lane), taps(lane + 1));
    let a = _mm256_castsi256_ps(_mm256_set_m128i(two_frames(4), two_frames(0)));
    let b = _mm256_castsi256_ps(_mm256_set_m128i(two_frames(6), two_frames(2)));
    [
        _mm256_castps_si256(_mm256_shuffle_ps::<EVEN_LANES>(a, b)),
        _mm256_castps_si256(_mm256_shuffle_ps::<ODD_LANES>(a, b)),
    ]
}

/// Evaluates [`Cubic`](super::polynomial::Cubic). The doubled coefficients are integers, so they
/// are computed from the 16-bit values without rounding.
#[target_feature(enable = "avx2")]
#[inline]
fn cubic([first_index, second]: Taps, t: __m256) -> __m256 {
    let pairs =
        |low: i16, high: i16| _mm256_set1_epi32(i32::from(high) << 16 | i32::from(low.cast_unsigned()));
    let weighted = |previous: i16, here: i16, next: i16, last: i16| {
        _mm256_cvtepi32_ps(_mm256_add_epi32(
            _mm256_madd_epi16(first_index, pairs(previous, here)),
            _mm256_madd_epi16(second, pairs(next, last)),
        ))
    };
    let (cubic, square) = (weighted(-1, 3, -3, 1), weighted(2, -5, 4, -1));
    let slope = weighted(-1, 0, 1, 0);
    let here = _mm256_cvtepi32_ps(_mm256_madd_epi16(first_index, pairs(0, 2)));
    let sum = _mm256_add_ps(_mm256_mul_ps(cubic, t), square);
    let sum = _mm256_add_ps(_mm256_mul_ps(sum, t), slope);
    let sum = _mm256_add_ps(_mm256_mul_ps(sum, t), here);
    _mm256_mul_ps(sum, _mm256_set1_ps(UNIT_16 / 2.0))
}
