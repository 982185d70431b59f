//! Lanes times the sample rate and back, in three steps of two, with linear phase.
//!
//! Each step is a half-band filter: a sinc under a Kaiser window (J. F. Kaiser, "Nonrecursive
//! Digital Filter Design Using the I0-sinh Window Function", ISCAS 1974), every second tap of which
//! is 0. The first passes up to 0.417 of the rate (20 kHz at 48 kHz); all stop by 100 dB.

use alloc::vec;
use alloc::vec::Vec;
use core::f64::consts::PI;

use super::super::CONTROL_FRAMES;
use crate::dsp::lanes::{LANES, Lanes};
use crate::dsp::window::kaiser;

/// How many times the rate.
pub(super) const FACTOR: usize = 8;

/// Distance from the middle of each filter to its end, in frames of its own higher rate. All odd.
const REACHES: [usize; 3] = [39, 13, 9];

/// Frames of the high rate by which what comes back lags, without what happens between.
pub(super) const LAG: usize = 2 * (4 * REACHES[0] + 2 * REACHES[1] + REACHES[2]);

/// Kaiser's shape for a stop band of 100 dB: `0.1102 (100 - 8.7)`.
const KAISER_BETA: f64 = 10.061;

/// Frames that are filtered side by side.
const TOGETHER: usize = 8;

/// The first half of a half-band filter's taps at even places; their sum and its mirror's is
/// `gain`.
fn half_band(reach: usize, gain: f64) -> Vec<f32> {
    let taps: Vec<f64> = (0..reach.div_ceil(2))
        .map(|tap| {
            let from_middle = reach as f64 - 2.0 * tap as f64;
            let share = from_middle / (reach + 1) as f64;
            let window = kaiser(KAISER_BETA, share);
            window * libm::sin(from_middle * PI / 2.0) / from_middle
        })
        .collect();
    let sum: f64 = taps.iter().sum();
    taps.iter().map(|tap| (tap / sum * gain / 2.0) as f32).collect()
}

/// The last `reach + 1` frames of left and right, weighted: some results side by side.
#[inline(always)]
fn weighted(taps: &[f32], reach: usize, values: &[f32]) -> [Lanes; 2 * TOGETHER / LANES] {
    let mut sums = [Lanes::zero(); 2 * TOGETHER / LANES];
    let (frames, _) = values[..2 * (reach + TOGETHER)].as_chunks::<2>();
    let (older, newer) = (frames.array_windows::<TOGETHER>(), frames.array_windows::<TOGETHER>().rev());
    for (weight, (older, newer)) in taps.iter().zip(older.zip(newer)) {
        let (older, newer) = (older.as_flattened().as_chunks().0, newer.as_flattened().as_chunks().0);
        for (sum, (older, newer)) in sums.iter_mut().zip(older.iter().zip(newer)) {
            *sum = *sum + (Lanes::new(*newer) + Lanes::new(*older)) * *weight;
        }
    }
    sums
}

/// Left and right in turns, with some frames of the past before them.
struct History {
    past: usize,
    values: Vec<f32>,
}

impl History {
    fn new(past: usize, frames: usize) -> Self {
        Self { past, values: vec![0.0; 2 * (past + frames + TOGETHER)] }
    }

    /// Where new frames go.
    #[inline(always)]
    fn new_frames(&mut self) -> &mut [f32] {
        &mut self.values[2 * self.past..]
    }

    /// So many new frames are past.
    #[inline(always)]
    fn pass(&mut self, frames: usize) {
        self.values.copy_within(2 * frames..2 * (frames + self.past), 0);
    }
}

struct Up {
    taps: Vec<f32>,
    reach: usize,
    history: History,
}

impl Up {
    fn new(reach: usize, frames: usize) -> Self {
        // Zeros between the frames take half of the level.
        Self { taps: half_band(reach, 1.0), reach, history: History::new(reach, frames) }
    }

    /// Frames of the lower rate; what comes out has room for whole groups.
    #[inline(always)]
    fn process(&mut self, frames: usize, input: &[f32], output: &mut [f32]) {
        self.history.new_frames()[..2 * frames].copy_from_slice(&input[..2 * frames]);
        let (groups, _) = output.as_chunks_mut::<{ 4 * TOGETHER }>();
        for (number, output) in groups.iter_mut().take(frames.div_ceil(TOGETHER)).enumerate() {
            let values = &self.history.values[2 * number * TOGETHER..];
            let filtered = weighted(&self.taps, self.reach, values).map(Lanes::to_array);
            let (filtered, _) = filtered.as_flattened().as_chunks::<2>();
            let (middle, _) = values[self.reach + 1..][..2 * TOGETHER].as_chunks::<2>();
            // A frame is moved in one piece.
            let (pairs, _) = output.as_chunks_mut::<2>();
            for (pairs, (filtered, middle)) in
                pairs.as_chunks_mut::<2>().0.iter_mut().zip(filtered.iter().zip(middle))
            {
                *pairs = [*filtered, *middle];
            }
        }
        self.history.pass(frames);
    }
}

struct Down {
    taps: Vec<f32>,
    reach: usize,
    evens: History,
    odds: History,
}

impl Down {
    fn new(reach: usize, frames: usize) -> Self {
        Self {
            taps: half_band(reach, 0.5),
            reach,
            evens: History::new(reach, frames),
            odds: History::new(reach.div_ceil(2), frames),
        }
    }

    /// Frames of the lower rate; what goes in and out has room for whole groups.
    #[inline(always)]
    fn process(&mut self, frames: usize, input: &[f32], output: &mut [f32]) {
        let (evens, _) = self.evens.new_frames().as_chunks_mut::<2>();
        let (odds, _) = self.odds.new_frames().as_chunks_mut::<2>();
        let (pairs, _) = input.as_chunks::<4>();
        for (([a, b, c, d], even), odd) in pairs.iter().take(frames).zip(evens).zip(odds) {
            *even = [*a, *b];
            *odd = [*c, *d];
        }
        let (groups, _) = output.as_chunks_mut::<{ 2 * TOGETHER }>();
        for (number, output) in groups.iter_mut().take(frames.div_ceil(TOGETHER)).enumerate() {
            let at = 2 * number * TOGETHER;
            let filtered = weighted(&self.taps, self.reach, &self.evens.values[at..]);
            let (odds, _) = self.odds.values[at..][..2 * TOGETHER].as_chunks::<LANES>();
            let (output, _) = output.as_chunks_mut::<LANES>();
            for ((output, filtered), odd) in output.iter_mut().zip(filtered).zip(odds) {
                *output = (filtered + Lanes::new(*odd) * 0.5).to_array();
            }
        }
        self.evens.pass(frames);
        self.odds.pass(frames);
    }
}

/// Three steps up and three down.
pub(super) struct Oversampler {
    up: [Up; 3],
    down: [Down; 3],
    between: Between,
}

impl Oversampler {
    pub(super) fn new() -> Self {
        let frames = |step: usize| CONTROL_FRAMES << step;
        Self {
            up: core::array::from_fn(|step| Up::new(REACHES[step], frames(step))),
            down: core::array::from_fn(|step| Down::new(REACHES[step], frames(step))),
            between: Between {
                twice: [0.0; 4 * CONTROL_FRAMES],
                four_times: [0.0; 8 * CONTROL_FRAMES],
                eight_times: [0.0; 2 * FACTOR * CONTROL_FRAMES],
            },
        }
    }

    pub(super) fn clear(&mut self) {
        let ups = self.up.iter_mut().map(|step| &mut step.history);
        let downs = self.down.iter_mut().flat_map(|step| [&mut step.evens, &mut step.odds]);
        ups.chain(downs).for_each(|history| history.values.fill(0.0));
    }

    /// Frames of left and right in turns, at most a control step, at eight times the rate: to be
    /// changed in place before they go [`Self::down`].
    #[inline(always)]
    pub(super) fn up(&mut self, frames: usize, audio: &[f32; 2 * CONTROL_FRAMES]) -> &mut [f32] {
        let Between { twice, four_times, eight_times } = &mut self.between;
        let [first, second, third] = &mut self.up;
        first.process(frames, audio, twice);
        second.process(2 * frames, twice, four_times);
        third.process(4 * frames, four_times, eight_times);
        &mut eight_times[..2 * FACTOR * frames]
    }

    /// The frames that went up, back at their rate.
    #[inline(always)]
    pub(super) fn down(&mut self, frames: usize, audio: &mut [f32; 2 * CONTROL_FRAMES]) {
        let Between { twice, four_times, eight_times } = &mut self.between;
        let [first, second, third] = &mut self.down;
        third.process(4 * frames, eight_times, four_times);
        second.process(2 * frames, four_times, twice);
        first.process(frames, twice, audio);
    }
}

/// Room for the audio of a control step at all rates.
struct Between {
    twice: [f32; 4 * CONTROL_FRAMES],
    four_times: [f32; 8 * CONTROL_FRAMES],
    eight_times: [f32; 2 * FACTOR * CONTROL_FRAMES],
}
