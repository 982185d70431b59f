//! The gain that a peak between two samples needs.

use alloc::vec::Vec;

use wide::{CmpGt, CmpLe, f32x4};

use crate::dsp::window::{kaiser, sinc};
use crate::effects::CONTROL_FRAMES;
use crate::effects::decibels::{higher, lower};
use crate::effects::step::Step;

/// Frames on either side of a place between two frames from which its value is computed, and
/// how many frames after the one before the place all of them are there.
pub(super) const LATENCY_FRAMES: usize = 24;

/// Frames that go into a value.
const TAPS: usize = 2 * LATENCY_FRAMES;

/// Frames that are looked at together.
const LANES: usize = 4;

/// Stretches of [`LANES`] frames that the frames of a step and those before them make.
const STRETCHES: usize = (TAPS + CONTROL_FRAMES) / LANES;

/// Stretches in which the taps of [`LANES`] frames lie.
const REACHED: usize = TAPS / LANES + 1;

/// A parabola adds at most this part of the magnitude: a tone at half the sample rate needs 8.3 %.
const MOST_ADDED: f32 = 0.125;

/// How much higher than all values around it a summit can be; rounding has room in it.
const HIGHEST: f32 = 1.13;

/// Finds peaks between samples: by four times oversampling (ITU-R BS.1770-5, annex 2), and between
/// the values of that by parabolas.
///
/// Four times oversampling alone reads a tone of 0.45 times the sample rate up to 0.55 dB too low,
/// the parabola through three of its values up to 0.05 dB.
///
/// The interpolators are sincs under a Kaiser window. Those for a quarter and three quarters are
/// mirror images: they share an even and an odd part, which work on sums and differences of the
/// frames around the place, as the one for the half does on the sums. They are left out where
/// frames all around are too quiet to add up to the ceiling.
pub(super) struct TruePeak {
    /// By distance from the place.
    taps: [Taps; LATENCY_FRAMES],
    /// Most that a magnitude of 1 adds to a peak, by the stretch in which it is.
    most: [f32; REACHED],
    /// The frames before those of a step, and room for these.
    values: [[f32; TAPS + CONTROL_FRAMES]; 2],
    /// Values three quarters past the frames before, where these were looked at.
    last_quarters: [Option<f32>; 2],
}

/// What a frame adds to the values between two frames, the same in all lanes.
struct Taps {
    half: f32x4,
    /// Even and odd part of the quarters.
    even: f32x4,
    odd: f32x4,
}

impl TruePeak {
    pub(super) fn new() -> Self {
        let distances: [f64; LATENCY_FRAMES] = core::array::from_fn(|frame| frame as f64);
        let halves = distances.map(|distance| kaiser_sinc(distance + 0.5));
        let nears = distances.map(|distance| kaiser_sinc(distance + 0.25));
        let fars = distances.map(|distance| kaiser_sinc(distance + 0.75));
        let half_sum = 2.0 * halves.iter().sum::<f64>();
        let quarter_sum = nears.iter().chain(&fars).sum::<f64>();
        // A constant stays what it is.
        let taps = core::array::from_fn(|frame| Taps {
            half: f32x4::splat((halves[frame] / half_sum) as f32),
            even: f32x4::splat((0.5 * (nears[frame] + fars[frame]) / quarter_sum) as f32),
            odd: f32x4::splat((0.5 * (nears[frame] - fars[frame]) / quarter_sum) as f32),
        });
        let most = most_added(&taps);
        Self { taps, most, values: [[0.0; TAPS + CONTROL_FRAMES]; 2], last_quarters: [None; 2] }
    }

    pub(super) fn reset(&mut self) {
        self.values = [[0.0; TAPS + CONTROL_FRAMES]; 2];
        self.last_quarters = [None; 2];
    }

    /// For each frame the gain (at most 1) at which what is between the frames `LATENCY_FRAMES` and
    /// one less before it does not exceed the ceiling.
    pub(super) fn needed_gains(&mut self, audio: [&[f32]; 2], ceilings: &Step) -> Step {
        let frames = audio[0].len();
        for (values, audio) in self.values.iter_mut().zip(audio) {
            values[TAPS..][..frames].copy_from_slice(audio);
        }
        let mut needed = [1.0; CONTROL_FRAMES];
        let bounds = self.bounds();
        for (stretch, start) in (0..frames).step_by(LANES).enumerate() {
            let ceiling = f32x4::from([0, 1, 2, 3].map(|lane| ceilings[start + lane]));
            let lowest = ceiling.to_array().into_iter().fold(f32::MAX, lower);
            if bounds[stretch] <= lowest {
                self.last_quarters = [None; 2];
                continue;
            }
            let peaks = self.peaks(start, (frames - start).min(LANES), ceiling);
            let gains = (ceiling / peaks.fast_max(ceiling)).to_array();
            needed[start..start + LANES].copy_from_slice(&gains);
        }
        for values in &mut self.values {
            values.copy_within(frames..frames + TAPS, 0);
        }
        needed
    }

    /// For each stretch of frames a bound of its peaks.
    fn bounds(&self) -> [f32; CONTROL_FRAMES / LANES] {
        let [left, right] = &self.values;
        let mut loudest = [0.0; LANES * STRETCHES];
        for ((loudest, left), right) in loudest.iter_mut().zip(left).zip(right) {
            *loudest = higher(left.abs(), right.abs());
        }
        // Of two and then of four frames that follow each other.
        for reach in [1, 2] {
            for place in 0..loudest.len() - reach {
                loudest[place] = higher(loudest[place], loudest[place + reach]);
            }
        }
        let mut bounds = [0.0; CONTROL_FRAMES / LANES];
        for (stretch, most) in self.most.iter().enumerate() {
            for (bound, place) in bounds.iter_mut().zip(stretch..) {
                *bound += loudest[place * LANES] * most;
            }
        }
        bounds
    }

    /// For each of a stretch of frames the highest magnitude after it, as far as that is above
    /// `least`.
    fn peaks(&mut self, start: usize, frames: usize, least: f32x4) -> f32x4 {
        let mut peaks = f32x4::ZERO;
        let between = self.between(start);
        let channels = self.values.iter().zip(&mut self.last_quarters).zip(between);
        for ((values, last_quarter), [quarter, half, three_quarters]) in channels {
            let (whole, next) =
                (four(values, start + LATENCY_FRAMES), four(values, start + 1 + LATENCY_FRAMES));
            let thirds = three_quarters.to_array();
            let highest =
                whole.abs().fast_max(quarter.abs()).fast_max(half.abs()).fast_max(three_quarters.abs());
            if (highest * HIGHEST).cmp_gt(least).any() {
                let before =
                    last_quarter.unwrap_or_else(|| three_quarters_past(&self.taps, &values[start..]));
                let before = f32x4::from([before, thirds[0], thirds[1], thirds[2]]);
                peaks = peaks
                    .fast_max(summit(before, whole, quarter))
                    .fast_max(summit(whole, quarter, half))
                    .fast_max(summit(quarter, half, three_quarters))
                    .fast_max(summit(half, three_quarters, next));
            }
            *last_quarter = Some(thirds[frames - 1]);
        }
        peaks
    }

    /// A quarter, a half and three quarters after each of a stretch of frames, left and right.
    ///
    /// A function of its own: in a larger one its sums do not stay in registers.
    #[inline(never)]
    fn between(&self, start: usize) -> [[f32x4; 3]; 2] {
        // The frames around the first place of each channel.
        let [left, right] = self.values.each_ref().map(|values| &values[start + 1..][..TAPS + LANES - 1]);
        let (mut half, mut even, mut odd) = ([f32x4::ZERO; 2], [f32x4::ZERO; 2], [f32x4::ZERO; 2]);
        for (distance, taps) in self.taps.iter().enumerate() {
            for (channel, around) in [left, right].into_iter().enumerate() {
                let before = four(around, LATENCY_FRAMES - 1 - distance);
                let after = four(around, LATENCY_FRAMES + distance);
                let (sum, difference) = (before + after, before - after);
                half[channel] += sum * taps.half;
                even[channel] += sum * taps.even;
                odd[channel] += difference * taps.odd;
            }
        }
        [0, 1].map(|channel| [even[channel] + odd[channel], half[channel], even[channel] - odd[channel]])
    }
}

/// Four values that follow each other.
#[inline(always)]
fn four(values: &[f32], place: usize) -> f32x4 {
    f32x4::from([values[place], values[place + 1], values[place + 2], values[place + 3]])
}

/// The value three quarters past the middle of some frames, rounded as among the others.
fn three_quarters_past(taps: &[Taps; LATENCY_FRAMES], values: &[f32]) -> f32 {
    let (mut even, mut odd) = (0.0, 0.0);
    for (distance, taps) in taps.iter().enumerate() {
        let before = values[LATENCY_FRAMES - 1 - distance];
        let after = values[LATENCY_FRAMES + distance];
        even += (before + after) * taps.even.to_array()[0];
        odd += (before - after) * taps.odd.to_array()[0];
    }
    even - odd
}

/// Most that a magnitude of 1 in each stretch adds to a value in the first, parabola included.
fn most_added(taps: &[Taps; LATENCY_FRAMES]) -> [f32; REACHED] {
    let mut most = [0.0_f32; REACHED];
    // The frames before the place, from the first on, and those after it.
    let sides = || taps.iter().rev().map(|taps| (taps, 1.0)).chain(taps.iter().map(|taps| (taps, -1.0)));
    let first = |lanes: f32x4| lanes.to_array()[0];
    let places = [
        (0..TAPS).map(|tap| if tap == LATENCY_FRAMES - 1 { 1.0 } else { 0.0 }).collect::<Vec<f32>>(),
        sides().map(|(taps, side)| first(taps.even) + side * first(taps.odd)).collect(),
        sides().map(|(taps, _)| first(taps.half)).collect(),
        sides().map(|(taps, side)| first(taps.even) - side * first(taps.odd)).collect(),
    ];
    for taps in &places {
        for lane in 0..LANES {
            let mut sums = [0.0_f32; REACHED];
            for (tap, value) in taps.iter().enumerate() {
                sums[(1 + lane + tap) / LANES] += value.abs() * HIGHEST;
            }
            for (most, sum) in most.iter_mut().zip(sums) {
                *most = higher(*most, sum);
            }
        }
    }
    most
}

/// The magnitude of the middle one of three values, or of the summit of the parabola through them
/// if it is the highest of them.
#[inline(always)]
fn summit(before: f32x4, middle: f32x4, after: f32x4) -> f32x4 {
    let slope = before - after;
    let bend = middle + middle - before - after;
    let magnitude = middle.abs();
    let added = (slope * slope / (bend.abs() * 8.0)).fast_min(magnitude * MOST_ADDED);
    let is_summit = slope.abs().cmp_le(bend.abs()) & (bend * middle).cmp_gt(f32x4::ZERO);
    magnitude + (added & is_summit)
}

/// The shape of the window: a compromise between where its pass band ends and how flat that is.
const KAISER_BETA: f64 = 4.0;

/// `sinc(time)` under a Kaiser window that ends at [`LATENCY_FRAMES`].
fn kaiser_sinc(time: f64) -> f64 {
    kaiser(KAISER_BETA, time / LATENCY_FRAMES as f64) * sinc(time)
}
