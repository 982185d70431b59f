//! The gain that keeps peaks between two samples below a ceiling.

use alloc::vec::Vec;

use wide::{CmpGt, CmpLe, f32x4};

use super::control::CONTROL_FRAMES;
use super::control_block::ControlBlock;
use super::decibels::{higher, lower};
use super::window::{kaiser, sinc};

/// Number of frames on either side of an interpolated value that contribute to it. This is also the
/// latency of the detector.
pub(crate) const LATENCY_FRAMES: usize = 24;

/// Number of frames that contribute to an interpolated value.
const TAPS: usize = 2 * LATENCY_FRAMES;

/// Number of frames in a group, which are computed together.
const LANES: usize = 4;

/// Number of groups in a call and in the frames before it.
const GROUP_COUNT: usize = (TAPS + CONTROL_FRAMES) / LANES;

/// Number of groups that contain the taps of one group.
const TAP_GROUPS: usize = TAPS / LANES + 1;

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
/// frame also filters the sums. Groups whose neighbours are too quiet to reach the ceiling are
/// skipped.
pub(crate) struct TruePeakDetector {
    /// Taps by their distance from the interpolated value.
    taps: [Taps; LATENCY_FRAMES],
    /// Upper limit of the contribution of frames with a magnitude of 1 to a peak, by group.
    contribution_bounds: [f32; TAP_GROUPS],
    /// The frames before a call, then the frames of the call, for left and right.
    values: [[f32; TAPS + CONTROL_FRAMES]; 2],
    /// Interpolated values three quarters of a frame after the last frame, for left and right;
    /// `None` if the last group was skipped.
    last_quarters: [Option<f32>; 2],
}

/// Weights of a frame in the interpolated values, equal in all lanes.
struct Taps {
    half: f32x4,
    /// Even and odd part of the interpolators for the quarters.
    even: f32x4,
    odd: f32x4,
}

impl TruePeakDetector {
    pub(crate) fn new() -> Self {
        let distances: [f64; LATENCY_FRAMES] = core::array::from_fn(|frame| frame as f64);
        let halves = distances.map(|distance| kaiser_sinc(distance + 0.5));
        let near_quarters = distances.map(|distance| kaiser_sinc(distance + 0.25));
        let far_quarters = distances.map(|distance| kaiser_sinc(distance + 0.75));
        let half_sum = 2.0 * halves.iter().sum::<f64>();
        let quarter_sum = near_quarters.iter().chain(&far_quarters).sum::<f64>();
        // The weights are normalised to a gain of 1 for a constant.
        let taps = core::array::from_fn(|frame| Taps {
            half: f32x4::splat((halves[frame] / half_sum) as f32),
            even: f32x4::splat((0.5 * (near_quarters[frame] + far_quarters[frame]) / quarter_sum) as f32),
            odd: f32x4::splat((0.5 * (near_quarters[frame] - far_quarters[frame]) / quarter_sum) as f32),
        });
        let contribution_bounds = contribution_bounds(&taps);
        Self {
            taps,
            contribution_bounds,
            values: [[0.0; TAPS + CONTROL_FRAMES]; 2],
            last_quarters: [None; 2],
        }
    }

    pub(crate) fn reset(&mut self) {
        self.values = [[0.0; TAPS + CONTROL_FRAMES]; 2];
        self.last_quarters = [None; 2];
    }

    /// Returns a gain of at most 1 for each frame. The gain keeps the peaks between two earlier
    /// frames below the ceiling: those `LATENCY_FRAMES` and `LATENCY_FRAMES - 1` frames before that
    /// frame.
    pub(crate) fn compute_gains(&mut self, audio: [&[f32]; 2], ceilings: &ControlBlock) -> ControlBlock {
        let frames = audio[0].len();
        for (values, audio) in self.values.iter_mut().zip(audio) {
            values[TAPS..][..frames].copy_from_slice(audio);
        }
        let mut gains_needed = [1.0; CONTROL_FRAMES];
        let bounds = self.bounds();
        for (group, start) in (0..frames).step_by(LANES).enumerate() {
            let ceiling = f32x4::from([0, 1, 2, 3].map(|lane| ceilings[start + lane]));
            let lowest = ceiling.to_array().into_iter().fold(f32::MAX, lower);
            if bounds[group] <= lowest {
                self.last_quarters = [None; 2];
                continue;
            }
            let peaks = self.peaks(start, (frames - start).min(LANES), ceiling);
            let gains = (ceiling / peaks.fast_max(ceiling)).to_array();
            gains_needed[start..start + LANES].copy_from_slice(&gains);
        }
        for values in &mut self.values {
            values.copy_within(frames..frames + TAPS, 0);
        }
        gains_needed
    }

    /// Returns an upper limit of the peaks of each group.
    fn bounds(&self) -> [f32; CONTROL_FRAMES / LANES] {
        let [left, right] = &self.values;
        let mut loudest = [0.0; LANES * GROUP_COUNT];
        for ((loudest, left), right) in loudest.iter_mut().zip(left).zip(right) {
            *loudest = higher(left.abs(), right.abs());
        }
        // The first pass computes maxima of two consecutive frames, the second pass maxima of four.
        for distance in [1, 2] {
            for index in 0..loudest.len() - distance {
                loudest[index] = higher(loudest[index], loudest[index + distance]);
            }
        }
        let mut bounds = [0.0; CONTROL_FRAMES / LANES];
        for (group, contribution_bound) in self.contribution_bounds.iter().enumerate() {
            for (bound, index) in bounds.iter_mut().zip(group..) {
                *bound += loudest[index * LANES] * contribution_bound;
            }
        }
        bounds
    }

    /// Returns the highest magnitude between each frame of a group and the next frame. Parabolas
    /// are only computed where a peak could exceed `lowest_ceiling`.
    fn peaks(&mut self, start: usize, frames: usize, lowest_ceiling: f32x4) -> f32x4 {
        let mut peaks = f32x4::ZERO;
        let between = self.interpolate(start);
        let channels = self.values.iter().zip(&mut self.last_quarters).zip(between);
        for ((values, last_quarter), [quarter, half, three_quarters]) in channels {
            let (whole, next) =
                (load_four(values, start + LATENCY_FRAMES), load_four(values, start + 1 + LATENCY_FRAMES));
            let at_three_quarters = three_quarters.to_array();
            let highest =
                whole.abs().fast_max(quarter.abs()).fast_max(half.abs()).fast_max(three_quarters.abs());
            if (highest * MAX_VERTEX_RATIO).cmp_gt(lowest_ceiling).any() {
                let before =
                    last_quarter.unwrap_or_else(|| three_quarters_past(&self.taps, &values[start..]));
                let before =
                    f32x4::from([before, at_three_quarters[0], at_three_quarters[1], at_three_quarters[2]]);
                peaks = peaks
                    .fast_max(vertex_magnitude(before, whole, quarter))
                    .fast_max(vertex_magnitude(whole, quarter, half))
                    .fast_max(vertex_magnitude(quarter, half, three_quarters))
                    .fast_max(vertex_magnitude(half, three_quarters, next));
            }
            *last_quarter = Some(at_three_quarters[frames - 1]);
        }
        peaks
    }

    /// Returns the interpolated values a quarter, a half and three quarters of a frame after each
    /// frame of a group, left and right.
    ///
    /// The function is not inlined, because the sums would then not stay in registers.
    #[inline(never)]
    fn interpolate(&self, start: usize) -> [[f32x4; 3]; 2] {
        // The neighbours of the first interpolated value of each channel.
        let [left, right] = self.values.each_ref().map(|values| &values[start + 1..][..TAPS + LANES - 1]);
        let (mut half, mut even, mut odd) = ([f32x4::ZERO; 2], [f32x4::ZERO; 2], [f32x4::ZERO; 2]);
        for (distance, taps) in self.taps.iter().enumerate() {
            for (channel, around) in [left, right].into_iter().enumerate() {
                let before = load_four(around, LATENCY_FRAMES - 1 - distance);
                let after = load_four(around, LATENCY_FRAMES + distance);
                let (sum, difference) = (before + after, before - after);
                half[channel] += sum * taps.half;
                even[channel] += sum * taps.even;
                odd[channel] += difference * taps.odd;
            }
        }
        [0, 1].map(|channel| [even[channel] + odd[channel], half[channel], even[channel] - odd[channel]])
    }
}

/// Returns four consecutive values.
#[inline(always)]
fn load_four(values: &[f32], index: usize) -> f32x4 {
    f32x4::from([values[index], values[index + 1], values[index + 2], values[index + 3]])
}

/// Returns the interpolated value three quarters of a frame after the middle of `values`, with the
/// same rounding as in [`TruePeakDetector::between`].
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

/// Returns, for each group, an upper limit of the contribution of its frames to a peak in the first
/// group. The frames have a magnitude of 1. The limit includes the parabola.
fn contribution_bounds(taps: &[Taps; LATENCY_FRAMES]) -> [f32; TAP_GROUPS] {
    let mut bounds = [0.0_f32; TAP_GROUPS];
    // These are the frames before the interpolated value, the oldest first, then the frames after
    // it.
    let sides = || taps.iter().rev().map(|taps| (taps, 1.0)).chain(taps.iter().map(|taps| (taps, -1.0)));
    let first = |lanes: f32x4| lanes.to_array()[0];
    let values = [
        (0..TAPS).map(|tap| if tap == LATENCY_FRAMES - 1 { 1.0 } else { 0.0 }).collect::<Vec<f32>>(),
        sides().map(|(taps, side)| first(taps.even) + side * first(taps.odd)).collect(),
        sides().map(|(taps, _)| first(taps.half)).collect(),
        sides().map(|(taps, side)| first(taps.even) - side * first(taps.odd)).collect(),
    ];
    for taps in &values {
        for lane in 0..LANES {
            let mut sums = [0.0_f32; TAP_GROUPS];
            for (tap, value) in taps.iter().enumerate() {
                sums[(1 + lane + tap) / LANES] += value.abs() * MAX_VERTEX_RATIO;
            }
            for (bound, sum) in bounds.iter_mut().zip(sums) {
                *bound = higher(*bound, sum);
            }
        }
    }
    bounds
}

/// Returns the magnitude of the second of three values, or that of the vertex of their parabola if
/// the vertex is a maximum.
#[inline(always)]
fn vertex_magnitude(before: f32x4, middle: f32x4, after: f32x4) -> f32x4 {
    let slope = before - after;
    let curvature = middle + middle - before - after;
    let magnitude = middle.abs();
    let added = (slope * slope / (curvature.abs() * 8.0)).fast_min(magnitude * MAX_PARABOLA_RATIO);
    let is_maximum = slope.abs().cmp_le(curvature.abs()) & (curvature * middle).cmp_gt(f32x4::ZERO);
    magnitude + (added & is_maximum)
}

/// Shape parameter of the Kaiser window: a compromise between width and flatness of the pass band.
const KAISER_BETA: f64 = 4.0;

/// Returns `sinc(time)` with a Kaiser window that ends at [`LATENCY_FRAMES`]. `time` is in frames.
fn kaiser_sinc(time: f64) -> f64 {
    kaiser(KAISER_BETA, time / LATENCY_FRAMES as f64) * sinc(time)
}
