//! A delay line that is read between its frames.

use alloc::vec;
use alloc::vec::Vec;

/// What came in lately, read between its frames by Lagrange's polynomial through the four nearest values (T. I. Laakso
/// and others, "Splitting the Unit Delay", IEEE Signal Processing Magazine 13-1, 1996): exact for whole delays and for all
/// that is a cubic. At 48 kHz a sine comes back right to -103 dB at 1 kHz, -47 dB at 5 kHz and -24 dB at 10 kHz at
/// worst, half-way between two frames, where it is also softest: by 0.04 dB at 5 kHz and 0.54 dB at 10 kHz. It is nowhere
/// louder, so that a feedback below one stays below one.
#[derive(Debug, Clone)]
pub(crate) struct FractionalLine {
    /// A power of two of them, and the first [`OVERLAP`] again, so that neighbours always stand in a row.
    values: Vec<f32>,
    mask: usize,
    /// Where the next value goes.
    place: usize,
}

/// Shortest delay of a [`FractionalLine`], in frames: the polynomial stands on one later value.
pub(crate) const SHORTEST_FRAMES: f64 = 2.0;

const OVERLAP: usize = 3;

/// Where lines are read: so many frames before the next one that is written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tap {
    whole: usize,
    /// Of the value before the earlier neighbour, both neighbours, and the one after the later.
    weights: [f32; 4],
}

impl Tap {
    /// The place of a delay in frames, at least [`SHORTEST_FRAMES`].
    #[inline(always)]
    pub(crate) fn new(delay_frames: f64) -> Self {
        let whole = delay_frames as usize;
        let f = (delay_frames - whole as f64) as f32;
        let (inner, outer) = ((f - 1.0) * (f - 2.0), (f + 1.0) * f);
        let weights = [
            outer * (f - 1.0) * (1.0 / 6.0),
            outer * (2.0 - f) * 0.5,
            inner * (f + 1.0) * 0.5,
            inner * f * (-1.0 / 6.0),
        ];
        Self { whole, weights }
    }
}

impl FractionalLine {
    /// A silent line that can be read up to so many frames back.
    pub(crate) fn new(longest_frames: f64) -> Self {
        let frames = (longest_frames as usize + 4).next_power_of_two();
        Self { values: vec![0.0; frames + OVERLAP], mask: frames - 1, place: 0 }
    }

    /// Falls silent.
    pub(crate) fn clear(&mut self) {
        self.values.fill(0.0);
        self.place = 0;
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

    /// The value at a place.
    #[inline(always)]
    pub(crate) fn read(&self, tap: &Tap) -> f32 {
        let from = self.place.wrapping_sub(tap.whole + 2) & self.mask;
        let values = &self.values[from..from + 4];
        let [a, b, c, d] = tap.weights;
        (values[0] * a + values[1] * b) + (values[2] * c + values[3] * d)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(value: impl Fn(f64) -> f64) -> FractionalLine {
        let mut line = FractionalLine::new(100.0);
        (0..1_000).for_each(|frame| line.write(value(f64::from(frame)) as f32));
        line
    }

    fn cube(value: f64) -> f64 {
        value * value * value
    }

    #[test]
    fn whole_delays_and_cubics_are_exact() {
        let numbers = line(|frame| frame);
        for delay in 2..=100 {
            assert_eq!(numbers.read(&Tap::new(f64::from(delay))), 1_000.0 - delay as f32);
        }
        let cubic = line(|frame| cube((frame - 960.0) / 20.0));
        for delay in [2.0, 2.3, 17.5, 66.99] {
            let expected = cube((1_000.0 - delay - 960.0) / 20.0);
            assert!((f64::from(cubic.read(&Tap::new(delay))) - expected).abs() < 2e-5, "{delay}");
        }
    }

    /// Gain and error (both in decibels) of a sine of a frequency, read a fraction between two frames.
    fn response_db(turns_per_frame: f64, fraction: f64) -> (f64, f64) {
        let angle = core::f64::consts::TAU * turns_per_frame;
        let (mut re, mut im) = (0.0, 0.0);
        for back in 0..12 {
            let mut line = FractionalLine::new(20.0);
            (0..12).for_each(|frame| line.write(if frame == 11 - back { 1.0 } else { 0.0 }));
            let weight = f64::from(line.read(&Tap::new(5.0 + fraction)));
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
