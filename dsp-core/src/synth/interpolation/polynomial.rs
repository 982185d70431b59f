//! Linear and cubic interpolation, four frames at a time.

use wide::{f32x4, i32x4};

use super::pcm16::{Pcm16, UNIT_16, VECTOR_LANES};
use crate::simd::transpose;

/// The type of the values that are interpolated.
pub(super) trait SampleValue: Sized {
    /// Factor that converts a value to a float with a full scale of 1.
    const UNIT_SCALE: f32;

    /// Converts four values to floats. [`Self::UNIT_SCALE`] is not applied.
    fn to_floats(values: &[Self; VECTOR_LANES]) -> f32x4;
}

impl SampleValue for Pcm16 {
    const UNIT_SCALE: f32 = UNIT_16;

    #[inline(always)]
    fn to_floats(values: &[Self; VECTOR_LANES]) -> f32x4 {
        let mut numbers = [0; VECTOR_LANES];
        for index in 0..VECTOR_LANES {
            numbers[index] = i32::from(i16::from_le_bytes(values[index]));
        }
        i32x4::from(numbers).round_float()
    }
}

impl SampleValue for f32 {
    const UNIT_SCALE: f32 = 1.0;

    #[inline(always)]
    fn to_floats(values: &[Self; VECTOR_LANES]) -> f32x4 {
        f32x4::from(*values)
    }
}

/// A polynomial between two values. Its coefficients depend on four values.
pub(super) trait Polynomial {
    /// Evaluates the polynomial at `t`: 0 is at the second value, 1 is at the third value.
    fn evaluate(values: [f32x4; VECTOR_LANES], t: f32x4) -> f32x4;
}

/// The straight line through the second and the third value.
pub(super) struct Linear;

impl Polynomial for Linear {
    #[inline(always)]
    fn evaluate([_, here, next, _]: [f32x4; VECTOR_LANES], t: f32x4) -> f32x4 {
        here + (next - here) * t
    }
}

/// The cubic whose slope at each value is that of the line between the neighbouring values (Catmull
/// and Rom, "A class of local interpolating splines", 1974).
pub(super) struct Cubic;

impl Polynomial for Cubic {
    #[inline(always)]
    fn evaluate([before, here, next, after]: [f32x4; VECTOR_LANES], t: f32x4) -> f32x4 {
        let half = f32x4::splat(0.5);
        let slope = (next - before) * half;
        let cubic = (after - before) * half + (here - next) * f32x4::splat(1.5);
        let square = (before - here) + slope - cubic;
        ((cubic * t + square) * t + slope) * t + here
    }
}

/// Interpolates 16-bit values by [`Cubic`], with the fastest available instructions. See
/// [`super::Kernel::read`].
pub(super) fn cubic_pcm16(values: &[Pcm16], fraction: u32, step: u64, out: &mut [f32]) {
    #[cfg(all(feature = "std", target_arch = "x86_64"))]
    if crate::simd::has_avx2() {
        #[expect(unsafe_code, reason = "the only way to call code for a feature found at run time")]
        // SAFETY: `avx2` has just found the one feature that the function needs.
        return unsafe { super::cubic_avx2::cubic_pcm16(values, fraction, step, out) };
    }
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    return super::cubic_simd128::cubic_pcm16(values, fraction, step, out);
    #[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
    interpolate::<Cubic, Pcm16>(values, fraction, step, out);
}

/// Offsets of four consecutive positions relative to the first position.
struct Offsets {
    lanes: [u64; VECTOR_LANES],
    /// The lower 32 bits of `lanes`, which are the fractions of a frame.
    fractions: i32x4,
    /// Offset of the next four positions.
    next: u64,
}

impl Offsets {
    #[inline(always)]
    fn new(step: u64) -> Self {
        let mut lanes = [0; VECTOR_LANES];
        let mut fractions = [0; VECTOR_LANES];
        for lane in 0..VECTOR_LANES {
            lanes[lane] = step.wrapping_mul(lane as u64);
            fractions[lane] = lanes[lane] as u32 as i32;
        }
        Self {
            // Without `black_box`, the compiler would precompute the offsets of a whole chunk.
            lanes: core::hint::black_box(lanes),
            fractions: i32x4::from(fractions),
            next: step.wrapping_mul(VECTOR_LANES as u64),
        }
    }
}

/// Interpolates four frames at a time. See [`super::Kernel::read`].
#[inline(always)]
pub(super) fn interpolate<P: Polynomial, V: SampleValue>(
    values: &[V],
    fraction: u32,
    step: u64,
    out: &mut [f32],
) {
    let offsets = Offsets::new(step);
    let mut position = u64::from(fraction);
    let (fours, remainder) = out.as_chunks_mut::<VECTOR_LANES>();
    for four in fours {
        *four = four_frames::<P, V>(values, position, &offsets).to_array();
        position = position.wrapping_add(offsets.next);
    }
    if !remainder.is_empty() {
        let results = four_frames::<P, V>(values, position, &offsets).to_array();
        for (value, result) in remainder.iter_mut().zip(results) {
            *value = result;
        }
    }
}

/// Interpolates four frames from a position onwards.
#[inline(always)]
fn four_frames<P: Polynomial, V: SampleValue>(values: &[V], position_fixed: u64, offsets: &Offsets) -> f32x4 {
    let mut taps = [f32x4::ZERO; VECTOR_LANES];
    for (taps, offset) in taps.iter_mut().zip(offsets.lanes) {
        let index = (position_fixed.wrapping_add(offset) >> 32) as usize;
        // Only positions after the last requested position may lie outside the values.
        if let Some(four) = values.get(index..index.wrapping_add(VECTOR_LANES)).and_then(<[V]>::first_chunk) {
            *taps = V::to_floats(four);
        }
    }
    // A float represents the upper 24 bits of a fraction exactly.
    let fractions = i32x4::splat(position_fixed as u32 as i32) + offsets.fractions;
    let t = ((fractions >> 8_i32) & i32x4::splat(0x00ff_ffff)).round_float();
    P::evaluate(transpose(taps), t * f32x4::splat(1.0 / 16_777_216.0)) * f32x4::splat(V::UNIT_SCALE)
}
