//! Reading between the values of a sample.
//!
//! A voice's stretch of a sample is first laid out in a [`Window`], loops unrolled; the kernels
//! here read from it at evenly spaced places. Places are counted in 2^-32 of a frame.

use alloc::vec::Vec;

use wide::{f32x4, i32x4};

use super::lanes::{LANES, Lanes};
use crate::dsp::window::{kaiser, sinc};
use crate::simd::transpose;

/// Most frames that are computed at a time.
pub(super) const CHUNK_FRAMES: usize = 128;

/// Places in a window at which a kernel may start to read.
const WINDOW_STARTS: usize = 2_048;

/// Values before the place of a frame, and after it, that the longest kernel reads.
const MOST_TAPS: usize = SincTable::TAPS;

/// Most frames of a sample that a window lays out at a time, kernel taps not counted.
pub(super) const WINDOW_FRAMES: usize = WINDOW_STARTS - MOST_TAPS;

/// Values that a window holds at most.
pub(super) const WINDOW_VALUES: usize = WINDOW_STARTS + MOST_TAPS;

/// A stretch of a sample as floats.
pub(super) type Window = [f32; WINDOW_VALUES];

/// A window of silence.
pub(super) const SILENT_WINDOW: Window = [0.0; WINDOW_VALUES];

/// What a voice computes at a time, before its filter.
pub(super) type Chunk = [f32; CHUNK_FRAMES];

/// One whole frame, in the unit of places.
pub(super) const FRAME: u64 = 1 << 32;

/// How voices read between values.
#[derive(Debug, Clone)]
pub(super) enum Kernel {
    Linear,
    FourPoint,
    Sinc(SincTable),
}

impl Kernel {
    pub(super) fn new(interpolation: crate::session::Interpolation) -> Self {
        use crate::session::Interpolation;
        match interpolation {
            Interpolation::Linear => Self::Linear,
            Interpolation::FourPoint => Self::FourPoint,
            Interpolation::Sinc => Self::Sinc(SincTable::new()),
        }
    }

    /// Values that must be there before the one at a voice's place.
    pub(super) fn taps_before(&self) -> usize {
        match self {
            Self::Linear | Self::FourPoint => 1,
            Self::Sinc(_) => SincTable::TAPS / 2 - 1,
        }
    }

    /// Values that must be there from the one at a voice's place on.
    pub(super) fn taps_from(&self) -> usize {
        match self {
            Self::Linear | Self::FourPoint => 3,
            Self::Sinc(_) => SincTable::TAPS / 2 + 1,
        }
    }

    /// How the kernel reads values of 16 bits without a window, if it can. This is what nearly all
    /// voices do nearly all the time.
    pub(super) fn pcm16_reader(&self) -> Option<Pcm16Reader> {
        match self {
            Self::Linear => Some(by_fours::<Line, Pcm16>),
            Self::FourPoint => Some(cubic_pcm16),
            Self::Sinc(_) => None,
        }
    }

    /// Fills `out` from a window whose first values are the taps before the voice's place.
    /// `fraction` is the place's part below a frame, `step` the distance of places.
    pub(super) fn read(&self, window: &Window, fraction: u32, step: u64, out: &mut [f32]) {
        match self {
            Self::Linear => by_fours::<Line, f32>(window, fraction, step, out),
            Self::FourPoint => by_fours::<Cubic, f32>(window, fraction, step, out),
            Self::Sinc(table) => table.read(window, fraction, step, out),
        }
    }
}

/// Reads values of 16 bits, of which the first are the taps before the voice's place: the values,
/// the place's part below a frame, the distance of places, and what to fill.
pub(super) type Pcm16Reader = fn(&[Pcm16], u32, u64, &mut [f32]);

/// A value of a sample, as it is read.
trait Value: Sized {
    /// Full scale as a share of the greatest value.
    const UNIT: f32;

    /// Four of them.
    fn four(values: &[Self; FOUR]) -> f32x4;
}

/// How many values a cubic needs, and how many frames are computed together.
pub(super) const FOUR: usize = 4;

/// A value of 16 bits as it stands in a file.
pub(super) type Pcm16 = [u8; 2];

/// One step of a value of 16 bits, full scale being 1.
pub(super) const UNIT_16: f32 = 1.0 / 32_768.0;

impl Value for Pcm16 {
    const UNIT: f32 = UNIT_16;

    #[inline(always)]
    fn four(values: &[Self; FOUR]) -> f32x4 {
        let mut numbers = [0; FOUR];
        for place in 0..FOUR {
            numbers[place] = i32::from(i16::from_le_bytes(values[place]));
        }
        i32x4::from(numbers).round_float()
    }
}

impl Value for f32 {
    const UNIT: f32 = 1.0;

    #[inline(always)]
    fn four(values: &[Self; FOUR]) -> f32x4 {
        f32x4::from(*values)
    }
}

/// The way from a value to the next, with the values around them.
trait Curve {
    /// What is `t` of the way from `here` to `next`.
    fn between(values: [f32x4; FOUR], t: f32x4) -> f32x4;
}

/// A straight line.
struct Line;

impl Curve for Line {
    #[inline(always)]
    fn between([_, here, next, _]: [f32x4; FOUR], t: f32x4) -> f32x4 {
        here + (next - here) * t
    }
}

/// The cubic whose slopes at the two values are those of their neighbours' chord (Catmull and Rom,
/// 1974), in Horner's form.
pub(super) struct Cubic;

impl Curve for Cubic {
    #[inline(always)]
    fn between([before, here, next, after]: [f32x4; FOUR], t: f32x4) -> f32x4 {
        let half = f32x4::splat(0.5);
        let slope = (next - before) * half;
        let cubic = (after - before) * half + (here - next) * f32x4::splat(1.5);
        let square = (before - here) + slope - cubic;
        ((cubic * t + square) * t + slope) * t + here
    }
}

/// The cubic through values of 16 bits.
fn cubic_pcm16(values: &[Pcm16], fraction: u32, step: u64, out: &mut [f32]) {
    #[cfg(all(feature = "std", target_arch = "x86_64"))]
    if crate::simd::avx2() {
        #[expect(unsafe_code, reason = "the only way to call code for a feature found at run time")]
        // SAFETY: `avx2` has just found the one feature that the function needs.
        return unsafe { super::avx2::cubic_pcm16(values, fraction, step, out) };
    }
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    return super::simd128::cubic_pcm16(values, fraction, step, out);
    #[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
    by_fours::<Cubic, Pcm16>(values, fraction, step, out);
}

/// From a place to the three that follow, in all and below a frame.
struct Steps {
    to_lanes: [u64; FOUR],
    below_frame: i32x4,
    to_next: u64,
}

impl Steps {
    #[inline(always)]
    fn new(step: u64) -> Self {
        let mut to_lanes = [0; FOUR];
        let mut below_frame = [0; FOUR];
        for lane in 0..FOUR {
            to_lanes[lane] = step.wrapping_mul(lane as u64);
            below_frame[lane] = to_lanes[lane] as u32 as i32;
        }
        Self {
            // Without this the compiler computes the steps to all places of a chunk beforehand.
            to_lanes: core::hint::black_box(to_lanes),
            below_frame: i32x4::from(below_frame),
            to_next: step.wrapping_mul(FOUR as u64),
        }
    }
}

/// Fills `out`, four frames at a time.
#[inline(always)]
fn by_fours<C: Curve, V: Value>(values: &[V], fraction: u32, step: u64, out: &mut [f32]) {
    let steps = Steps::new(step);
    let mut place = u64::from(fraction);
    let (fours, rest) = out.as_chunks_mut::<FOUR>();
    for four in fours {
        *four = four_frames::<C, V>(values, place, &steps).to_array();
        place = place.wrapping_add(steps.to_next);
    }
    if !rest.is_empty() {
        let results = four_frames::<C, V>(values, place, &steps).to_array();
        for (value, result) in rest.iter_mut().zip(results) {
            *value = result;
        }
    }
}

#[inline(always)]
fn four_frames<C: Curve, V: Value>(values: &[V], place: u64, steps: &Steps) -> f32x4 {
    let mut rows = [f32x4::ZERO; FOUR];
    for (row, to_lane) in rows.iter_mut().zip(steps.to_lanes) {
        let index = (place.wrapping_add(to_lane) >> 32) as usize;
        // Only places behind the last that is wanted may lie outside.
        if let Some(four) = values.get(index..index.wrapping_add(FOUR)).and_then(<[V]>::first_chunk) {
            *row = V::four(four);
        }
    }
    // The upper 24 bits below a frame are exact as a float.
    let below_frame = i32x4::splat(place as u32 as i32) + steps.below_frame;
    let t = ((below_frame >> 8_i32) & i32x4::splat(0x00ff_ffff)).round_float();
    C::between(transpose(rows), t * f32x4::splat(1.0 / 16_777_216.0)) * f32x4::splat(V::UNIT)
}

/// The `N` values of a window from a place on.
#[inline(always)]
fn taps<const N: usize>(window: &Window, place: u64) -> [f32; N] {
    // The mask changes nothing; it shows the compiler that no place lies outside.
    let index = (place >> 32) as usize & (WINDOW_STARTS - 1);
    let mut taps = [0.0; N];
    taps.copy_from_slice(&window[index..index + N]);
    taps
}

/// Sixteen taps of a sinc under a Kaiser window, for places 1/512 of a frame apart, between
/// which the taps are interpolated; and the same with lower cut-offs, for samples that are
/// played faster than they were recorded and would alias.
#[derive(Debug, Clone)]
pub(super) struct SincTable {
    /// For each cut-off, for each place, the taps.
    rows: Vec<[f32; SincTable::TAPS]>,
}

impl SincTable {
    const TAPS: usize = 16;
    const PLACES: usize = 512;
    const PLACE_BITS: u32 = Self::PLACES.trailing_zeros();
    /// Cut-offs as shares of the sample's own Nyquist frequency, and the fastest step that each
    /// serves.
    const CUTOFFS: [(f64, f64); 4] = [(0.92, 1.1), (0.7, 1.5), (0.5, 2.1), (0.35, f64::INFINITY)];
    /// Of the Kaiser window: some 70 dB of stop band.
    const BETA: f64 = 7.0;

    fn new() -> Self {
        let mut rows = Vec::with_capacity(Self::CUTOFFS.len() * (Self::PLACES + 1));
        for (cutoff, _) in Self::CUTOFFS {
            for place in 0..=Self::PLACES {
                rows.push(Self::row(cutoff, place as f64 / Self::PLACES as f64));
            }
        }
        Self { rows }
    }

    fn row(cutoff: f64, fraction: f64) -> [f32; Self::TAPS] {
        let half = Self::TAPS as f64 / 2.0;
        let tap = |number: usize| {
            let distance = number as f64 - (half - 1.0) - fraction;
            let share = distance / half;
            if share * share >= 1.0 {
                return 0.0;
            }
            sinc(cutoff * distance) * kaiser(Self::BETA, share)
        };
        let taps: [f64; Self::TAPS] = core::array::from_fn(tap);
        // A constant passes unchanged at every place.
        let sum: f64 = taps.iter().sum();
        taps.map(|tap| (tap / sum) as f32)
    }

    #[inline(always)]
    fn read(&self, window: &Window, fraction: u32, step: u64, out: &mut [f32]) {
        let ratio = step as f64 / FRAME as f64;
        let cutoff = Self::CUTOFFS.iter().position(|(_, fastest)| ratio <= *fastest).unwrap_or(0);
        let rows = &self.rows[cutoff * (Self::PLACES + 1)..][..=Self::PLACES];
        let mut place = u64::from(fraction);
        for value in out {
            let number = (place as u32 >> (32 - Self::PLACE_BITS)) as usize;
            let between =
                Lanes::all((((place as u32) << Self::PLACE_BITS >> 8) as i32) as f32 / 16_777_216.0);
            let taps: [f32; Self::TAPS] = taps(window, place);
            let (row, next) = (&rows[number], &rows[number + 1]);
            let mut sum = Lanes::ZERO;
            for half in [0, LANES] {
                let (row, next) = (eight(row, half), eight(next, half));
                sum = sum + eight(&taps, half) * (row + (next - row) * between);
            }
            *value = sum.sum();
            place = place.wrapping_add(step);
        }
    }
}

/// Eight of the taps, from `first` on.
#[inline(always)]
fn eight(taps: &[f32; SincTable::TAPS], first: usize) -> Lanes {
    let mut lanes = [0.0; LANES];
    lanes.copy_from_slice(&taps[first..first + LANES]);
    Lanes(lanes)
}
