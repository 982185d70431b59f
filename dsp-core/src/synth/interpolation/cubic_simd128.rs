//! Cubic interpolation of 16-bit values with WebAssembly's 128-bit vectors. Most voices use it most
//! of the time. The compiler does not generate this transposition of the taps.

use core::arch::wasm32::{
    f32x4_add, f32x4_convert_i32x4, f32x4_mul, f32x4_splat, i16x8, i32x4_add, i32x4_dot_i16x8, i32x4_shuffle,
    u32x4, u32x4_shr, u32x4_splat, v128, v128_load64_lane, v128_load64_zero,
};

use super::pcm16::{Pcm16, UNIT_16, VECTOR_LANES};

/// Interpolates 16-bit values. The first value is the tap before the position. `fraction` is the
/// fraction of the position, and `step` is the distance between positions, both in 2^-32 of a
/// frame. If the values end before the last tap, the output is silent.
pub(super) fn cubic_pcm16(values: &[Pcm16], fraction: u32, step: u64, output: &mut [f32]) {
    if !has_last_taps(values, fraction, step, output.len()) {
        return output.fill(0.0);
    }
    let offset = |lane: usize| step.wrapping_mul(lane as u64);
    let offsets: [u64; VECTOR_LANES] = core::array::from_fn(offset);
    let mut position = u64::from(fraction);
    let lane_fraction = |lane: usize| fraction.wrapping_add(offset(lane) as u32);
    let mut fractions = u32x4(lane_fraction(0), lane_fraction(1), lane_fraction(2), lane_fraction(3));
    let next_offset = step.wrapping_mul(VECTOR_LANES as u64);
    let (fours, remainder) = output.as_chunks_mut::<VECTOR_LANES>();
    let (pairs, last) = fours.as_chunks_mut::<2>();
    let mut next = || {
        #[expect(unsafe_code, reason = "bounds checks for each value cost more than the interpolation")]
        // SAFETY: `has_last_taps` has checked that the taps of the last position exist. None of
        // these positions is after it.
        let taps = unsafe { load_taps(values, position, offsets) };
        let four = four_frames(taps, fractions);
        position = position.wrapping_add(next_offset);
        fractions = i32x4_add(fractions, u32x4_splat(next_offset as u32));
        four
    };
    for pair in pairs {
        *pair = [next(), next()];
    }
    for four in last {
        *four = next();
    }
    if !remainder.is_empty() {
        // The lanes after the last frame read the taps of the first lane.
        let offsets = core::array::from_fn(|lane| if lane < remainder.len() { offsets[lane] } else { 0 });
        #[expect(unsafe_code, reason = "bounds checks for each value cost more than the interpolation")]
        // SAFETY: `has_last_taps` has checked that the taps of the last position exist. None of
        // these positions is after it.
        let taps = unsafe { load_taps(values, position, offsets) };
        for (value, result) in remainder.iter_mut().zip(four_frames(taps, fractions)) {
            *value = result;
        }
    }
}

/// Whether the values include all four taps of the last frame.
fn has_last_taps(values: &[Pcm16], fraction: u32, step: u64, frames: usize) -> bool {
    // Within these limits, the position of the last frame has at most 64 bits.
    const STEP_BITS: u32 = 48;
    const FRAMES_MAX: usize = 1 << 15;
    if step >> STEP_BITS != 0 || frames > FRAMES_MAX {
        return false;
    }
    let last = (u64::from(fraction) + step * (frames as u64).saturating_sub(1)) >> 32;
    last + VECTOR_LANES as u64 <= values.len() as u64
}

/// Loads the four taps of each of four positions. A vector has the taps of two positions, in the
/// order of memory.
///
/// # Safety
///
/// `values` must have four values from each position on.
#[expect(unsafe_code, reason = "bounds checks for each value cost more than the interpolation")]
#[inline(always)]
unsafe fn load_taps(values: &[Pcm16], position: u64, offsets: [u64; VECTOR_LANES]) -> [v128; 2] {
    let address = |lane: usize| {
        let index = (position.wrapping_add(offsets[lane]) >> 32) as usize;
        // SAFETY: the caller guarantees that the values include this index.
        unsafe { values.as_ptr().add(index).cast::<u64>() }
    };
    // SAFETY: four 16-bit values fill 64 bits; the load needs no alignment.
    unsafe {
        [
            v128_load64_lane::<1>(v128_load64_zero(address(0)), address(1)),
            v128_load64_lane::<1>(v128_load64_zero(address(2)), address(3)),
        ]
    }
}

/// Evaluates [`Cubic`](super::polynomial::Cubic) for four frames. The doubled coefficients are
/// integers, so they are computed from the 16-bit values without rounding.
#[inline(always)]
fn four_frames([ab, cd]: [v128; 2], fractions: v128) -> [f32; VECTOR_LANES] {
    // Each 32-bit lane has two 16-bit values: `previous` and `here` in `first`, `next` and `following` in
    // `second`.
    let (first, second) = (i32x4_shuffle::<0, 2, 4, 6>(ab, cd), i32x4_shuffle::<1, 3, 5, 7>(ab, cd));
    let pairs = |first: i16, second: i16| i16x8(first, second, first, second, first, second, first, second);
    let weighted = |previous: i16, here: i16, next: i16, following: i16| {
        let sums = i32x4_add(
            i32x4_dot_i16x8(first, pairs(previous, here)),
            i32x4_dot_i16x8(second, pairs(next, following)),
        );
        f32x4_convert_i32x4(sums)
    };
    let (cubic, square) = (weighted(-1, 3, -3, 1), weighted(2, -5, 4, -1));
    let slope = weighted(-1, 0, 1, 0);
    let here = f32x4_convert_i32x4(i32x4_dot_i16x8(first, pairs(0, 2)));
    // A float represents the upper 24 bits of a fraction exactly.
    let t = f32x4_mul(f32x4_convert_i32x4(u32x4_shr(fractions, 8)), f32x4_splat(1.0 / 16_777_216.0));
    let sum = f32x4_add(f32x4_mul(cubic, t), square);
    let sum = f32x4_add(f32x4_mul(sum, t), slope);
    let sum = f32x4_add(f32x4_mul(sum, t), here);
    bytemuck::cast(f32x4_mul(sum, f32x4_splat(UNIT_16 / 2.0)))
}
