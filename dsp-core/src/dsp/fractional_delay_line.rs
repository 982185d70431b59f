//! A delay line with fractional delays.

use alloc::vec;
use alloc::vec::Vec;
use core::array::from_fn;

use wide::f32x4;

use super::control::{CONTROL_FRAMES, ControlRamp};
use super::lanes::{LANES, Lanes};
use super::memory::values_bytes;
use crate::simd::transpose;

/// The last samples of one channel. They are read by Lagrange interpolation of third order (T. I.
/// Laakso et al., "Splitting the Unit Delay", IEEE Signal Processing Magazine 13-1, 1996).
///
/// The output is exact for delays of whole frames and for cubic signals. The error is largest
/// half-way between two frames. At a sample rate of 48 kHz, the error is at most -103 dB at 1 kHz,
/// -47 dB at 5 kHz and -24 dB at 10 kHz. The gain falls by at most 0.04 dB at 5 kHz and 0.54 dB at
/// 10 kHz. The gain never exceeds 1, so feedback with a gain below 1 is stable.
#[derive(Debug, Clone)]
pub(crate) struct FractionalDelayLine {
    /// Ring buffer, whose length is a power of two. Its first [`OVERLAP_FRAMES`] samples are
    /// repeated after the end. The neighbours of [`LANES`] successive frames are thus contiguous if
    /// the delay is constant.
    values: Vec<f32>,
    mask: usize,
    /// Index at which the next sample is written.
    write_index: usize,
}

/// Shortest delay in frames: the interpolation needs one later sample.
pub(crate) const SHORTEST_FRAMES: f64 = 2.0;

/// Shortest delay in frames of [`LaneTaps`]: the last of the frames that are read together needs
/// one later sample, which is already written.
pub(crate) const SHORTEST_LANE_FRAMES: f64 = SHORTEST_FRAMES + LANES as f64;

/// Number of interpolated samples.
pub(crate) const NEIGHBOURS: usize = 4;

const OVERLAP_FRAMES: usize = LANES + NEIGHBOURS - 2;

/// Adding 2^52 to a number leaves the nearest integer in the lowest bits. This is faster than a
/// conversion with a range check. An integer minus a half may round up or down. The fraction is
/// then 0 or 1, and both give the same delay.
const ROUNDING_OFFSET: f64 = 4_503_599_627_370_496.0;

/// The delays of the frames between two control points.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Taps {
    /// Whole part of each delay, in frames.
    whole_frames: [usize; CONTROL_FRAMES],
    /// Weights of the four interpolated neighbours, the oldest first.
    weights: [f32x4; CONTROL_FRAMES],
}

impl Taps {
    /// Taps before the first [`Self::compute`], which must not be read.
    pub(crate) const NONE: Self =
        Self { whole_frames: [0; CONTROL_FRAMES], weights: [f32x4::ZERO; CONTROL_FRAMES] };

    /// Computes the taps of `frames` frames, from `offset` frames after the control point on. The
    /// delays are at least [`SHORTEST_FRAMES`].
    #[inline(always)]
    pub(crate) fn compute(&mut self, delay_frames: &ControlRamp, offset: usize, frames: usize) {
        for start in (0..frames).step_by(4) {
            let mut fractions = [0.0; 4];
            for (frame, fraction) in fractions.iter_mut().enumerate() {
                (self.whole_frames[start + frame], *fraction) =
                    split_delay(delay_frames.value_at(offset + start + frame));
            }
            let f = f32x4::new(fractions);
            let (unit, two) = (f32x4::ONE, f32x4::splat(2.0));
            let (inner, outer) = ((f - unit) * (f - two), (f + unit) * f);
            let sixth = f32x4::splat(1.0 / 6.0);
            let weights = transpose([
                outer * (f - unit) * sixth,
                outer * (two - f) * f32x4::HALF,
                inner * (f + unit) * f32x4::HALF,
                f32x4::ZERO - inner * f * sixth,
            ]);
            self.weights[start..start + 4].copy_from_slice(&weights);
        }
    }
}

/// Returns the integer and the fractional part of a delay in frames.
#[inline(always)]
fn split_delay(delay_frames: f64) -> (usize, f32) {
    let rounded_delay = (delay_frames - 0.5) + ROUNDING_OFFSET;
    (rounded_delay.to_bits() as u32 as usize, (delay_frames - (rounded_delay - ROUNDING_OFFSET)) as f32)
}

/// The delays of [`LANES`] successive frames, which are read together.
pub(crate) struct LaneTaps {
    /// Whole part of each delay, in frames.
    whole_frames: [usize; LANES],
    /// Weights of the interpolated neighbours, the oldest first.
    weights: [Lanes; NEIGHBOURS],
}

impl LaneTaps {
    /// Computes the taps of the frames from `offset` frames after the control point on. The delays
    /// are at least [`SHORTEST_LANE_FRAMES`]. The weights are those of [`Taps`], to the bit.
    #[inline(always)]
    pub(crate) fn new(delay_frames: &ControlRamp, offset: usize) -> Self {
        let (mut whole_frames, mut fractions) = ([0; LANES], [0.0; LANES]);
        for (frame, (whole_frame, fraction)) in whole_frames.iter_mut().zip(&mut fractions).enumerate() {
            (*whole_frame, *fraction) = split_delay(delay_frames.value_at(offset + frame));
        }
        let f = Lanes::new(fractions);
        let [zero, half, unit, two, sixth] = [0.0, 0.5, 1.0, 2.0, 1.0 / 6.0].map(Lanes::splat);
        let (inner, outer) = ((f - unit) * (f - two), (f + unit) * f);
        let weights = [
            outer * (f - unit) * sixth,
            outer * (two - f) * half,
            inner * (f + unit) * half,
            zero - inner * f * sixth,
        ];
        Self { whole_frames, weights }
    }
}

impl FractionalDelayLine {
    /// Creates a silent delay line with delays of up to `longest_frames` frames.
    pub(crate) fn new(longest_frames: f64) -> Self {
        let frames = (longest_frames as usize + 4).next_power_of_two();
        Self { values: vec![0.0; frames + OVERLAP_FRAMES], mask: frames - 1, write_index: 0 }
    }

    /// Returns the memory, in bytes, that a delay line with delays of up to `longest_frames` frames
    /// needs for its samples.
    pub(crate) fn memory_bytes(longest_frames: f64) -> u64 {
        values_bytes((longest_frames as usize + 4).next_power_of_two() + OVERLAP_FRAMES)
    }

    /// Clears all samples.
    pub(crate) fn clear(&mut self) {
        self.values.fill(0.0);
        self.write_index = 0;
    }

    /// Returns the length of the ring in frames.
    pub(crate) fn frames(&self) -> usize {
        self.mask + 1
    }

    /// Whether the last `frames` samples are all 0.
    pub(crate) fn ends_in_silence(&self, frames: usize) -> bool {
        (1..=frames).all(|back| self.values[self.write_index.wrapping_sub(back) & self.mask] == 0.0)
    }

    /// Appends a sample.
    #[inline(always)]
    pub(crate) fn write(&mut self, value: f32) {
        self.values[self.write_index] = value;
        if self.write_index < OVERLAP_FRAMES {
            self.values[self.write_index + self.mask + 1] = value;
        }
        self.write_index = (self.write_index + 1) & self.mask;
    }

    /// Appends the first `frames` of [`LANES`] samples.
    #[inline(always)]
    pub(crate) fn write_lanes(&mut self, values: Lanes, frames: usize) {
        let is_whole = frames == LANES;
        let values = values.to_array();
        match self.values[self.write_index..=self.mask].first_chunk_mut() {
            Some(chunk) if is_whole && self.write_index >= OVERLAP_FRAMES => {
                *chunk = values;
                self.write_index = (self.write_index + LANES) & self.mask;
            }
            _ => values[..frames].iter().for_each(|value| self.write(*value)),
        }
    }

    /// Returns the four neighbours of a tap, multiplied by their weights. The sum of the results is
    /// the delayed sample.
    #[inline(always)]
    pub(crate) fn read(&self, taps: &Taps, frame: usize) -> f32x4 {
        let read_index = self.write_index.wrapping_sub(taps.whole_frames[frame] + 2) & self.mask;
        let values = self.values[read_index..].first_chunk().copied().unwrap_or_default();
        f32x4::new(values) * taps.weights[frame]
    }

    /// Returns the neighbours of [`LANES`] frames, multiplied by their weights, the oldest first.
    /// The next sample written is that of the first of these frames.
    #[inline(always)]
    pub(crate) fn read_lanes(&self, taps: &LaneTaps) -> [Lanes; NEIGHBOURS] {
        let first_index = |frame: usize| {
            self.write_index.wrapping_add(frame).wrapping_sub(taps.whole_frames[frame] + 2) & self.mask
        };
        // The delays ramp linearly, so that the other whole parts lie between these.
        if taps.whole_frames[0] == taps.whole_frames[LANES - 1] {
            let window = &self.values[first_index(0)..][..LANES + NEIGHBOURS - 1];
            return from_fn(|neighbour| {
                let values = window[neighbour..].first_chunk().copied().unwrap_or_default();
                Lanes::new(values) * taps.weights[neighbour]
            });
        }
        let windows: [[f32; NEIGHBOURS]; LANES] =
            from_fn(|frame| self.values[first_index(frame)..].first_chunk().copied().unwrap_or_default());
        from_fn(|neighbour| Lanes::new(from_fn(|frame| windows[frame][neighbour])) * taps.weights[neighbour])
    }
}

/// Returns the sum of the four neighbours, in the order of [`sum`].
#[inline(always)]
pub(crate) fn sum_lanes([a, b, c, d]: [Lanes; NEIGHBOURS]) -> Lanes {
    (a + c) + (b + d)
}

/// Returns the sum of four values.
#[inline(always)]
pub(crate) fn sum(values: f32x4) -> f32 {
    let [a, b, c, d] = values.to_array();
    (a + c) + (b + d)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(value: impl Fn(f64) -> f64) -> FractionalDelayLine {
        let mut line = FractionalDelayLine::new(100.0);
        (0..1_000).for_each(|frame| line.write(value(f64::from(frame)) as f32));
        line
    }

    fn read(line: &FractionalDelayLine, delay_frames: f64) -> f32 {
        let mut ramp = ControlRamp::default();
        ramp.reset_to(delay_frames);
        let mut taps = Taps::NONE;
        taps.compute(&ramp, 3, 6);
        sum(line.read(&taps, 5))
    }

    fn cube(value: f64) -> f64 {
        value * value * value
    }

    #[test]
    fn delays_of_whole_frames_and_cubic_signals_are_exact() {
        let numbers = line(|frame| frame);
        for delay in 2..=100 {
            assert_eq!(read(&numbers, f64::from(delay)), 1_000.0 - delay as f32);
        }
        let cubic = line(|frame| cube((frame - 960.0) / 20.0));
        for delay in [2.0, 2.3, 17.5, 66.99] {
            let expected = cube((1_000.0 - delay - 960.0) / 20.0);
            assert!((f64::from(read(&cubic, delay)) - expected).abs() < 2e-5, "delay of {delay} frames");
        }
    }

    #[test]
    fn frames_that_are_read_together_have_the_same_bits() {
        let mut line = FractionalDelayLine::new(100.0);
        let mut ramp = ControlRamp::default();
        ramp.reset_to(70.0);
        let mut taps = Taps::NONE;
        // The whole parts are constant, rise slowly, rise by more than a frame, and fall.
        for (block, delay) in [70.0, 70.9, 99.0, SHORTEST_LANE_FRAMES, 40.5, 40.5].into_iter().enumerate() {
            ramp.ramp_to(delay);
            taps.compute(&ramp, 0, CONTROL_FRAMES);
            for start in (0..CONTROL_FRAMES).step_by(LANES) {
                let together = sum_lanes(line.read_lanes(&LaneTaps::new(&ramp, start))).to_array();
                for (lane, value) in together.into_iter().enumerate() {
                    let frame = start + lane;
                    let single_sum = sum(line.read(&taps, frame));
                    assert_eq!(value.to_bits(), single_sum.to_bits(), "frame {frame} of block {block}");
                    line.write(libm::sinf((block * CONTROL_FRAMES + frame) as f32));
                }
            }
        }
    }

    /// Returns the gain and the error in decibels, for a sine that is delayed by a fraction of a
    /// frame.
    fn response_db(periods_per_frame: f64, fraction: f64) -> (f64, f64) {
        let angle = core::f64::consts::TAU * periods_per_frame;
        let (mut re, mut im) = (0.0, 0.0);
        for back in 0..12 {
            let mut line = FractionalDelayLine::new(20.0);
            (0..12).for_each(|frame| line.write(if frame == 11 - back { 1.0 } else { 0.0 }));
            let weight = f64::from(read(&line, 5.0 + fraction));
            re += weight * libm::cos(angle * (f64::from(back) - 4.0 - fraction));
            im += weight * libm::sin(angle * (f64::from(back) - 4.0 - fraction));
        }
        let db = |amplitude: f64| 20.0 * libm::log10(amplitude.max(1e-15));
        (db(libm::hypot(re, im)), db(libm::hypot(re - 1.0, im)))
    }

    #[test]
    fn errors_are_within_the_documented_limits_and_no_gain_exceeds_one() {
        let worst = |frequency_hz: f64| {
            (0..=20)
                .map(|step| response_db(frequency_hz / 48_000.0, f64::from(step) / 20.0))
                .fold((0.0_f64, -300.0_f64), |worst, (gain_db, error_db)| {
                    (worst.0.min(gain_db), worst.1.max(error_db))
                })
        };
        let (at_1, at_5, at_10) = (worst(1_000.0), worst(5_000.0), worst(10_000.0));
        println!("gain and error in dB at 1, 5 and 10 kHz: {at_1:.3?}, {at_5:.3?}, {at_10:.3?}");
        assert!(at_1.1 < -103.0 && at_5.1 < -47.0 && at_10.1 < -24.0 && at_5.0 > -0.04 && at_10.0 > -0.54);
        for step in 0..=20 {
            for bin in 0..=100 {
                let (gain_db, _) = response_db(f64::from(bin) / 200.0, f64::from(step) / 20.0);
                assert!(
                    gain_db < 1e-5,
                    "gain of {gain_db} dB at {bin} / 200 of the sample rate, delay fraction {step} / 20"
                );
            }
        }
    }
}
