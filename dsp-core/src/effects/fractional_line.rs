//! A delay line that is read between its frames.

use alloc::vec;
use alloc::vec::Vec;

use wide::f32x4;

use super::CONTROL_FRAMES;
use super::control::Ramp;
use super::memory::values_bytes;
use crate::simd::transpose;

/// What came in lately, read between its frames by Lagrange's polynomial through the four nearest
/// values (T. I. Laakso and others, "Splitting the Unit Delay", IEEE Signal Processing Magazine
/// 13-1, 1996): exact for whole delays and for all that is a cubic. At 48 kHz a sine comes back
/// right to -103 dB at 1 kHz, -47 dB at 5 kHz and -24 dB at 10 kHz at worst, half-way between two
/// frames, where it is also softest: by 0.04 dB at 5 kHz and 0.54 dB at 10 kHz. It is nowhere
/// louder, so that a feedback below one stays below one.
#[derive(Debug, Clone)]
pub(crate) struct FractionalLine {
    /// A power of two of them, and the first [`OVERLAP`] again, so that neighbours always stand in
    /// a row.
    values: Vec<f32>,
    mask: usize,
    /// Where the next value goes.
    place: usize,
}

/// Shortest delay of a [`FractionalLine`], in frames: the polynomial stands on one later value.
pub(crate) const SHORTEST_FRAMES: f64 = 2.0;

const OVERLAP: usize = 3;

/// 2^52. Added to a number, it leaves the nearest whole one in the lowest bits, faster than a
/// conversion that minds its range does. A whole number less a half goes either way: the fraction
/// is then 0 or 1, which is the same place.
const LIFT: f64 = 4_503_599_627_370_496.0;

/// Where lines are read in the frames of a control step.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Taps {
    /// Whole frames of the delays.
    wholes: [usize; CONTROL_FRAMES],
    /// Weights of the value before the earlier neighbour, both neighbours, and the one after the
    /// later.
    weights: [f32x4; CONTROL_FRAMES],
}

impl Taps {
    /// Room for places.
    pub(crate) const NONE: Self =
        Self { wholes: [0; CONTROL_FRAMES], weights: [f32x4::ZERO; CONTROL_FRAMES] };

    /// Finds the places of so many frames for a delay in frames, at least [`SHORTEST_FRAMES`], from
    /// an offset after the control place on.
    #[inline(always)]
    pub(crate) fn find(&mut self, delay_frames: &Ramp, offset: usize, frames: usize) {
        for start in (0..frames).step_by(4) {
            let mut fractions = [0.0; 4];
            for (place, fraction) in fractions.iter_mut().enumerate() {
                let delay_frames = delay_frames.at(offset + start + place);
                let lifted = (delay_frames - 0.5) + LIFT;
                self.wholes[start + place] = lifted.to_bits() as u32 as usize;
                *fraction = (delay_frames - (lifted - LIFT)) as f32;
            }
            let f = f32x4::new(fractions);
            let (one, two) = (f32x4::ONE, f32x4::splat(2.0));
            let (inner, outer) = ((f - one) * (f - two), (f + one) * f);
            let sixth = f32x4::splat(1.0 / 6.0);
            let weights = transpose([
                outer * (f - one) * sixth,
                outer * (two - f) * f32x4::HALF,
                inner * (f + one) * f32x4::HALF,
                f32x4::ZERO - inner * f * sixth,
            ]);
            self.weights[start..start + 4].copy_from_slice(&weights);
        }
    }
}

impl FractionalLine {
    /// A silent line that can be read up to so many frames back.
    pub(crate) fn new(longest_frames: f64) -> Self {
        let frames = (longest_frames as usize + 4).next_power_of_two();
        Self { values: vec![0.0; frames + OVERLAP], mask: frames - 1, place: 0 }
    }

    /// Bytes of the values of such a line.
    pub(super) fn memory_bytes(longest_frames: f64) -> u64 {
        values_bytes((longest_frames as usize + 4).next_power_of_two() + OVERLAP)
    }

    /// Falls silent.
    pub(crate) fn clear(&mut self) {
        self.values.fill(0.0);
        self.place = 0;
    }

    /// How many values it holds.
    pub(crate) fn frames(&self) -> usize {
        self.mask + 1
    }

    /// Whether the values that were written last, so many of them, are silence.
    pub(crate) fn ends_in_silence(&self, frames: usize) -> bool {
        (1..=frames).all(|back| self.values[self.place.wrapping_sub(back) & self.mask] == 0.0)
    }

    /// Puts a value at the end.
    #[inline(always)]
    pub(crate) fn write(&mut self, value: f32) {
        self.values[self.place] = value;
        if self.place < OVERLAP {
            self.values[self.place + self.mask + 1] = value;
        }
        self.place = (self.place + 1) & self.mask;
    }

    /// The values around the place of a frame, each times its weight: the value there is their sum.
    #[inline(always)]
    pub(crate) fn read(&self, taps: &Taps, frame: usize) -> f32x4 {
        let from = self.place.wrapping_sub(taps.wholes[frame] + 2) & self.mask;
        let values = self.values[from..].first_chunk().copied().unwrap_or_default();
        f32x4::new(values) * taps.weights[frame]
    }
}

/// The sum of four values.
#[inline(always)]
pub(crate) fn sum(values: f32x4) -> f32 {
    let [a, b, c, d] = values.to_array();
    (a + c) + (b + d)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(value: impl Fn(f64) -> f64) -> FractionalLine {
        let mut line = FractionalLine::new(100.0);
        (0..1_000).for_each(|frame| line.write(value(f64::from(frame)) as f32));
        line
    }

    fn read(line: &FractionalLine, delay_frames: f64) -> f32 {
        let mut ramp = Ramp::default();
        ramp.jump(delay_frames);
        let mut taps = Taps::NONE;
        taps.find(&ramp, 3, 6);
        sum(line.read(&taps, 5))
    }

    fn cube(value: f64) -> f64 {
        value * value * value
    }

    #[test]
    fn whole_delays_and_cubics_are_exact() {
        let numbers = line(|frame| frame);
        for delay in 2..=100 {
            assert_eq!(read(&numbers, f64::from(delay)), 1_000.0 - delay as f32);
        }
        let cubic = line(|frame| cube((frame - 960.0) / 20.0));
        for delay in [2.0, 2.3, 17.5, 66.99] {
            let expected = cube((1_000.0 - delay - 960.0) / 20.0);
            assert!((f64::from(read(&cubic, delay)) - expected).abs() < 2e-5, "{delay}");
        }
    }

    /// Gain and error (both in decibels) of a sine of a frequency, read a fraction between two
    /// frames.
    fn response_db(turns_per_frame: f64, fraction: f64) -> (f64, f64) {
        let angle = core::f64::consts::TAU * turns_per_frame;
        let (mut re, mut im) = (0.0, 0.0);
        for back in 0..12 {
            let mut line = FractionalLine::new(20.0);
            (0..12).for_each(|frame| line.write(if frame == 11 - back { 1.0 } else { 0.0 }));
            let weight = f64::from(read(&line, 5.0 + fraction));
            re += weight * libm::cos(angle * (f64::from(back) - 4.0 - fraction));
            im += weight * libm::sin(angle * (f64::from(back) - 4.0 - fraction));
        }
        let db = |amplitude: f64| 20.0 * libm::log10(amplitude.max(1e-15));
        (db(libm::hypot(re, im)), db(libm::hypot(re - 1.0, im)))
    }

    #[test]
    fn errors_are_as_documented_and_no_gain_exceeds_one() {
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
                assert!(gain_db < 1e-5, "{gain_db} dB at {bin} and {step}");
            }
        }
    }
}
