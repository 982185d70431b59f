//! The kernel that nearly all voices use nearly all the time, in the words of WebAssembly's 128-bit
//! vectors: the compiler does not find this way by itself. The same operations in the same order
//! as [`Cubic`](super::interpolation::Cubic), so the same bits.

use core::arch::wasm32::{
    f32x4_add, f32x4_convert_i32x4, f32x4_mul, f32x4_splat, f32x4_sub, i32x4_add, i32x4_shl, i32x4_shr,
    i32x4_shuffle, i32x4_splat, i64x2, u32x4, u32x4_shr, v128,
};

use super::interpolation::{FOUR, Pcm16, UNIT_16};

/// From a place to the three that follow.
struct Steps {
    to_lanes: [u64; FOUR],
    below_frame: v128,
}

/// Fills `out` from values of 16 bits, of which the first is the one before the voice's place;
/// `fraction` is the place's part below a frame, `step` the distance of places.
pub(super) fn cubic_pcm16(values: &[Pcm16], fraction: u32, step: u64, out: &mut [f32]) {
    let mut to_lanes = [0; FOUR];
    for (lane, to_lane) in to_lanes.iter_mut().enumerate() {
        *to_lane = step.wrapping_mul(lane as u64);
    }
    let [a, b, c, d] = to_lanes.map(|to_lane| to_lane as u32);
    let steps = Steps { to_lanes, below_frame: u32x4(a, b, c, d) };
    let mut place = u64::from(fraction);
    let (fours, rest) = out.as_chunks_mut::<FOUR>();
    for four in fours {
        *four = four_frames(values, place, &steps);
        place = place.wrapping_add(step.wrapping_mul(FOUR as u64));
    }
    if !rest.is_empty() {
        for (value, result) in rest.iter_mut().zip(four_frames(values, place, &steps)) {
            *value = result;
        }
    }
}

/// The four values from a place on, as they stand in memory.
#[inline(always)]
fn row(values: &[Pcm16], place: u64) -> i64 {
    let index = (place >> 32) as usize;
    // Only places behind the last that is wanted may lie outside.
    let four: Option<&[Pcm16; FOUR]> =
        values.get(index..index.wrapping_add(FOUR)).and_then(<[_]>::first_chunk);
    let bytes = four.and_then(|four| four.as_flattened().first_chunk()).copied().unwrap_or_default();
    i64::from_le_bytes(bytes)
}

#[inline(always)]
fn four_frames(values: &[Pcm16], place: u64, steps: &Steps) -> [f32; FOUR] {
    let [a, b, c, d] = steps.to_lanes.map(|to_lane| row(values, place.wrapping_add(to_lane)));
    let (ab, cd) = (i64x2(a, b), i64x2(c, d));
    // Two values of 16 bits in each lane of 32.
    let (first, second) = (i32x4_shuffle::<0, 2, 4, 6>(ab, cd), i32x4_shuffle::<1, 3, 5, 7>(ab, cd));
    let before = f32x4_convert_i32x4(i32x4_shr(i32x4_shl(first, 16), 16));
    let here = f32x4_convert_i32x4(i32x4_shr(first, 16));
    let next = f32x4_convert_i32x4(i32x4_shr(i32x4_shl(second, 16), 16));
    let after = f32x4_convert_i32x4(i32x4_shr(second, 16));
    let below_frame = i32x4_add(i32x4_splat(place as u32 as i32), steps.below_frame);
    let t = f32x4_mul(f32x4_convert_i32x4(u32x4_shr(below_frame, 8)), f32x4_splat(1.0 / 16_777_216.0));
    bytemuck::cast(f32x4_mul(cubic([before, here, next, after], t), f32x4_splat(UNIT_16)))
}

/// See [`Cubic`](super::interpolation::Cubic).
#[inline(always)]
fn cubic([before, here, next, after]: [v128; FOUR], t: v128) -> v128 {
    let half = f32x4_splat(0.5);
    let slope = f32x4_mul(f32x4_sub(next, before), half);
    let cubic = f32x4_add(
        f32x4_mul(f32x4_sub(after, before), half),
        f32x4_mul(f32x4_sub(here, next), f32x4_splat(1.5)),
    );
    let square = f32x4_sub(f32x4_add(f32x4_sub(before, here), slope), cubic);
    let sum = f32x4_add(f32x4_mul(cubic, t), square);
    let sum = f32x4_add(f32x4_mul(sum, t), slope);
    f32x4_add(f32x4_mul(sum, t), here)
}
