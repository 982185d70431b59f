//! Oversampling by eight with linear phase, in three stages of a factor of two.
//!
//! Each stage is a half-band filter: a sinc with a Kaiser window (J. F. Kaiser, "Nonrecursive
//! Digital Filter Design Using the I0-sinh Window Function", ISCAS 1974). Every second tap of a
//! half-band filter is 0. The pass band of the first stage ends at 0.417 of the sample rate, which
//! is 20 kHz at 48 kHz. All stop bands are below -100 dB.

use alloc::vec;
use alloc::vec::Vec;
use core::f64::consts::PI;

use super::control::CONTROL_FRAMES;
use super::lanes::{LANES, Lanes};
use super::window::kaiser;

/// Ratio of the oversampled rate to the sample rate.
pub(crate) const FACTOR: usize = 8;

/// Half the length of each stage's filter, in frames of the stage's higher rate. All numbers are
/// odd.
const HALF_LENGTHS_FRAMES: [usize; 3] = [39, 13, 9];

/// Latency of [`Oversampler::up`] and [`Oversampler::down`] together, in frames of the oversampled
/// rate.
pub(crate) const LATENCY_FRAMES: usize =
    2 * (4 * HALF_LENGTHS_FRAMES[0] + 2 * HALF_LENGTHS_FRAMES[1] + HALF_LENGTHS_FRAMES[2]);

/// Kaiser's beta for a stop band of 100 dB: `0.1102 (100 - 8.7)`.
const KAISER_BETA: f64 = 10.061;

/// Number of frames that are filtered together.
const GROUP_FRAMES: usize = 8;

/// Returns the first half of a half-band filter's taps at even indices. The other half is
/// symmetric. `gain` is the sum of all taps at even indices.
fn half_band(half_length: usize, gain: f64) -> Vec<f32> {
    let taps: Vec<f64> = (0..half_length.div_ceil(2))
        .map(|tap| {
            let distance = half_length as f64 - 2.0 * tap as f64;
            let fraction = distance / (half_length + 1) as f64;
            let window = kaiser(KAISER_BETA, fraction);
            window * libm::sin(distance * PI / 2.0) / distance
        })
        .collect();
    let sum: f64 = taps.iter().sum();
    taps.iter().map(|tap| (tap / sum * gain / 2.0) as f32).collect()
}

/// Returns the dot products of the taps with `half_length + 1` frames, for [`GROUP_FRAMES`]
/// consecutive output frames of interleaved left and right.
#[inline(always)]
fn dot_products(taps: &[f32], half_length: usize, values: &[f32]) -> [Lanes; 2 * GROUP_FRAMES / LANES] {
    let mut sums = [Lanes::zero(); 2 * GROUP_FRAMES / LANES];
    let (frames, _) = values[..2 * (half_length + GROUP_FRAMES)].as_chunks::<2>();
    let (older, newer) =
        (frames.array_windows::<GROUP_FRAMES>(), frames.array_windows::<GROUP_FRAMES>().rev());
    for (weight, (older, newer)) in taps.iter().zip(older.zip(newer)) {
        let (older, newer) = (older.as_flattened().as_chunks().0, newer.as_flattened().as_chunks().0);
        for (sum, (older, newer)) in sums.iter_mut().zip(older.iter().zip(newer)) {
            *sum = *sum + (Lanes::new(*newer) + Lanes::new(*older)) * *weight;
        }
    }
    sums
}

/// Interleaved left and right: `past` past frames, then new frames.
struct History {
    past: usize,
    values: Vec<f32>,
}

impl History {
    fn new(past: usize, frames: usize) -> Self {
        Self { past, values: vec![0.0; 2 * (past + frames + GROUP_FRAMES)] }
    }

    /// Returns the buffer of the new frames.
    #[inline(always)]
    fn new_frames(&mut self) -> &mut [f32] {
        &mut self.values[2 * self.past..]
    }

    /// Moves `frames` new frames into the past.
    #[inline(always)]
    fn advance(&mut self, frames: usize) {
        self.values.copy_within(2 * frames..2 * (frames + self.past), 0);
    }
}

struct Upsampler {
    taps: Vec<f32>,
    half_length: usize,
    history: History,
}

impl Upsampler {
    fn new(half_length: usize, frames: usize) -> Self {
        // The inserted zeros halve the level. A gain of 1 instead of 0.5 compensates that.
        Self { taps: half_band(half_length, 1.0), half_length, history: History::new(half_length, frames) }
    }

    /// Doubles the rate of `frames` frames. Both buffers have whole groups of [`GROUP_FRAMES`]
    /// frames.
    #[inline(always)]
    fn process(&mut self, frames: usize, input: &[f32], output: &mut [f32]) {
        self.history.new_frames()[..2 * frames].copy_from_slice(&input[..2 * frames]);
        let (groups, _) = output.as_chunks_mut::<{ 4 * GROUP_FRAMES }>();
        for (number, output) in groups.iter_mut().take(frames.div_ceil(GROUP_FRAMES)).enumerate() {
            let values = &self.history.values[2 * number * GROUP_FRAMES..];
            let filtered = dot_products(&self.taps, self.half_length, values).map(Lanes::to_array);
            let (filtered, _) = filtered.as_flattened().as_chunks::<2>();
            let (middle, _) = values[self.half_length + 1..][..2 * GROUP_FRAMES].as_chunks::<2>();
            // The two samples of a frame are copied together.
            let (pairs, _) = output.as_chunks_mut::<2>();
            for (pairs, (filtered, middle)) in
                pairs.as_chunks_mut::<2>().0.iter_mut().zip(filtered.iter().zip(middle))
            {
                *pairs = [*filtered, *middle];
            }
        }
        self.history.advance(frames);
    }
}

struct Downsampler {
    taps: Vec<f32>,
    half_length: usize,
    evens: History,
    odds: History,
}

impl Downsampler {
    fn new(half_length: usize, frames: usize) -> Self {
        Self {
            taps: half_band(half_length, 0.5),
            half_length,
            evens: History::new(half_length, frames),
            odds: History::new(half_length.div_ceil(2), frames),
        }
    }

    /// Halves the rate and outputs `frames` frames. Both buffers have whole groups of
    /// [`GROUP_FRAMES`] frames.
    #[inline(always)]
    fn process(&mut self, frames: usize, input: &[f32], output: &mut [f32]) {
        let (evens, _) = self.evens.new_frames().as_chunks_mut::<2>();
        let (odds, _) = self.odds.new_frames().as_chunks_mut::<2>();
        let (pairs, _) = input.as_chunks::<4>();
        for (([a, b, c, d], even), odd) in pairs.iter().take(frames).zip(evens).zip(odds) {
            *even = [*a, *b];
            *odd = [*c, *d];
        }
        let (groups, _) = output.as_chunks_mut::<{ 2 * GROUP_FRAMES }>();
        for (number, output) in groups.iter_mut().take(frames.div_ceil(GROUP_FRAMES)).enumerate() {
            let index = 2 * number * GROUP_FRAMES;
            let filtered = dot_products(&self.taps, self.half_length, &self.evens.values[index..]);
            let (odds, _) = self.odds.values[index..][..2 * GROUP_FRAMES].as_chunks::<LANES>();
            let (output, _) = output.as_chunks_mut::<LANES>();
            for ((output, filtered), odd) in output.iter_mut().zip(filtered).zip(odds) {
                *output = (filtered + Lanes::new(*odd) * 0.5).to_array();
            }
        }
        self.evens.advance(frames);
        self.odds.advance(frames);
    }
}

/// The three stages of upsampling and the three stages of downsampling.
pub(crate) struct Oversampler {
    up: [Upsampler; 3],
    down: [Downsampler; 3],
    buffers: Buffers,
}

impl Oversampler {
    pub(crate) fn new() -> Self {
        let frames = |step: usize| CONTROL_FRAMES << step;
        Self {
            up: core::array::from_fn(|step| Upsampler::new(HALF_LENGTHS_FRAMES[step], frames(step))),
            down: core::array::from_fn(|step| Downsampler::new(HALF_LENGTHS_FRAMES[step], frames(step))),
            buffers: Buffers {
                twice: [0.0; 4 * CONTROL_FRAMES],
                four_times: [0.0; 8 * CONTROL_FRAMES],
                eight_times: [0.0; 2 * FACTOR * CONTROL_FRAMES],
            },
        }
    }

    pub(crate) fn clear(&mut self) {
        let ups = self.up.iter_mut().map(|step| &mut step.history);
        let downs = self.down.iter_mut().flat_map(|step| [&mut step.evens, &mut step.odds]);
        ups.chain(downs).for_each(|history| history.values.fill(0.0));
    }

    /// Returns interleaved frames at eight times the rate, which the caller may change in place
    /// before [`Self::down`]. `frames` is at most [`CONTROL_FRAMES`].
    #[inline(always)]
    pub(crate) fn up(&mut self, frames: usize, audio: &[f32; 2 * CONTROL_FRAMES]) -> &mut [f32] {
        let Buffers { twice, four_times, eight_times } = &mut self.buffers;
        let [first, second, third] = &mut self.up;
        first.process(frames, audio, twice);
        second.process(2 * frames, twice, four_times);
        third.process(4 * frames, four_times, eight_times);
        &mut eight_times[..2 * FACTOR * frames]
    }

    /// Converts the frames of [`Self::up`] back to the original rate and writes them to `audio`.
    #[inline(always)]
    pub(crate) fn down(&mut self, frames: usize, audio: &mut [f32; 2 * CONTROL_FRAMES]) {
        let Buffers { twice, four_times, eight_times } = &mut self.buffers;
        let [first, second, third] = &mut self.down;
        third.process(4 * frames, eight_times, four_times);
        second.process(2 * frames, four_times, twice);
        first.process(frames, twice, audio);
    }
}

/// Buffers for interleaved audio at two, four and eight times the sample rate.
struct Buffers {
    twice: [f32; 4 * CONTROL_FRAMES],
    four_times: [f32; 8 * CONTROL_FRAMES],
    eight_times: [f32; 2 * FACTOR * CONTROL_FRAMES],
}
