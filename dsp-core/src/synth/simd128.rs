//! The kernel that nearly all voices use nearly all the time, in the words of WebAssembly's 128-bit
//! vectors: the compiler does not find this way by itself.

use core::arch::wasm32::{
    f32x4_add, f32x4_convert_i32x4, f32x4_mul, f32x4_splat, i16x8, i32x4_add, i32x4_dot_i16x8, i32x4_shuffle,
    u32x4, u32x4_shr, u32x4_splat, v128, v128_load64_lane, v128_load64_zero,
};

use super::interpolation::{FOUR, Pcm16, UNIT_16};

/// Fills `out` from values of 16 bits, of which the first is the one before the voice's place;
/// `fraction` is the place's part below a frame, `step` the distance of places. Silence, if the
/// values end before the last place.
pub(super) fn cubic_pcm16(values: &[Pcm16], fraction: u32, step: u64, out: &mut [f32]) {
    if !reach_to_last(values, fraction, step, out.len()) {
        return out.fill(0.0);
    }
    let to_lane = |lane: usize| step.wrapping_mul(lane as u64);
    let to_lanes: [u64; FOUR] = core::array::from_fn(to_lane);
    let mut place = u64::from(fraction);
    let below_frame = |lane: usize| fraction.wrapping_add(to_lane(lane) as u32);
    let mut below_frames = u32x4(below_frame(0), below_frame(1), below_frame(2), below_frame(3));
    let to_next = step.wrapping_mul(FOUR as u64);
    let (fours, rest) = out.as_chunks_mut::<FOUR>();
    let (pairs, last) = fours.as_chunks_mut::<2>();
    let mut next = || {
        #[expect(unsafe_code, reason = "a check for each value would cost more than all else")]
        // SAFETY: no place of these frames lies behind the last, to which the values reach.
        let rows = unsafe { rows(values, place, to_lanes) };
        let four = four_frames(rows, below_frames);
        place = place.wrapping_add(to_next);
        below_frames = i32x4_add(below_frames, u32x4_splat(to_next as u32));
        four
    };
    for pair in pairs {
        *pair = [next(), next()];
    }
    for four in last {
        *four = next();
    }
    if !rest.is_empty() {
        // No row behind the last frame.
        let to_lanes = core::array::from_fn(|lane| if lane < rest.len() { to_lanes[lane] } else { 0 });
        #[expect(unsafe_code, reason = "a check for each value would cost more than all else")]
        // SAFETY: no place of these frames lies behind the last, to which the values reach.
        let rows = unsafe { rows(values, place, to_lanes) };
        for (value, result) in rest.iter_mut().zip(four_frames(rows, below_frames)) {
            *value = result;
        }
    }
}

/// Whether there are the four values from the place of the last of so many frames on.
fn reach_to_last(values: &[Pcm16], fraction: u32, step: u64, frames: usize) -> bool {
    // Within these the place of the last frame is a number of 64 bits.
    const STEP_BITS: u32 = 48;
    const FRAMES_MAX: usize = 1 << 15;
    if step >> STEP_BITS != 0 || frames > FRAMES_MAX {
        return false;
    }
    let last = (u64::from(fraction) + step * (frames as u64).saturating_sub(1)) >> 32;
    last + FOUR as u64 <= values.len() as u64
}

/// The four values from each of four places on, as they stand in memory, two rows to a vector.
///
/// # Safety
///
/// `values` must have four values from each place on.
#[expect(unsafe_code, reason = "a check for each value would cost more than all else")]
#[inline(always)]
unsafe fn rows(values: &[Pcm16], place: u64, to_lanes: [u64; FOUR]) -> [v128; 2] {
    let row = |lane: usize| {
        let index = (place.wrapping_add(to_lanes[lane]) >> 32) as usize;
        // SAFETY: the values have this one.
        unsafe { values.as_ptr().add(index).cast::<u64>() }
    };
    // SAFETY: four values of 16 bits fill 64, which may stand anywhere.
    unsafe {
        [
            v128_load64_lane::<1>(v128_load64_zero(row(0)), row(1)),
            v128_load64_lane::<1>(v128_load64_zero(row(2)), row(3)),
        ]
    }
}

/// The cubic of [`Cubic`](super::interpolation::Cubic), of which twice the coefficients are whole
/// numbers: these come from the values as they stand in memory, without rounding.
#[inline(always)]
fn four_frames([ab, cd]: [v128; 2], below_frames: v128) -> [f32; FOUR] {
    // Two values of 16 bits in each lane of 32: the one before and the one here, the next and the
    // one after.
    let (first, second) = (i32x4_shuffle::<0, 2, 4, 6>(ab, cd), i32x4_shuffle::<1, 3, 5, 7>(ab, cd));
    let pairs = |first: i16, second: i16| i16x8(first, second, first, second, first, second, first, second);
    let weighed = |before: i16, here: i16, next: i16, after: i16| {
        let sums = i32x4_add(
            i32x4_dot_i16x8(first, pairs(before, here)),
            i32x4_dot_i16x8(second, pairs(next, after)),
        );
        f32x4_convert_i32x4(sums)
    };
    let (cubic, square) = (weighed(-1, 3, -3, 1), weighed(2, -5, 4, -1));
    let slope = weighed(-1, 0, 1, 0);
    let here = f32x4_convert_i32x4(i32x4_dot_i16x8(first, pairs(0, 2)));
    // The upper 24 bits below a frame are exact as a float.
    let t = f32x4_mul(f32x4_convert_i32x4(u32x4_shr(below_frames, 8)), f32x4_splat(1.0 / 16_777_216.0));
    let sum = f32x4_add(f32x4_mul(cubic, t), square);
    let sum = f32x4_add(f32x4_mul(sum, t), slope);
    let sum = f32x4_add(f32x4_mul(sum, t), here);
    bytemuck::cast(f32x4_mul(sum, f32x4_splat(UNIT_16 / 2.0)))
}
