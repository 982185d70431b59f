//! The gain that keeps peaks between two samples below a ceiling.

use super::control::CONTROL_FRAMES;
use super::control_block::{ControlBlock, copy_to};
use super::decibels::higher;
use super::lanes::{LANES, Lanes};
use super::window::{kaiser, sinc};
use crate::simd::on_best_instructions;

/// Number of frames on either side of an interpolated value that contribute to it. This is also the
/// latency of the detector.
pub(crate) const LATENCY_FRAMES: usize = 24;

/// Number of frames that contribute to an interpolated value.
const TAPS: usize = 2 * LATENCY_FRAMES;

/// Limit of the parabola's contribution, as a proportion of the magnitude. A tone at half the
/// sample rate needs 8.3 %.
const MAX_PARABOLA_RATIO: f32 = 0.125;

/// Upper limit of a parabola's vertex relative to the values that it connects, with a margin for
/// rounding errors.
const MAX_VERTEX_RATIO: f32 = 1.13;

/// Finds peaks between samples. The samples are oversampled by four (ITU-R BS.1770-5, annex 2), and
/// parabolas connect the oversampled values.
///
/// Four times oversampling alone underestimates a tone of 0.45 times the sample rate by up to 0.55
/// dB. With the parabola the error is up to 0.05 dB.
///
/// The interpolators are sincs with a Kaiser window. The interpolators for a quarter and for three
/// quarters of a frame are mirror images of each other. The even part of both filters the sums of
/// opposite neighbours, and the odd part filters their differences. The interpolator for half a
/// frame also filters the sums. Calls whose frames are too quiet to reach the ceiling are skipped.
pub(crate) struct TruePeakDetector {
    /// Taps by their distance from the interpolated value.
    taps: [Taps; LATENCY_FRAMES],
    /// Upper limit of the peaks between frames whose magnitudes are at most 1.
    peak_bound: f32,
    /// The frames before a call, then the frames of the call, for left and right.
    values: [[f32; TAPS + CONTROL_FRAMES]; 2],
    /// Interpolated values three quarters of a frame after the last frame, for left and right;
    /// `None` if the last call was skipped.
    last_quarters: [Option<f32>; 2],
}

/// Weights of a frame in the interpolated values.
struct Taps {
    half: f32,
    /// Even and odd part of the interpolators for the quarters.
    even: f32,
    odd: f32,
}

impl TruePeakDetector {
    pub(crate) fn new() -> Self {
        let distances: [f64; LATENCY_FRAMES] = core::array::from_fn(|frame| frame as f64);
        let halves = distances.map(|distance| kaiser_sinc(distance + 0.5));
        let near_quarters = distances.map(|distance| kaiser_sinc(distance + 0.25));
        let far_quarters = distances.map(|distance| kaiser_sinc(distance + 0.75));
        let half_sum = 2.0 * halves.iter().sum::<f64>();
        let quarter_sum = near_quarters.iter().chain(&far_quarters).sum::<f64>();
        // The weights are normalized to a gain of 1 for a constant.
        let taps = core::array::from_fn(|frame| Taps {
            half: (halves[frame] / half_sum) as f32,
            even: (0.5 * (near_quarters[frame] + far_quarters[frame]) / quarter_sum) as f32,
            odd: (0.5 * (near_quarters[frame] - far_quarters[frame]) / quarter_sum) as f32,
        });
        let peak_bound = peak_bound(&taps);
        Self { taps, peak_bound, values: [[0.0; TAPS + CONTROL_FRAMES]; 2], last_quarters: [None; 2] }
    }

    pub(crate) fn reset(&mut self) {
        self.values = [[0.0; TAPS + CONTROL_FRAMES]; 2];
        self.last_quarters = [None; 2];
    }

    /// Returns a gain of at most 1 for each frame. The gain keeps the peaks between two earlier
    /// frames below the ceiling: those `LATENCY_FRAMES` and `LATENCY_FRAMES - 1` frames before that
    /// frame.
    #[inline(always)]
    pub(crate) fn compute_gains(&mut self, audio: [&[f32]; 2], ceilings: &ControlBlock) -> ControlBlock {
        let frames = audio[0].len();
        for (values, audio) in self.values.iter_mut().zip(audio) {
            copy_to::<CONTROL_FRAMES>(audio, &mut values[TAPS..][..frames]);
        }
        let mut gains_needed = [1.0; CONTROL_FRAMES];
        if self.is_quiet(ceilings) {
            self.last_quarters = [None; 2];
        } else {
            for start in (0..frames).step_by(LANES) {
                let ceiling = load(ceilings, start);
                let peaks = self.peaks(start, (frames - start).min(LANES), ceiling);
                let gains = (ceiling / peaks.higher(ceiling)).to_array();
                gains_needed[start..start + LANES].copy_from_slice(&gains);
            }
        }
        for values in &mut self.values {
            if frames == CONTROL_FRAMES {
                // Copies of constant size are faster.
                values.copy_within(CONTROL_FRAMES.., 0);
            } else {
                values.copy_within(frames..frames + TAPS, 0);
            }
        }
        gains_needed
    }

    /// Whether the frames of a call and those before it are too quiet for a peak above the ceilings.
    #[inline(always)]
    fn is_quiet(&self, ceilings: &ControlBlock) -> bool {
        let [left, right] = self.values.each_ref().map(|values| values.as_chunks().0);
        let mut loudest = Lanes::zero();
        for (left, right) in left.iter().zip(right) {
            loudest = loudest.higher(Lanes::new(*left).abs().higher(Lanes::new(*right).abs()));
        }
        let ceilings = ceilings.as_chunks().0.iter().map(|group| Lanes::new(*group));
        let lowest_ceiling = ceilings.fold(Lanes::splat(f32::MAX), Lanes::lower).lowest();
        (loudest * self.peak_bound).are_at_most(lowest_ceiling)
    }

    /// Returns the highest magnitude between each frame of a group and the next frame. Parabolas
    /// are only computed where a peak could exceed the ceiling.
    #[inline(always)]
    fn peaks(&mut self, start: usize, frames: usize, ceiling: Lanes) -> Lanes {
        let mut peaks = Lanes::zero();
        let between = interpolate(&self.taps, &self.values, start);
        let channels = self.values.iter().zip(&mut self.last_quarters).zip(between);
        for ((values, last_quarter), [quarter, half, three_quarters]) in channels {
            let (whole_frame, next) =
                (load(values, start + LATENCY_FRAMES), load(values, start + 1 + LATENCY_FRAMES));
            let at_three_quarters = three_quarters.to_array();
            let highest =
                whole_frame.abs().higher(quarter.abs()).higher(half.abs()).higher(three_quarters.abs());
            if !(highest * MAX_VERTEX_RATIO - ceiling).are_at_most(0.0) {
                let mut before = [0.0; LANES];
                before[0] = last_quarter.unwrap_or_else(|| three_quarters_past(&self.taps, &values[start..]));
                before[1..].copy_from_slice(&at_three_quarters[..LANES - 1]);
                peaks = peaks
                    .higher(vertex_magnitude(Lanes::new(before), whole_frame, quarter))
                    .higher(vertex_magnitude(whole_frame, quarter, half))
                    .higher(vertex_magnitude(quarter, half, three_quarters))
                    .higher(vertex_magnitude(half, three_quarters, next));
            }
            *last_quarter = Some(at_three_quarters[frames - 1]);
        }
        peaks
    }
}

/// Interpolated values a quarter, a half and three quarters of a frame after each frame of a group,
/// left and right.
type Between = [[Lanes; 3]; 2];

on_best_instructions! {
    /// Returns the interpolated values of a group.
    ///
    /// The function is not inlined, because the sums would then not stay in registers.
    #[inline(never)]
    fn interpolate(
        taps: &[Taps; LATENCY_FRAMES],
        values: &[[f32; TAPS + CONTROL_FRAMES]; 2],
        start: usize,
    ) -> Between = interpolate_lanes;
}

#[inline(always)]
fn interpolate_lanes(
    taps: &[Taps; LATENCY_FRAMES],
    values: &[[f32; TAPS + CONTROL_FRAMES]; 2],
    start: usize,
) -> Between {
    let [left, right] = values;
    let (left, right) = (&left[start + 1..], &right[start + 1..]);
    let (mut half, mut even, mut odd) = ([Lanes::zero(); 2], [Lanes::zero(); 2], [Lanes::zero(); 2]);
    for ((taps, left), right) in taps.iter().zip(neighbours(left)).zip(neighbours(right)) {
        for (channel, [before, after]) in [left, right].into_iter().enumerate() {
            let (sum, difference) = (before + after, before - after);
            half[channel] = half[channel] + sum * taps.half;
            even[channel] = even[channel] + sum * taps.even;
            odd[channel] = odd[channel] + difference * taps.odd;
        }
    }
    let between =
        |channel: usize| [even[channel] + odd[channel], half[channel], even[channel] - odd[channel]];
    [between(0), between(1)]
}

/// Returns the values before and after each interpolated value of a group, the nearest first.
/// `around` starts with the first neighbour of the group's first value.
#[inline(always)]
fn neighbours(around: &[f32]) -> impl Iterator<Item = [Lanes; 2]> {
    let (before, after) = (&around[..LATENCY_FRAMES + LANES - 1], &around[LATENCY_FRAMES..TAPS + LANES - 1]);
    let afters = after.array_windows().map(|values| Lanes::new(*values));
    before
        .array_windows()
        .rev()
        .map(|values| Lanes::new(*values))
        .zip(afters)
        .map(|(before, after)| [before, after])
}

/// Returns [`LANES`] consecutive values.
#[inline(always)]
fn load(values: &[f32], index: usize) -> Lanes {
    Lanes::new(values[index..].first_chunk().copied().unwrap_or_default())
}

/// Returns the interpolated value three quarters of a frame after the middle of `values`, with the
/// same rounding as in [`interpolate`].
fn three_quarters_past(taps: &[Taps; LATENCY_FRAMES], values: &[f32]) -> f32 {
    let (mut even, mut odd) = (0.0, 0.0);
    for (distance, taps) in taps.iter().enumerate() {
        let before = values[LATENCY_FRAMES - 1 - distance];
        let after = values[LATENCY_FRAMES + distance];
        even += (before + after) * taps.even;
        odd += (before - after) * taps.odd;
    }
    even - odd
}

/// Returns an upper limit of the peaks between frames whose magnitudes are at most 1. The limit
/// includes the parabola.
fn peak_bound(taps: &[Taps; LATENCY_FRAMES]) -> f32 {
    let half: f32 = taps.iter().map(|taps| 2.0 * taps.half.abs()).sum();
    let quarter: f32 =
        taps.iter().map(|taps| (taps.even + taps.odd).abs() + (taps.even - taps.odd).abs()).sum();
    higher(half, quarter) * MAX_VERTEX_RATIO
}

/// Returns the magnitude of the second of three values, or that of the vertex of their parabola if
/// the vertex is a maximum.
#[inline(always)]
fn vertex_magnitude(before: Lanes, middle: Lanes, after: Lanes) -> Lanes {
    let slope = before - after;
    let curvature = middle + middle - before - after;
    let magnitude = middle.abs();
    let added_peak = (slope * slope / (curvature.abs() * 8.0)).lower(magnitude * MAX_PARABOLA_RATIO);
    magnitude + added_peak.where_at_most(slope.abs(), curvature.abs()).where_positive(curvature * middle)
}

/// Shape parameter of the Kaiser window: a compromise between width and flatness of the pass band.
const KAISER_BETA: f64 = 4.0;

/// Returns `sinc(time)` with a Kaiser window that ends at [`LATENCY_FRAMES`]. `time` is in frames.
fn kaiser_sinc(time: f64) -> f64 {
    kaiser(KAISER_BETA, time / LATENCY_FRAMES as f64) * sinc(time)
}
